"""What a later read of the listing says of one change: shown, stored otherwise, or absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, assert_never

from commandsync.changes import Add, Delete, Edit, Replace
from commandsync.rewriting import Rewrite, rewrites

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.alike import Habits
    from commandsync.changes import Change
    from commandsync.snapshot import Identity
    from commandsync.texts import Text


@dataclass(frozen=True, slots=True)
class Shown:
    """The listing shows the change exactly as wanted."""

    conclusive: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The listing shows the change with another text than was sent.

    Attributes:
        rewrites: Which fields differ, and how.
        unchanged: Whether it is the very text that was to be changed, so that it may as well be
            that the change does not show.
    """

    rewrites: tuple[Rewrite, ...]
    unchanged: bool = False

    @property
    def explained(self) -> bool:
        """Whether every difference is one that services are seen to make."""
        return all(rewrite.known for rewrite in self.rewrites)

    @property
    def conclusive(self) -> bool:
        """Whether reading once more is of no use."""
        return self.explained and not self.unchanged


@dataclass(frozen=True, slots=True)
class Absent:
    """The listing does not show the change.

    Attributes:
        what: What it shows instead, as the end of a sentence.
    """

    what: str
    conclusive: ClassVar[bool] = False


Evidence = Shown | Rewritten | Absent


def evidence_of(
    change: Change,
    *,
    listed: Mapping[Identity, Text],
    habits: Habits,
    record: Identity | None = None,
) -> Evidence:
    """Look for one change in a listing.

    Args:
        change: The change.
        listed: The texts of the listing by what tells its records apart.
        habits: What the service may be in the habit of, by that listing.
        record: The record that an add was found to have made; None for none.
    """
    match change:
        case Add():
            return _added(change.after, record, listed)
        case Edit():
            return _edited(change, listed.get(change.id), habits)
        case Replace():
            added, deleted = _added(change.after, record, listed), _deleted(change, listed)
            return added if isinstance(added, Absent) or isinstance(deleted, Shown) else deleted
        case Delete():
            return _deleted(change, listed)
        case _:
            assert_never(change)


def _added(wanted: Text, record: Identity | None, listed: Mapping[Identity, Text]) -> Evidence:
    stored = None if record is None else listed.get(record)
    if stored is None:
        return Absent("it is not listed")
    return Shown() if stored == wanted else Rewritten(rewrites(sent=wanted, stored=stored))


def _edited(change: Edit, stored: Text | None, habits: Habits) -> Evidence:
    if stored is None:
        return Absent("it is no longer listed")
    if stored == change.after:
        return Shown()
    unchanged = stored == change.before
    if unchanged and not habits.explain(sent=change.after, stored=stored):
        return Absent("it is listed with its old text")
    return Rewritten(rewrites(sent=change.after, stored=stored), unchanged=unchanged)


def _deleted(change: Delete | Replace, listed: Mapping[Identity, Text]) -> Shown | Absent:
    if change.id in listed:
        return Absent("the old one is still listed")
    nameless = (change.before, 0)
    return Absent("one like it is listed without an id") if nameless in listed else Shown()
