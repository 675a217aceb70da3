"""The guard against mass deletes: how much a plan may take away, and the arithmetic shown.

It is asked before the first write, and again before a saved plan is applied.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.rules import DeleteLimit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commandsync.changes import Change
    from commandsync.texts import Resource

DEFAULT_LIMIT = DeleteLimit(percent=30.0)
"""What may go when nothing was configured."""

ALWAYS_ALLOWED = 3
"""So few deletes are always allowed when nothing was configured."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a plan is refused.

    Attributes:
        message: The arithmetic.
        hint: What allows it.
    """

    message: str
    hint: str


def refusal(
    changes: Iterable[Change], *, listed: Mapping[Resource, int], limit: DeleteLimit | None
) -> Refusal | None:
    """Say why these changes must not be made; None when they may.

    A replace counts as a delete. Unless the limit is `all`, a plan that would leave nothing listed
    where something was is refused whatever the numbers.

    Args:
        changes: What would be done.
        listed: How many records each collection shows now, untouched ones included.
        limit: The configured limit; None for the default.
    """
    if limit is not None and limit.unlimited:
        return None
    done = Counter((change.action, change.resource) for change in changes)
    for resource in dict.fromkeys(resource for _, resource in done):
        deleted, replaced = done["delete", resource], done["replace", resource]
        if not deleted + replaced:
            continue
        total = listed.get(resource, 0)
        verb = "delete or replace" if replaced else "delete"
        what = f"would {verb} {deleted + replaced} of {total} listed {resource.collection}"
        found = _emptied(resource, total, total - deleted + done["add", resource]) or _over(
            what, deleted + replaced, total, limit
        )
        if found is not None:
            return found
    return None


def _over(what: str, deletes: int, total: int, limit: DeleteLimit | None) -> Refusal | None:
    if limit is None and deletes <= ALWAYS_ALLOWED:
        return None
    effective = limit or DEFAULT_LIMIT
    allow = f"if that is meant, allow it with --max-deletes {deletes}"
    if effective.count is not None:
        over = deletes > effective.count
        return Refusal(f"{what}, the limit is {effective.count}", allow) if over else None
    percent = effective.percent or 0.0
    share = 100 * deletes / max(total, 1)
    if deletes * 100 <= round(percent * total, 6):  # a limit has at most six decimals
        return None
    return Refusal(f"{what}, {_percent(share, over=percent)} is over {_percent(percent)}", allow)


def _emptied(resource: Resource, total: int, remaining: int) -> Refusal | None:
    if remaining > 0:
        return None
    return Refusal(
        f"would leave none of the {total} listed {resource.collection}",
        "if that is meant, allow it with --max-deletes all",
    )


def _percent(value: float, *, over: float | None = None) -> str:
    """Write a percentage; one that is over another with as many decimals as show that it is."""
    enough = 6 if over is None else next((n for n in range(2, 16) if round(value, n) > over), 16)
    return f"{value:.{enough}f}".rstrip("0").rstrip(".") + " %"
