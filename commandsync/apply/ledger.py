"""The ledger of one run of apply: one entry per change, what was sent, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from commandsync.api.policy import FAILURES_IN_A_ROW, may_have_happened, says_it_failed
from commandsync.apply.outcomes import Difference, Outcome, Result, Settled
from commandsync.diagnostics import Notice
from commandsync.errors import Forbidden, ListingError, StoppedError, Unauthorized
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.matching import match
from commandsync.records.rewriting import agrees
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from commandsync.api.policy import Health
    from commandsync.apply.evidence import Evidence
    from commandsync.apply.steps import Answered
    from commandsync.diagnostics import Location
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.rewriting import Rewrite
    from commandsync.records.snapshot import Identity
    from commandsync.records.texts import Text

    Listed = Mapping[Identity, Text]


_MOST_NAMED = 20


@dataclass(slots=True)
class Write:
    """One change, and what is known of it.

    Attributes:
        index: Its place in the plan.
        change: The change.
        settled: Its outcome; a later, better founded one replaces it.
        error: How its last request ended, while nobody knows whether the change happened.
        first_error: How the first try of an add ended that may be sent once more.
        sent: Whether it was or may have been written in this run.
        acknowledged: Whether the service called its last request done.
        added: Whether this is a replace whose new record is there, and whose old one is to go.
        told: The id that the answer to an add told.
        record: The record that an add is known to have made.
        stored: The text of that record in the last read.
        rewrites: Which fields are listed with another text than was sent.
    """

    index: int
    change: Change
    settled: Settled | None = None
    error: ListingError | None = None
    first_error: ListingError | None = None
    sent: bool = False
    acknowledged: bool = False
    added: bool = False
    told: str = ""
    record: Identity | None = None
    stored: Text | None = None
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, as far as that is known."""
        return self.settled.outcome if self.settled else None

    @property
    def adds(self) -> bool:
        """Whether its next or last request adds a record."""
        return isinstance(self.change, Add | Replace) and not self.added

    @property
    def done_before(self) -> bool:
        """Whether an edit or a delete was done before this run, as its own record showed."""
        settled = self.settled
        return settled is not None and settled.already and not self.adds

    @property
    def unclear_add(self) -> bool:
        """Whether an add was sent that may or may not have happened."""
        return self.adds and self.error is not None

    @property
    def was_refused(self) -> bool:
        """Whether the service answered that an unclear write failed, whatever it did."""
        return self.error is not None and says_it_failed(self.error)

    @property
    def awaits_record(self) -> bool:
        """Whether an add was sent, and its record is not known yet."""
        return self.sent and isinstance(self.change, Add | Replace) and self.record is None

    @property
    def succeeded(self) -> bool:
        """Whether what replaces a record is listed with the text that was sent."""
        if isinstance(self.change, Delete) or self.stored is None:
            return False
        texts = zip(self.stored, self.change.after, strict=True)
        return all(agrees(stored, sent=sent) for stored, sent in texts)

    @property
    def lacks_record(self) -> bool:
        """Whether this adds a record, and neither an answer nor a read says that it did."""
        return self.adds and self.outcome is not Outcome.DONE

    @property
    def half_done(self) -> str:
        """The beginning of why a replace is not done when its new record is there already."""
        return "the new one is added, but the old one is not deleted: " if self.added else ""


@dataclass(slots=True)
class Ledger:
    """What is known of one run.

    Attributes:
        plan: What is being done.
        health: How the service has been answering.
        seen: The records of each collection that some earlier read showed: none of them is new.
        nameless: How many records of each collection the first read showed without a usable id.
        writes: One for each change of the plan.
        strangers: New records that no add of this run claims, and their texts.
        copies: The texts of those among them that equal an add of this run.
        notices: What else reading showed.
        left: What is still to do by the listing as it was read after writing.
        stopped: Why nothing new is started; empty while all is well.
        stopped_hint: What to do about that; empty where running again is enough.
        interrupted: Whether it was stopped from outside.
        read_back: Whether every changed collection was read after writing.
        unread: Why the last read that told nothing did not; empty when there was none.
        as_wanted: Whether these reads show the listing as it is to be.
    """

    plan: Plan
    health: Health
    seen: dict[Resource, set[Identity]]
    nameless: dict[Resource, int]
    writes: tuple[Write, ...] = ()
    strangers: dict[Resource, dict[Identity, Text]] = field(default_factory=dict)
    copies: set[tuple[Resource, Text]] = field(default_factory=set)
    notices: list[Notice] = field(default_factory=list)
    left: tuple[Change, ...] = ()
    stopped: str = ""
    stopped_hint: str = ""
    interrupted: bool = False
    read_back: bool = True
    unread: str = ""
    as_wanted: bool = True
    _news: dict[int, Settled] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.writes = tuple(Write(n, change) for n, change in enumerate(self.plan.changes))

    def of(self, resource: Resource) -> Iterator[Write]:
        """Return the writes of one collection."""
        return (write for write in self.writes if write.change.resource is resource)

    def settle(
        self,
        write: Write,
        outcome: Outcome,
        error: ListingError | None = None,
        *,
        why: str = "",
        hint: str = "",
        already: bool = False,
    ) -> None:
        """Give a change its outcome; a later, better founded one replaces it."""
        message = why + (error.message if error else "")
        hint = hint or (error.hint if error else "")
        settled = Settled(write.change, outcome, message, hint, already=already, cause=error)
        write.error = None
        if write.settled != settled:
            write.settled = self._news[write.index] = settled

    def news(self) -> tuple[Settled, ...]:
        """Return the outcomes settled since the last call."""
        news = tuple(self._news.values())
        self._news.clear()
        return news

    def interrupt(self) -> None:
        """Start nothing new from now on: the user wants to stop."""
        self.interrupted = True
        self.stopped = self.stopped or "interrupted"

    def note(self, write: Write, answer: Answered) -> None:
        """Enter how a request ended: done, failed for certain, or unclear."""
        error = answer.error
        adds = write.adds
        write.acknowledged = error is None
        if error is None:
            write.sent = True
            if adds:
                write.told = answer.value
                self.note_added(write)
            else:
                self.settle(write, Outcome.DONE)
        elif isinstance(error, StoppedError):
            self.interrupt()  # it was never sent: it is left over, like all that follows
        elif may_have_happened(error):
            write.sent = True
            write.error = error
        else:
            self.settle(write, Outcome.FAILED, error, why=write.half_done)
        self.watch(error)

    def note_added(self, write: Write) -> None:
        """Enter that an add happened: an add is done with that, a replace half done."""
        if isinstance(write.change, Replace):
            write.added = True
            write.error = write.settled = None
            self._news.pop(write.index, None)
        else:
            self.settle(write, Outcome.DONE)

    def note_read(self, resource: Resource, listed: Listed) -> None:
        """Assign the records that no earlier read showed to the adds that made them.

        A record that equals an add is its own, else one of its name, exactly, folded or cut.
        """
        for write in self.of(resource):
            write.stored = None if write.record is None else listed.get(write.record)
        adds = [write for write in self.of(resource) if write.awaits_record]
        new = [one for one in listed if one not in self.seen[resource]]
        claims = match(
            [
                Entry(write.change.after, id=write.told)
                for write in adds
                if not isinstance(write.change, Delete)
            ],
            [Entry(listed[one], id=one if isinstance(one, str) else "") for one in new],
        )
        for a, n in (claims.pairs | claims.stuck).items():
            adds[a].record, adds[a].stored = new[n], listed[new[n]]
            if adds[a].unclear_add:
                self.note_added(adds[a])
        claimed = {write.record for write in adds}
        others = {one: listed[one] for one in new if one not in claimed}
        self.strangers.setdefault(resource, {}).update(others)
        self.seen[resource].update(new)

    def blurred(self, resource: Resource, listed: Listed) -> bool:
        """Whether a read shows records without the ids that they had before: it tells nothing."""
        before = self.nameless[resource]
        now = sum(not isinstance(one, str) for one in listed)
        has_ids = bool(self.seen[resource]) and not before
        added = sum(write.sent and not isinstance(write.change, Delete) for write in self.writes)
        return now > before + (0 if has_ids else added)

    def note_copies(self, resource: Resource, listed: Listed) -> None:
        """Name the records that equal an add of this run and are not what it made."""
        sent = {
            write.change.after
            for write in self.of(resource)
            if write.sent and isinstance(write.change, Add | Replace)
        }
        others = self.strangers.get(resource, {})
        copies = [text for one, text in listed.items() if one in others and text in sent]
        if copies:
            self.copies.update((resource, text) for text in copies)
            self.notices.append(_copies(resource, [text[0] for text in copies]))
            self.as_wanted = False

    def is_copy(self, change: Change) -> bool:
        """Whether a change would delete a copy of what this run added."""
        return isinstance(change, Delete) and (change.resource, change.before) in self.copies

    def note_new(self, notices: Sequence[Notice], *, places: Collection[Location | None]) -> None:
        """Enter what planning again warns of for the first time, not at places told of already."""
        known = {*self.plan.notices, *self.notices}
        self.notices += [
            notice
            for notice in notices
            if notice not in known and (notice.location is None or notice.location not in places)
        ]

    def note_left(self, changes: Sequence[Change]) -> None:
        """Enter what planning again would do, other than what this run is known to have left."""
        self.left = tuple(changes)
        if changes:
            shown = _named([f"{one.action} {one.resource} {one.name!r}" for one in changes])
            self.notices.append(
                Notice(
                    f"the listing is not as the manifest wants it, left to do: {shown}",
                    "somebody else changed it meanwhile, or the service did not keep what was "
                    "written: run plan, then apply again",
                )
            )

    def conclude(self, write: Write, evidence: Evidence, *, certain: bool) -> None:
        """Give a written change the outcome that reading shows.

        Args:
            write: The change.
            evidence: What the last read shows of it.
            certain: Whether there were enough reads to believe that what does not show did not
                happen.
        """
        if not evidence.missing or write.acknowledged:
            write.rewrites = evidence.rewrites
        if not evidence.missing:
            # what an unclear edit left is another text: equality alone says that it is done
            unclear_edit = isinstance(write.change, Edit) and write.error is not None
            # and a replace whose delete was not sent is not done when the old one is gone
            half = isinstance(write.change, Replace) and write.outcome is Outcome.UNKNOWN
            if not (half or write.done_before or (unclear_edit and evidence.rewrites)):
                self.settle(write, Outcome.DONE)
        elif write.outcome is Outcome.DONE:
            found = "it was done before" if write.done_before else "the service accepted it"
            why = f"{found}, but {evidence.missing}"
            if evidence.rewrites:
                self.settle(write, Outcome.UNKNOWN, why=why, hint=_AS_LISTED)
            else:
                self.settle_missing(write, why)
        elif certain and write.was_refused and not evidence.lost:
            self.settle(write, Outcome.FAILED, write.error, why=write.half_done)

    def settle_missing(
        self, write: Write, why: str, error: ListingError | None = None, *, then: str = ""
    ) -> None:
        """Settle as unknown what does not show; an add may be a new record of another name.

        Args:
            write: The change.
            why: What does not show.
            error: How its request ended.
            then: What follows from that, as the end of a sentence.
        """
        resource = write.change.resource
        others = self.strangers.get(resource) if write.awaits_record else None
        names = [repr(text[0]) for text in (others or {}).values()]
        new = f"; new and of another name: {_named(names, most=3)}" if names else ""
        hint = _IF_THAT_IS_IT if names else ""
        self.settle(write, Outcome.UNKNOWN, error, why=why + new + then, hint=hint)

    def watch(self, error: ListingError | None) -> None:
        """Start nothing new when an error says that it would be of no use."""
        if isinstance(error, Unauthorized | Forbidden):
            self.stopped_hint = self.stopped_hint or error.hint
            self.stopped = self.stopped or error.message
        elif self.health.down:
            self.stopped = self.stopped or f"{FAILURES_IN_A_ROW} requests in a row failed"

    def result(self) -> Result:
        """Close the ledger: what is unclear stays unknown, what was never sent is skipped."""
        for write in self.writes:
            if write.settled is not None:
                continue
            if write.error is not None:
                self.settle(write, Outcome.UNKNOWN, write.error)
            elif write.first_error is not None:
                self.settle(write, Outcome.FAILED, write.first_error)
            else:
                why = write.half_done + (self.stopped or "it was not tried")
                self.settle(write, Outcome.SKIPPED, why=why)
        settled = tuple(write.settled for write in self.writes if write.settled)
        differences = tuple(
            Difference(write.change, write.rewrites) for write in self.writes if write.rewrites
        )
        if self.plan.rules.announcements == "mirror":
            posted = any(write.rewrites and _is_post(write) for write in self.writes)
            self.notices += [_POSTED_AGAIN] if posted else []
        if not self.read_back and self.unread and not self.stopped:
            self.notices.append(Notice(f"the listing could not be read again: {self.unread}"))
        done = all(one.outcome is Outcome.DONE for one in settled)
        return Result(
            plan=self.plan,
            settled=settled,
            differences=differences,
            notices=tuple(self.notices),
            left=self.left,
            read_back=self.read_back,
            verified=done and self.read_back and self.as_wanted and not differences,
            touched=any(_touched(write) for write in self.writes),
            stopped=self.stopped,
            stopped_hint=self.stopped_hint,
            interrupted=self.interrupted,
        )


_AS_LISTED = "write it in the manifest as the service stores it"
_IF_THAT_IS_IT = (
    "if that is what was added, changed by the service, write it in the manifest as it is listed; "
    "otherwise the next apply adds it again"
)
_POSTED_AGAIN = Notice(
    "announcements whose text the service changes are posted again by every apply",
    "write them in the manifest as they are listed, or set sync.announcements to append",
)


def _is_post(write: Write) -> bool:
    return write.change.resource is Resource.ANNOUNCEMENT


def _named(some: Sequence[str], *, most: int = _MOST_NAMED) -> str:
    return ", ".join(some[:most]) + (" ..." if len(some) > most else "")


def _touched(write: Write) -> bool:
    return write.sent and (write.added or write.outcome in {Outcome.DONE, Outcome.UNKNOWN})


def _copies(resource: Resource, names: list[str]) -> Notice:
    shown = _named([repr(name) for name in names])
    count = f"{len(names)} {resource if len(names) == 1 else resource.collection}"
    return Notice(
        f"{count} equal to what this run added {'is' if len(names) == 1 else 'are'} listed besides "
        f"({shown}): a second run at the same time?",
        "run again: where pruning is on, what is too much is removed "
        f"(--max-deletes {len(names)} allows so many)",
    )
