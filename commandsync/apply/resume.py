"""How far a saved plan has got: what is done already, what is to do, and whether it still holds.

It looks only at the records the plan touches; others may have changed meanwhile. So an interrupted
or repeated run finishes the plan and repeats nothing. Equality alone says that something is done.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

from commandsync.errors import StalePlanError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.matching import count_alike
from commandsync.records.rewriting import folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Entry, Snapshot
    from commandsync.records.texts import Text

_MOST_NAMED = 5  # stale changes that the error names


class Progress(Enum):
    """How far one change has got."""

    PENDING = auto()
    ADDED = auto()  # a replace whose new record is listed and whose old one is still there too
    DONE = auto()


def progress_of(plan: Plan, listed: Snapshot) -> tuple[Progress, ...]:
    """Say of each change of a plan whether it is still to do.

    Args:
        plan: The plan.
        listed: The listing now, every collection of the plan's scope.

    Raises:
        StalePlanError: A record the plan touches is neither as it was nor as it is to be, or an
            add may be listed under a text that the service rewrote.
    """
    found: dict[int, Progress] = {}
    stale: list[str] = []
    for resource in plan.scope:
        changes = {n: one for n, one in enumerate(plan.changes) if one.resource is resource}
        now = _Now(listed.collections[resource], changes)
        for index, change in changes.items():
            progress = now.progress(change)
            if progress is None:
                what = f"{change.action} of {change.resource} {change.name!r}"
                stale.append(f"{what} ({now.why_stale(change)})")
            else:
                found[index] = progress
    if stale:
        shown = "; ".join(stale[:_MOST_NAMED])
        more = f"; and {len(stale) - _MOST_NAMED} more" if len(stale) > _MOST_NAMED else ""
        raise StalePlanError(
            f"the listing changed since the plan was made: {shown}{more}",
            hint="make a new plan, review it, and apply that one",
        )
    return tuple(found[index] for index in range(len(plan.changes)))


class _Now:
    """One collection as listed now, and which of its records are still to be told apart."""

    def __init__(self, entries: tuple[Entry, ...], changes: Mapping[int, Change]) -> None:
        self._by_id: Mapping[str, Text] = {entry.id: entry.text for entry in entries}
        self._nameless = {entry.text for entry in entries if not entry.writable}
        touched = {one.id for one in changes.values() if not isinstance(one, Add)}
        others = [entry.text for entry in entries if entry.id not in touched]
        adds = [one for one in changes.values() if isinstance(one, Add | Replace)]
        self._alike = count_alike({add.after for add in adds}, others)
        self._claimed: Counter[Text] = Counter()
        # More records than adds of their text: some may be other adds of the name, rewritten.
        self._surplus: Counter[str] = Counter()
        same = Counter(add.after for add in adds)
        for after, listed in {add.after: add.listed for add in adds}.items():
            more = self._alike[after][0] - listed - same[after]
            self._surplus[folded(after[0])] += max(more, 0)

    def progress(self, change: Change) -> Progress | None:
        """Return how far a change has got; None when the plan no longer fits."""
        match change:
            case Add():
                return self._added(change)
            case Edit():
                now = self._by_id.get(change.id)
                if now == change.after:
                    return Progress.DONE
                return Progress.PENDING if now == change.before else None
            case Replace():
                return self._replaced(change)
            case Delete():
                return self._deleted(change)
            case _:
                assert_never(change)

    def why_stale(self, change: Change) -> str:
        """Say what does not fit of a change that no longer fits."""
        if not isinstance(change, Add):
            now = self._by_id.get(change.id)
            if now is None:
                return "its record is no longer listed under its id"
            if now != change.before:
                return "its record was changed"
        return "one of that name is listed with another text: the service may have changed it"

    def _added(self, change: Add | Replace) -> Progress | None:
        """Tell by counting: two equal adds need two more records."""
        equal, alike = self._alike[change.after]
        if equal - self._claimed[change.after] > change.listed:
            self._claimed[change.after] += 1
            return Progress.DONE
        alike += self._surplus[folded(change.name)]
        return None if alike > change.alike else Progress.PENDING

    def _deleted(self, change: Delete | Replace) -> Progress | None:
        now = self._by_id.get(change.id)
        if now is None:  # unless it only lost its id
            return None if change.before in self._nameless else Progress.DONE
        return Progress.PENDING if now == change.before else None

    def _replaced(self, change: Replace) -> Progress | None:
        match self._added(change), self._deleted(change):
            case Progress.DONE, Progress.PENDING:
                return Progress.ADDED
            case (Progress.DONE, Progress.DONE) | (Progress.PENDING, Progress.PENDING) as both:
                return both[0]
            case _:  # stale, or the old one is gone and the new one is not there: another's doing
                return None
