"""The new records of a collection, and which adds of the run made them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from commandsync.apply.ledger import Ledger, Write
from commandsync.apply.states import FINDINGS, Finding, State
from commandsync.diagnostics import Do, Notice
from commandsync.plan.changes import Change, Delete
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry, Identity, by_identity
from commandsync.records.texts import Resource, Text, named

Listed = Mapping[Identity, Text]

_HOW = {State.UNKNOWN: "has an unknown result", State.REFUSED: "was refused"}
_RENAMED = (
    "if the service changed the name, write it in the manifest as it is listed; otherwise the next "
    "apply adds it again"
)
_CUT = (
    "the list may be cut, or show new records late: look for it on the bot's page first, because "
    "another apply adds it again"
)


@dataclass(slots=True)
class Claims:
    """The records of one collection that appear during the run."""

    ledger: Ledger
    resource: Resource
    writes: Sequence[Write]
    known: set[Identity]  # the records that some earlier read showed: none of them is new
    without_id: int  # how many of them had no usable id in the first read
    listed: Listed = field(default_factory=dict)  # the texts in the last read since the writes
    entries: tuple[Entry, ...] | None = None  # the same read's entries; None before it
    # New records that no add of this run made, and their texts.
    unclaimed: dict[Identity, Text] = field(default_factory=dict)
    copies: frozenset[Text] = frozenset()  # the texts among these that equal an add of this run

    @classmethod
    def opened(cls, ledger: Ledger, resource: Resource, entries: Sequence[Entry]) -> Self:
        """Begin with what was read before the first write."""
        listed = by_identity(entries)
        writes = tuple(w for w in ledger.writes if w.change.resource is resource)
        half = [write for write in writes if write.state is State.ADDED]
        new = [Entry(write.change.texts[0]) for write in half]
        for w, n in match(new, entries).pairs.items():
            half[w].record, half[w].stored = entries[n].id, entries[n].text
        return cls(ledger, resource, writes, set(listed), _without_id(listed))

    def assign(self, entries: tuple[Entry, ...]) -> None:
        """Assign the records that no earlier read showed to the adds that made them.

        An add made the record that equals it, else one of its name, exactly, folded or cut.
        """
        self.entries, self.listed = entries, by_identity(entries)
        for write in self.writes:
            write.stored = self.listed.get(write.record)
        adds = [write for write in self.writes if write.awaits_record]
        new = {i: text for i, text in self.listed.items() if i not in self.known}
        identities = list(new)
        for a, n in _matched(adds, new).items():
            adds[a].record, adds[a].stored = identities[n], new.pop(identities[n])
            if adds[a].adds and (adds[a].state, Finding.LISTED) in FINDINGS:
                self.ledger.settle_added(adds[a])
        self.unclaimed |= new
        self.known.update(identities)

    def lost_ids(self, listed: Listed) -> bool:
        """Whether records are listed without the ids that they had: such a read proves nothing."""
        now = _without_id(listed)
        has_ids = bool(self.known) and not self.without_id
        added = sum(write.sent and not isinstance(write.change, Delete) for write in self.writes)
        return now > self.without_id + (0 if has_ids else added)

    def hold_back_deletes(self) -> None:
        """Skip the deletes where a record that was to be added is missing."""
        missing = [write for write in self.writes if write.adds and write.state is not State.DONE]
        if not missing or self.ledger.stopped:
            return
        first = missing[0]
        unknown = first.state is State.UNKNOWN
        how = _HOW.get(first.state, "failed")
        mend = first.hint or "run again" if unknown else "correct that entry and run again"
        why = f"deletes wait for adds, and the add of {first.change.name!r} {how}"
        hint = Do.DELETE_ALONE(mend=mend)
        for write in self.writes:
            if isinstance(write.change, Delete) and write.state is State.PENDING:
                self.ledger.settle(write, State.SKIPPED, why, hint)

    def settle_missing(self, write: Write, why: str, then: str = "") -> None:
        """Settle as unknown what is not listed; an add may be a new record of another name.

        `why` is what is not listed, and `then` the consequence, as the end of the sentence.
        """
        others = self.unclaimed.values() if write.awaits_record else ()
        names = [repr(text[0]) for text in others]
        new = f"; new under another name: {named(names, most=3)}" if names else ""
        accepted = write.awaits_record and write.failure is None
        shows_none = self.entries is not None and not any(write.record for write in self.writes)
        hint = _RENAMED if names else _CUT if accepted and shows_none else ""
        self.ledger.settle(write, State.UNKNOWN, why + new + then, hint)

    def note_copies(self) -> None:
        """Report the records that equal an add of this run and that it did not make."""
        sent = {write.change.texts[0] for write in self.writes if write.sent and write.is_add}
        copies = [text for i, text in self.listed.items() if i in self.unclaimed and text in sent]
        self.copies = frozenset(copies)
        if copies:
            kind, count = self.resource, len(copies)
            what, verb = (kind, "equals") if count == 1 else (kind.collection, "equal")
            names = named([repr(text[0]) for text in copies])
            message = f"{count} more {what} {verb} what this run added ({names}): a second run may "
            message += "have added them at the same time"
            hint = "run again: with prune on, it deletes the copies, which no limit counts"
            self.ledger.notices.append(Notice(message, hint))
            self.ledger.as_wanted = False

    def note_reposts(self) -> None:
        """Report that what cannot be edited is posted again where the service changes its text."""
        plan = self.ledger.plan
        replaces = plan.target.abilities[self.resource].posts and plan.manages(self.resource)
        if replaces and any(write.rewrites for write in self.writes):
            posts = self.resource.collection
            message = f"{posts} whose text the service changes are posted again by every apply"
            hint = f"write them in the manifest as they are listed, or set sync.{posts} to append"
            self.ledger.notices.append(Notice(message, hint))

    def deletes_copy(self, change: Change) -> bool:
        """Whether a change would delete a copy of what this run added."""
        return isinstance(change, Delete) and change.before in self.copies


def _matched(adds: Sequence[Write], new: Listed) -> Mapping[int, int]:
    """Return which adds made which new records, by their places."""
    claims = match(
        [Entry(write.change.texts[0], id=write.returned_id) for write in adds],
        [Entry(text, id=i if isinstance(i, str) else "") for i, text in new.items()],
    )
    return claims.pairs | claims.unwritable


def _without_id(listed: Listed) -> int:
    """Count the records that have no usable id."""
    return sum(not isinstance(identity, str) for identity in listed)
