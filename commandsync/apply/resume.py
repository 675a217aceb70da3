"""The progress of a saved plan: what is done already, what is to do, and whether it is stale.

It reads only the records the plan touches; others may have changed meanwhile. So an interrupted
or repeated run finishes the plan and repeats nothing. Only equality proves that something is done.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from commandsync.apply.states import State
from commandsync.errors import StalePlanError
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.plan.matching import count_same_name
from commandsync.plan.plan import Plan
from commandsync.records.rewrites import folded
from commandsync.records.snapshot import Entry, Snapshot, by_identity, shown_time
from commandsync.records.texts import Text, named


def progress_of(plan: Plan, listed: Snapshot) -> tuple[State, ...]:
    """Return how far each change of a plan has got: pending, added or done.

    `listed` is the listing now, every collection of the plan's scope.

    Raises:
        StalePlanError: A record the plan touches is neither as it was nor as it is to be, an add
            may be listed under a text that the service rewrote, or it ended before it was made.
    """
    now = {
        resource: _Now(
            listed.collections[resource],
            [change for change in plan.changes if change.resource is resource],
            plan.applied,
        )
        for resource in plan.scope
    }
    states = [(change, now[change.resource].state(change)) for change in plan.changes]
    if stale := [change for change, state in states if state is None]:
        raise _stale([(change, now[change.resource]) for change in stale])
    return tuple(state for _, state in states if state is not None)


class _Now:
    """One collection as listed now, and how many of its records the adds of the plan claim."""

    def __init__(
        self, entries: Sequence[Entry], changes: Sequence[Change], applied: datetime | None
    ) -> None:
        self._applied = applied
        self._listed = by_identity(entries)
        touched = {change.id for change in changes if not isinstance(change, Add)}
        others = [entry.text for entry in entries if entry.id not in touched]
        adds = [change for change in changes if isinstance(change, Add | Replace)]
        same = Counter(add.after for add in adds)
        self._counts = count_same_name(same, others)
        self._claimed: Counter[Text] = Counter()
        # More records than adds of their text: some may be other adds of the name, rewritten.
        self._surplus: Counter[str] = Counter()
        for after, listed in {add.after: add.listed for add in adds}.items():
            more = self._counts[after][0] - listed - same[after]
            self._surplus[folded(after[0])] += max(more, 0)

    def state(self, change: Change) -> State | None:
        """Return how far a change has got; None when the plan no longer fits."""
        match change:
            case Add():
                return self._added(change)
            case Edit():
                now = self._listed.get(change.id)
                if now == change.after:
                    return State.DONE
                return State.PENDING if now == change.before else None
            case Replace():
                return self._replaced(change)
            case Delete():
                return self._deleted(change)
            case _:
                assert_never(change)

    def why_stale(self, change: Change) -> str:
        """Return the reason why a change no longer fits."""
        if until := self.end(change):
            return f"it ended at {shown_time(until)}"
        if not isinstance(change, Add):
            now = self._listed.get(change.id)
            if now is None:
                return "its record is no longer listed under its id"
            if now != change.before:
                return "its record was changed"
        return "one of that name is listed with another text: the service may have changed it"

    def _added(self, change: Add | Replace) -> State | None:
        """Decide by counting: two equal adds need two more records."""
        equal, same_name = self._counts[change.after]
        if equal - self._claimed[change.after] > change.listed:
            self._claimed[change.after] += 1
            return State.DONE
        same_name += self._surplus[folded(change.name)]
        is_stale = same_name > change.same_name or self.end(change) is not None
        return None if is_stale else State.PENDING

    def end(self, change: Change) -> datetime | None:
        """Return until when the new record of a change was to be listed, if that has passed."""
        until = None if isinstance(change, Edit | Delete) else change.until
        applied = self._applied
        return until if applied and until and until <= applied else None

    def _deleted(self, change: Delete | Replace) -> State | None:
        now = self._listed.get(change.id)
        if now is None:  # unless it only lost its id
            return None if (change.before, 0) in self._listed else State.DONE
        return State.PENDING if now == change.before else None

    def _replaced(self, change: Replace) -> State | None:
        added, deleted = self._added(change), self._deleted(change)
        if added is State.DONE and deleted is State.PENDING:
            return State.ADDED
        # else another writer deleted the old one, or what is listed fits neither half
        return added if added is deleted else None


def _stale(changes: Sequence[tuple[Change, _Now]]) -> StalePlanError:
    """Return the error for changes that no longer fit their collections."""
    late = all(now.end(change) for change, now in changes)
    names = [
        f"{change.action} of {change.resource} {change.name!r} ({now.why_stale(change)})"
        for change, now in changes
    ]
    why = "a scheduled time has passed" if late else "the listing changed"
    return StalePlanError(
        f"{why} since the plan was made: {named(names, most=5)}",
        hint="make a new plan, review it, and apply that one",
    )
