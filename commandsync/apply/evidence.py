"""What a later read of the listing says of one change, from the change's own record alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.records.rewriting import rewrites

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.plan.changes import Change
    from commandsync.records.rewriting import Rewrite
    from commandsync.records.snapshot import Identity
    from commandsync.records.texts import Text


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a read shows of a change that was sent.

    Attributes:
        missing: What the read shows instead of the change, as the end of a sentence; empty when it
            shows the change.
        rewrites: Which fields differ from what was sent, and how.
        lost: Whether the record that would tell is itself not listed.
    """

    missing: str = ""
    rewrites: tuple[Rewrite, ...] = ()
    lost: bool = False

    @property
    def conclusive(self) -> bool:
        """Whether reading once more is of no use."""
        return not self.missing and all(rewrite.known for rewrite in self.rewrites)


def evidence_of(
    change: Change, *, listed: Mapping[Identity, Text], record: Identity | None = None
) -> Evidence:
    """Look for one change in a listing.

    Args:
        change: The change.
        listed: The texts of the listing by what tells its records apart.
        record: The record that an add was found to have made; None for none.
    """
    match change:
        case Add():
            return _added(change.after, record, listed)
        case Edit():
            return _edited(change, listed.get(change.id))
        case Replace():
            added = _added(change.after, record, listed)
            return added if added.missing else Evidence(_left(change, listed), added.rewrites)
        case Delete():
            return Evidence(_left(change, listed))
        case _:
            assert_never(change)


def _added(wanted: Text, record: Identity | None, listed: Mapping[Identity, Text]) -> Evidence:
    stored = None if record is None else listed.get(record)
    if stored is None:
        return Evidence("it is not listed")
    return Evidence(rewrites=rewrites(sent=wanted, stored=stored))


def _edited(change: Edit, stored: Text | None) -> Evidence:
    if stored is None:
        return Evidence("it is no longer listed", lost=True)
    found = rewrites(sent=change.after, stored=stored)
    if stored != change.before:
        return Evidence(rewrites=found)
    how = found if all(rewrite.known for rewrite in found) else ()
    return Evidence("it is listed with its old text", how)


def _left(change: Delete | Replace, listed: Mapping[Identity, Text]) -> str:
    if change.id in listed:
        return "the old one is still listed"
    nameless = (change.before, 0)
    return "one like it is listed without an id" if nameless in listed else ""
