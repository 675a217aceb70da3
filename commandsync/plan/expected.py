"""The listing as a plan leaves it: what is listed, and the plan's changes in it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
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
        resource: (
            *_kept(entries, {c.id: c for c in _of(plan, resource) if not isinstance(c, Add)}),
            *(
                ExpectedRecord(change.after, None, change)
                for change in _of(plan, resource)
                if isinstance(change, Add | Replace)
            ),
        )
        for resource, entries in listed.collections.items()
    }


def _of(plan: Plan, resource: Resource) -> Iterator[Change]:
    return (change for change in plan.changes if change.resource is resource)


def _kept(
    entries: Iterable[Entry], changes: Mapping[str, Edit | Replace | Delete]
) -> Iterator[ExpectedRecord]:
    for position, entry in enumerate(entries):
        change = changes.get(entry.id)
        if change is None:
            yield ExpectedRecord(entry.text, position, None)
        elif isinstance(change, Edit):
            yield ExpectedRecord(change.after, position, change)
