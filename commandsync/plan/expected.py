"""The listing as a plan leaves it: what is listed, and the plan's changes in it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from commandsync.plan.changes import Add, Change, Edit, Replace
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Resource, Text


class ExpectedRecord(NamedTuple):
    """A record as it is listed once a plan is applied."""

    text: Text
    position: int | None  # its index in its collection as listed before; None if the plan adds it
    change: Add | Edit | Replace | None  # how the plan changes it; None if it stays as it is


def expected_listing(plan: Plan, listed: Snapshot) -> dict[Resource, tuple[ExpectedRecord, ...]]:
    """Return the collections of a listing as they are once a plan is applied.

    An edited record keeps its place, and what is added follows in the order of the manifest: also
    the new text of an announcement that is replaced. What the plan does not manage stays.
    """
    return {
        resource: tuple(_expected(entries, [c for c in plan.changes if c.resource is resource]))
        for resource, entries in listed.collections.items()
    }


def _expected(entries: Iterable[Entry], changes: Sequence[Change]) -> Iterator[ExpectedRecord]:
    changed = {change.id: change for change in changes if not isinstance(change, Add)}
    for position, entry in enumerate(entries):
        change = changed.get(entry.id)
        if change is None:
            yield ExpectedRecord(entry.text, position, None)
        elif isinstance(change, Edit):
            yield ExpectedRecord(change.after, position, change)
    for new in changes:
        if isinstance(new, Add | Replace):
            yield ExpectedRecord(new.after, None, new)
