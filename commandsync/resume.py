"""How far a saved plan has got: what is done already, what is to do, and whether it still holds.

It looks only at the records the plan touches; others may have changed meanwhile. So an interrupted
or repeated run finishes the plan and repeats nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, assert_never

from commandsync.alike import Alike, Habits
from commandsync.changes import Add, Delete, Edit, Replace
from commandsync.errors import StalePlanError
from commandsync.rewriting import made_of, rewrites

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.changes import Change
    from commandsync.plan import Plan
    from commandsync.rewriting import Rewrite
    from commandsync.snapshot import Entry, Snapshot
    from commandsync.texts import Resource, Text


class Progress(Enum):
    """How far one change has got."""

    PENDING = auto()
    ADDED = auto()  # a replace whose new record is listed and whose old one is still there too
    DONE = auto()


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one change has got, and how the listing shows it.

    Attributes:
        progress: How far.
        rewrites: Where the service stored what is done otherwise than it was written.
    """

    progress: Progress
    rewrites: tuple[Rewrite, ...] = ()


_PENDING, _DONE = Standing(Progress.PENDING), Standing(Progress.DONE)


def progress_of(plan: Plan, listed: Snapshot) -> tuple[Progress, ...]:
    """Say of each change of a plan whether it is still to do; arguments and errors as below."""
    return tuple(one.progress for one in standings_of(plan, listed))


def standings_of(plan: Plan, listed: Snapshot) -> tuple[Standing, ...]:
    """Say of each change of a plan whether it is still to do, and if not, how it is listed.

    What a service that rewrites texts has made of a change counts as that change: sent again it
    would only be stored so again.

    Args:
        plan: The plan.
        listed: The listing now, every collection of the plan's scope.

    Raises:
        StalePlanError: A record the plan touches is neither as it was nor as it is to be.
    """
    touched = {(c.resource, c.id) for c in plan.changes if not isinstance(c, Add)}
    state = {
        resource: _Now(
            listed.collections[resource], touched={one for r, one in touched if r is resource}
        )
        for resource in plan.scope
    }
    stale: list[str] = []
    standings = []
    added = _added(plan, state)
    for index, change in enumerate(plan.changes):
        found = state[change.resource].standing(change, added.get(index, _PENDING))
        if found is None:
            stale.append(f"{change.action} of {change.resource} {change.name!r}")
        standings.append(found or _DONE)
    if stale:
        shown = "; ".join(stale[:5]) + (f"; and {len(stale) - 5} more" if len(stale) > 5 else "")  # noqa: PLR2004
        raise StalePlanError(
            f"the listing changed since the plan was made: {shown}",
            hint="make a new plan, look at it, and apply that one",
        )
    return tuple(standings)


def _added(plan: Plan, state: Mapping[Resource, _Now]) -> dict[int, Standing]:
    """Find the adds that are listed already, each record for one of them.

    Equal records go first: only what no add equals may be the rewritten text of another.
    """
    adds = {n: one for n, one in enumerate(plan.changes) if isinstance(one, Add | Replace)}
    found: dict[int, Standing] = {}
    for index, add in adds.items():
        rest = state[add.resource].others
        if rest.equal(add.after) > add.listed:
            rest.take(add.after)  # two equal adds need two more records
            found[index] = _DONE
    for index, add in adds.items():
        rest = state[add.resource].others
        if index not in found and rest.rewritten(add.after) > add.rewritten:
            stored = rest.take_rewritten(add.after)
            found[index] = Standing(Progress.DONE, rewrites(sent=add.after, stored=stored))
    return found


class _Now:
    """One collection as listed now."""

    def __init__(self, entries: tuple[Entry, ...], *, touched: set[str]) -> None:
        self._by_id: Mapping[str, Text] = {entry.id: entry.text for entry in entries}
        self._nameless = {entry.text for entry in entries if not entry.writable}
        self._habits = Habits([entry.text for entry in entries])
        # what the plan itself made equal to an add, or made unequal, says nothing about that add
        self.others = Alike(Counter(entry.text for entry in entries if entry.id not in touched))

    def standing(self, change: Change, added: Standing) -> Standing | None:
        """Return how far a change has got; None when the plan no longer fits."""
        match change:
            case Add():
                return added
            case Edit():
                return self._edited(change)
            case Replace():
                return self._replaced(change, added)
            case Delete():
                return self._deleted(change)
            case _:
                assert_never(change)

    def _edited(self, change: Edit) -> Standing | None:
        now = self._by_id.get(change.id)
        if now == change.before:
            return _PENDING
        if now is None or not made_of(now, sent=change.after):
            return None
        return Standing(Progress.DONE, rewrites(sent=change.after, stored=now))

    def _deleted(self, change: Delete | Replace) -> Standing | None:
        now = self._by_id.get(change.id)
        if now is None:  # unless it only lost its id
            return None if change.before in self._nameless else _DONE
        return _PENDING if now == change.before else None

    def _replaced(self, change: Replace, added: Standing) -> Standing | None:
        deleted = self._deleted(change)
        match added.progress, deleted and deleted.progress:
            case _, None:
                return None
            case Progress.DONE, Progress.PENDING:
                return Standing(Progress.ADDED)
            case Progress.DONE, Progress.DONE:
                return added
            case _, Progress.DONE:
                return None  # the old one is gone and the new one is not there: another's doing
            case _:
                found = self._habits.explain(sent=change.after, stored=change.before)
                return Standing(Progress.DONE, found) if found else _PENDING
