"""The listing as a plan leaves it: what is listed, and the plan's changes in it."""

from typing import NamedTuple

from commandsync.plan.changes import Add, Edit, Replace
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Snapshot
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
    expected = {}
    for resource, entries in listed.collections.items():
        changes = [change for change in plan.changes if change.resource is resource]
        changed = {change.id: change for change in changes if not isinstance(change, Add)}
        kept = ((n, entry, changed.get(entry.id)) for n, entry in enumerate(entries))
        expected[resource] = (
            *(
                ExpectedRecord(change.after if change else entry.text, n, change)
                for n, entry, change in kept
                if change is None or isinstance(change, Edit)
            ),
            *(
                ExpectedRecord(change.after, None, change)
                for change in changes
                if isinstance(change, Add | Replace)
            ),
        )
    return expected
