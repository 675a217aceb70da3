"""The guard against mass deletes: how much a plan may take away, and the arithmetic shown.

It is asked before the first write, and again before a saved plan is applied.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.plan.rules import LIMIT_DECIMALS, DeleteLimit, shortest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commandsync.plan.changes import Change
    from commandsync.plan.rules import SyncRules
    from commandsync.records.snapshot import Snapshot
    from commandsync.records.texts import Resource

DEFAULT_LIMIT = DeleteLimit(percent=30.0)
"""What may go when nothing was configured."""

ALWAYS_ALLOWED = 3
"""So few deletes are always allowed when nothing was configured, over the whole listing."""

_UNIGNORED = " that are not ignored"
_UNENDED = " whose until has not passed"
_END = "end"


def refusal(
    changes: Iterable[Change],
    *,
    listed: Mapping[Resource, int],
    rules: SyncRules,
    saved: bool = False,
) -> Notice | None:
    """Return why these changes are refused; None when they are not.

    A replace counts as a delete. A number limits the whole listing, a percentage each collection.
    Unless the limit is `all`, deleting everything that is listed is refused whatever is added.
    A record whose `until` has passed does not count, neither as deleted nor as listed: the manifest
    asks for this very delete, which may be of the only record.

    Args:
        changes: What would be done.
        listed: How many records each collection shows now, as `countable` counts them.
        rules: The limits.
        saved: Whether they are those of a saved plan.
    """
    limit = rules.max_deletes
    if limit is not None and limit.unlimited:
        return None
    done = Counter((_action(change), change.resource) for change in changes)
    losses = [
        _Loss(
            what=f"listed {resource.collection}"
            + _UNIGNORED * bool(rules.ignore)
            + _UNENDED * bool(done[_END, resource]),
            deleted=done["delete", resource],
            replaced=done["replace", resource],
            of=listed.get(resource, 0) - done[_END, resource],
        )
        for resource in dict.fromkeys(
            resource for action, resource in done if action in {"delete", "replace"}
        )
    ]
    allow = f"if that is meant, {'make a new plan' if saved else 'allow it'} with --max-deletes"
    return _emptied(losses, allow) or _over(losses, limit, allow)


def countable(listed: Snapshot, scope: Iterable[Resource], rules: SyncRules) -> dict[Resource, int]:
    """Count the listed records of each collection that the guard's arithmetic is about.

    Ignored ones are never deleted, so they do not make a delete a smaller part of what is listed.
    """
    return {
        resource: sum(not rules.ignores(entry.name) for entry in listed.collections[resource])
        for resource in scope
    }


def _action(change: Change) -> str:
    """Return the action of a change, or that it deletes what has ended."""
    return _END if change.ends_record else change.action


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loss:
    """What changes take away from one collection."""

    what: str
    deleted: int
    replaced: int
    of: int

    @property
    def count(self) -> int:
        return self.deleted + self.replaced


def _emptied(losses: Sequence[_Loss], allow: str) -> Notice | None:
    for loss in losses:
        if loss.deleted and loss.deleted >= loss.of:
            return Notice(f"{_would(loss)}, which keeps none of them", f"{allow} all")
    return None


def _over(losses: Sequence[_Loss], limit: DeleteLimit | None, allow: str) -> Notice | None:
    total = sum(loss.count for loss in losses)
    if limit is None and total <= ALWAYS_ALLOWED:
        return None
    limit = limit or DEFAULT_LIMIT
    allow = f"{allow} {total}"
    if limit.percent is None:
        over = total > (limit.count or 0)
        return Notice(f"{_would(*losses)}, the limit is {limit.count}", allow) if over else None
    for loss in losses:
        if loss.count * 100 > round(limit.percent * loss.of, LIMIT_DECIMALS):
            share = _percent(100 * loss.count / max(loss.of, 1), over=limit.percent)
            return Notice(f"{_would(loss)}, {share} is over {_percent(limit.percent)}", allow)
    return None


def _would(*losses: _Loss) -> str:
    verb = "delete or replace" if any(loss.replaced for loss in losses) else "delete"
    parts = [f"{loss.count} of {loss.of} {loss.what}" for loss in losses]
    return f"would {verb} {' and '.join(parts)}"


def _percent(value: float, *, over: float | None = None) -> str:
    """Write a percentage; one that is over another with as many decimals as show that it is."""
    if over is None:
        return shortest(value, LIMIT_DECIMALS) + " %"
    enough = next((n for n in range(2, 16) if round(value, n) > over), 16)
    return shortest(value, enough) + " %"
