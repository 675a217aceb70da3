"""The guard against mass deletes: how much a plan may take away, and the arithmetic shown.

It is asked before the first write, and again before a saved plan is applied.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Change, Delete
from commandsync.plan.rules import LIMIT_DECIMALS, DeleteLimit, SyncRules, shortest
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource, Text

DEFAULT_LIMIT = DeleteLimit(percent=30.0)  # what may go when nothing was configured
ALWAYS_ALLOWED = 3  # so few deletes of the whole listing are always allowed then
_UNIGNORED = " that are not ignored"
_UNENDED = " that have not ended"
_UNCOPIED = " (exact copies do not count)"
_END, _COPY = "end", "copy"


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
    asks for this very delete, which may be of the only record. Nor does an exact copy, with which
    nothing is lost.

    `listed` is how many records each collection shows now, as `countable` counts them; `saved`
    means that the changes are those of a saved plan.
    """
    limit = rules.max_deletes
    if limit is not None and limit.unlimited:
        return None
    done = Counter(
        (_END if change.ends_record else _COPY if change.exempt else change.action, change.resource)
        for change in changes
    )
    losses = [
        _Loss(
            what=f"listed {resource.collection}"
            + _UNIGNORED * bool(rules.ignore)
            + _UNENDED * bool(done[_END, resource])
            + _UNCOPIED * bool(done[_COPY, resource]),
            deleted=done["delete", resource],
            replaced=done["replace", resource],
            of=listed.get(resource, 0) - done[_END, resource],
        )
        for resource in dict.fromkeys(
            resource for action, resource in done if action in {"delete", "replace"}
        )
    ]
    allow = Do.ALLOW_DELETES_OF_NEW_PLAN if saved else Do.ALLOW_DELETES
    return _emptied(losses, allow) or _over(losses, limit, allow)


def countable(listed: Snapshot, scope: Iterable[Resource], rules: SyncRules) -> dict[Resource, int]:
    """Count the listed records of each collection that the guard's arithmetic is about.

    Ignored ones are never deleted, so they do not make a delete a smaller part of what is listed.
    Of records that are equal, those with uses count, else one.
    """
    counts = {}
    for resource in scope:
        live = [entry for entry in listed.collections[resource] if not rules.ignores(entry.name)]
        used = [entry.text for entry in live if entry.uses]
        counts[resource] = len(used) + len({entry.text for entry in live}.difference(used))
    return counts


def with_copies(changes: Sequence[Change], listed: Snapshot) -> tuple[Change, ...]:
    """Return changes with the deletes of exact copies marked, by a listing of their collections."""
    going = {
        (change.resource, change.id): change
        for change in changes
        if isinstance(change, Delete) and not change.ends_record
    }
    if not going:
        return tuple(changes)
    equals = _texts_beside(going, listed)
    marked: dict[int, Change] = {}
    for change in sorted(going.values(), key=lambda change: -(change.uses or 0)):
        text = (change.resource, change.before)
        marked[id(change)] = replace(change, exact_copy=text in equals and not change.uses)
        equals.add(text)
    return tuple(marked.get(id(change), change) for change in changes)


def _texts_beside(
    going: Container[tuple[Resource, str]], listed: Snapshot
) -> set[tuple[Resource, Text]]:
    return {
        (resource, entry.text)
        for resource, entries in listed.collections.items()
        for entry in entries
        if (resource, entry.id) not in going
    }


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


def _emptied(losses: Sequence[_Loss], allow: Do) -> Notice | None:
    for loss in losses:
        if loss.deleted and loss.deleted >= loss.of:
            return Notice(f"{_would(loss)}, which keeps none of them", allow(limit="all"))
    return None


def _over(losses: Sequence[_Loss], limit: DeleteLimit | None, allow: Do) -> Notice | None:
    total = sum(loss.count for loss in losses)
    if limit is None and total <= ALWAYS_ALLOWED:
        return None
    limit = limit or DEFAULT_LIMIT
    hint = allow(limit=total)
    if limit.percent is None:
        over = total > (limit.count or 0)
        return Notice(f"{_would(*losses)}; the limit is {limit.count}", hint) if over else None
    for loss in losses:
        if loss.count * 100 > round(limit.percent * loss.of, LIMIT_DECIMALS):
            share = _percent(100 * loss.count / max(loss.of, 1), over=limit.percent)
            return Notice(f"{_would(loss)} ({share}); the limit is {_percent(limit.percent)}", hint)
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
