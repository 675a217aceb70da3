"""The ledger of one run: each write with its states, the records that it made, and their evidence.

`Write` and `Ledger` hold the states, by the answers. `Claims` assigns the records of a collection
that no earlier read showed to the adds of the run. `conclude` compares each change that was sent
with the last read, and gives it its outcome.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, assert_never

from commandsync.api.operations import Overwritten
from commandsync.api.policy import FAILURES_IN_A_ROW, LOOK, Doubt, Failure, Health
from commandsync.apply.outcomes import (
    AT_THE_END,
    FINDINGS,
    SENT,
    TRANSITIONS,
    Answered,
    Finding,
    Outcome,
    Result,
    Settled,
    State,
)
from commandsync.diagnostics import Do, Hint, Notice
from commandsync.errors import Forbidden, ListingError, StoppedError, TransportError, Unauthorized
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace, field_changes
from commandsync.plan.matching import match
from commandsync.plan.plan import RecordPlan
from commandsync.records.rewrites import Rewrite, name_key, rewrites, text_agrees
from commandsync.records.snapshot import Entry, Identity, by_identity
from commandsync.records.texts import Resource, Text, named, object_of

Listed = Mapping[Identity, Text]

_HOW = {
    State.UNKNOWN: "has an unknown result",
    State.REFUSED: "was refused",
    State.SKIPPED: "was not sent",
}
_RENAMED = (
    "if the service changed the name, write it in the manifest as it is listed; otherwise the next "
    "apply adds it again"
)
_CUT = (
    "the list may be cut, or show new records late: look for it on the bot's page first, because "
    "another apply adds it again"
)
_AS_STORED = "write it as the service stores it"


@dataclass(slots=True)
class Write:
    """One change, the requests that were sent for it, and their result."""

    index: int  # its place in the plan
    change: Change
    states: list[State]  # the states that it has been in; the last one is the present one
    failure: Failure | None = None  # how its last request failed; None after a success
    why: str = ""  # the beginning of the reason why it is not done
    hint: str | Hint = ""  # the advice; empty where the hint of the error is enough
    returned_id: str = ""  # the id that the answer to an add contained
    record: Identity = ""  # the listed record that an add made; empty while it is not known
    stored: Text | None = None  # the text of that record in the last read
    rewrites: tuple[Rewrite, ...] = ()  # which fields are listed with another text than was sent

    @property
    def state(self) -> State:
        """Its present state."""
        return self.states[-1]

    def may_become(self, state: State) -> bool:
        """Whether a state may follow the present one."""
        return self.change.action in TRANSITIONS.get((self.state, state), ())

    def become(self, state: State) -> None:
        """Enter the next state; raises `AssertionError` if `TRANSITIONS` does not allow it."""
        if not self.may_become(state):
            raise AssertionError(f"{self.change.action}: {state} after {self.state}")
        self.states.append(state)
        if state in {State.ADDED, State.DONE}:
            self.failure = None

    @property
    def settled(self) -> Settled:
        """Its outcome; only for a state that is one."""
        error = self.failure.error if self.failure else None
        unclear = self.failure and self.failure.doubt
        return Settled(
            self.change,
            Outcome(self.state),
            ": ".join(filter(None, (self.why, error.message if error else ""))),
            self.hint or (LOOK if unclear and self.adds else error.hint if error else ""),
            already=self.already,
            rewrites=self.rewrites,
            cause=error,
        )

    @property
    def already(self) -> bool:
        """Whether the first read showed it done."""
        return self.states == [State.DONE]

    @property
    def is_add(self) -> bool:
        """Whether it adds a record, alone or in place of another."""
        return isinstance(self.change, Add | Replace)

    @property
    def adds(self) -> bool:
        """Whether its next or last request adds a record."""
        return self.is_add and State.ADDED not in self.states

    @property
    def sent(self) -> bool:
        """Whether it was or may have been written in this run."""
        return not SENT.isdisjoint(self.states[1:])

    @property
    def touched(self) -> bool:
        """Whether it changed, or may have changed, the listing in this run."""
        possible = State.ADDED in self.states[1:] or self.state in {State.DONE, State.UNKNOWN}
        return self.sent and possible

    @property
    def awaits_record(self) -> bool:
        """Whether an add was sent, and its record is not known yet."""
        return self.sent and self.is_add and not self.record

    @property
    def succeeded(self) -> bool:
        """Whether the new record of a replace is listed with the text that was sent."""
        return self.stored is not None and text_agrees(self.stored, sent=self.change.texts[0])

    @property
    def half_done(self) -> str:
        """The beginning of the reason where the new record of a replace exists already."""
        added = State.ADDED in self.states
        return "the new one is added, but the old one is not deleted" if added else ""


@dataclass(slots=True)
class Ledger:
    """The writes of one run, and why it starts no more of them.

    `Result` explains the fields without a comment.
    """

    plan: RecordPlan
    health: Health  # how the service has been answering
    writes: tuple[Write, ...]  # one for each change of the plan
    notices: list[Notice] = field(default_factory=list)
    remaining: tuple[Change, ...] = ()
    stopped: str = ""
    stopped_hint: str | Hint = ""
    interrupted: bool = False
    read_back: bool = True
    unread: str = ""  # why the last failed read failed; empty when none did
    as_wanted: bool = True  # whether these reads show the listing as it is to be
    _news: dict[int, Write] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._news.update((write.index, write) for write in self.in_state(State.DONE))

    def in_state(self, *states: State) -> Iterator[Write]:
        """Return the writes in one of these states."""
        return (write for write in self.writes if write.state in states)

    @property
    def sent(self) -> bool:
        """Whether anything was or may have been written."""
        return any(write.sent for write in self.writes)

    def settle(self, write: Write, state: State, why: str = "", hint: str | Hint = "") -> None:
        """Give a change its outcome; a later, better founded one replaces it."""
        write.become(state)
        write.why, write.hint = why, hint
        self._news[write.index] = write

    def settle_added(self, write: Write) -> None:
        """Enter that the record of an add exists: an add is done with that, a replace half done."""
        if isinstance(write.change, Replace):
            write.become(State.ADDED)
        else:
            self.settle(write, State.DONE)

    def news(self) -> tuple[Settled, ...]:
        """Return the outcomes settled since the last call."""
        news = tuple(write.settled for write in self._news.values())
        self._news.clear()
        return news

    def interrupt(self) -> None:
        """Start nothing new from now on: the user stops the run."""
        self.interrupted = True
        self.stopped = self.stopped or "interrupted"

    def note(self, write: Write, answer: Answered) -> None:
        """Enter how a request ended: done, never sent, refused, or with an unknown result."""
        failure, error = answer.failure, answer.error
        if isinstance(error, StoppedError):
            self.interrupt()  # it was never sent: it is left over, like all that follows
            return
        if failure is None and write.adds:
            write.returned_id = answer.value
            if isinstance(answer.value, Overwritten):
                added = f"{write.change.resource} {write.change.name!r}"
                message = f"{added} was listed meanwhile: the add has overwritten it"
                hint = (
                    "something else writes there, too, such as the bot at its start: only one of "
                )
                hint += "them should"
                self.notices.append(Notice(message, hint, write.change.location))
            self.settle_added(write)
        elif failure is None:
            self.settle(write, State.DONE)
        else:
            write.failure = failure
            if failure.doubt:
                write.become(State.UNCLEAR)
            elif isinstance(error, TransportError):  # no connection was made
                self.settle(write, State.FAILED, write.half_done)
            else:
                write.become(State.REFUSED)
        self.watch(error)

    def watch(self, error: ListingError | None) -> None:
        """Start nothing new when an error makes further requests useless."""
        if isinstance(error, Unauthorized | Forbidden):
            self.stopped_hint = self.stopped_hint or error.hint
            self.stopped = self.stopped or error.message
        elif self.health.down:
            self.stopped = self.stopped or f"{FAILURES_IN_A_ROW} requests in a row failed"

    def result(self) -> Result:
        """Close the ledger: every write gets an outcome."""
        for write in self.in_state(*AT_THE_END):
            end = AT_THE_END[write.state]
            why = ": ".join(filter(None, (write.half_done, self.stopped)))
            self.settle(write, end, why if end is State.SKIPPED else "")
        if not (self.read_back or self.stopped):
            self.notices.append(Notice(f"the listing could not be read again: {self.unread}"))
        shown = all(write.state is State.DONE and not write.rewrites for write in self.writes)
        return Result(
            plan=self.plan,
            settled=tuple(write.settled for write in self.writes),
            notices=tuple(self.notices),
            remaining=self.remaining,
            read_back=self.read_back,
            verified=shown and self.read_back and self.as_wanted,
            touched=any(write.touched for write in self.writes),
            stopped=self.stopped,
            stopped_hint=self.stopped_hint,
            interrupted=self.interrupted,
        )


@dataclass(slots=True)
class Claims:
    """The records of one collection that appear during the run."""

    ledger: Ledger
    resource: Resource
    writes: Sequence[Write]
    known: set[Identity]  # the records that some earlier read showed: none of them is new
    before: Mapping[str, Entry]  # the records with usable ids in the first read, by their ids
    without_id: int  # how many of them had no usable id in the first read
    listed: Listed = field(default_factory=dict)  # the texts in the last read since the writes
    entries: tuple[Entry, ...] | None = None  # the same read's entries; None before it
    # New records that no add of this run made, and their texts.
    unclaimed: dict[Identity, Text] = field(default_factory=dict)
    copies: frozenset[Text] = frozenset()  # the texts among these that equal an add of this run

    @classmethod
    def opened(cls, ledger: Ledger, resource: Resource, entries: Sequence[Entry]) -> Self:
        """Begin with the records as read before the first write."""
        listed = by_identity(entries)
        writes = tuple(w for w in ledger.writes if w.change.resource is resource)
        half = [write for write in writes if write.state is State.ADDED]
        new = [Entry(write.change.texts[0]) for write in half]
        for w, n in match(new, entries, exact=resource.exact).pairs.items():
            half[w].record, half[w].stored = entries[n].id, entries[n].text
        before = {entry.id: entry for entry in entries if entry.writable}
        return cls(ledger, resource, writes, set(listed), before, _without_id(listed))

    def frees(self, write: Write) -> bool:
        """Whether no other record has the name that a write gives to its record.

        Only an exact kind can have no two records of a name.
        """
        if not self.resource.exact:
            return True
        key, own = name_key(write.change.texts[0]), getattr(write.change, "id", None)
        holders = {id_ for id_, entry in self.before.items() if name_key(entry.text) == key}
        done = (each.change for each in self.writes if each.state is State.DONE)
        freed = {
            change.id
            for change in done
            if isinstance(change, Delete)
            or (isinstance(change, Edit) and name_key(change.after) != key)
        }
        return holders - {own} <= freed

    def assign(self, entries: tuple[Entry, ...]) -> None:
        """Assign the records that no earlier read showed to the adds that made them.

        An add made the record that equals it, else a record of its name, exactly, folded or cut; in
        an exact kind it made the record of its type and name.
        """
        self.entries, self.listed = entries, by_identity(entries)
        for write in self.writes:
            write.stored = self.listed.get(write.record)
        adds = [write for write in self.writes if write.awaits_record]
        new = {i: text for i, text in self.listed.items() if i not in self.known}
        identities = list(new)
        made = match(
            [Entry(write.change.texts[0], id=write.returned_id) for write in adds],
            [Entry(text, id=i if isinstance(i, str) else "") for i, text in new.items()],
            exact=self.resource.exact,
        )
        for a, n in (made.pairs | made.unwritable).items():
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
        again = first.state in {State.UNKNOWN, State.SKIPPED}
        how = _HOW.get(first.state, "failed")
        mend = first.hint or "run again" if again else "correct that entry and run again"
        why = f"deletes wait for adds, and the add of {first.change.name!r} {how}"
        hint = Do.DELETE_ALONE(mend=mend)
        for write in self.writes:
            if isinstance(write.change, Delete) and write.state is State.PENDING:
                self.ledger.settle(write, State.SKIPPED, why, hint)

    def settle_missing(self, write: Write, why: str, then: str = "") -> None:
        """Settle a change that is not listed as unknown; an add may be a record of another name.

        `why` names the missing part, and `then` the consequence, as the end of the sentence.
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
            what, verb = (kind, "equals an add") if count == 1 else (kind.collection, "equal adds")
            names = named([repr(text[0]) for text in copies])
            message = f"{count} more {what} {verb} of this run ({names}): a second run may "
            message += "have added them at the same time"
            hint = "run again: with prune on, it deletes the copies; no limit counts them"
            self.ledger.notices.append(Notice(message, hint))
            self.ledger.as_wanted = False

    def note_reposts(self) -> None:
        """Report posts that every apply sends again, for the service changes their texts."""
        plan = self.ledger.plan
        replaces = plan.target.abilities[self.resource].posts and plan.manages(self.resource)
        if replaces and any(write.rewrites for write in self.writes):
            posts = self.resource.collection
            message = f"{posts} whose text the service changes are posted again by every apply"
            hint = f"write them in the manifest as they are listed, or set sync.{posts} to append"
            self.ledger.notices.append(Notice(message, hint))


def _without_id(listed: Listed) -> int:
    """Count the records that have no usable id."""
    return sum(not isinstance(identity, str) for identity in listed)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a read for a change that was sent."""

    # The state that it shows instead of the change, as the end of a sentence; empty for none.
    missing: str = ""
    rewrites: tuple[Rewrite, ...] = ()  # the fields that differ from the sent ones, and how

    @property
    def conclusive(self) -> bool:
        """Whether reading once more is of no use."""
        return not self.missing and all(rewrite.known for rewrite in self.rewrites)


def evidence_of(
    change: Change, *, listed: Mapping[Identity, Text], record: Identity = ""
) -> Evidence:
    """Look for one change in a listing; an add is looked for as the record that it made."""
    match change:
        case Add():
            return _added(change.after, record, listed)
        case Edit():
            stored = listed.get(change.id)
            if stored is None:
                return Evidence("it is no longer listed")
            differences = _rewrites(sent=change.after, stored=stored)
            if stored != change.before:
                return Evidence(rewrites=differences)
            known = all(rewrite.known for rewrite in differences)
            return Evidence("it is listed with its old text", differences if known else ())
        case Replace():
            added = _added(change.after, record, listed)
            return added if added.missing else Evidence(_old(change, listed), added.rewrites)
        case Delete():
            return Evidence(_old(change, listed))
        case _:
            assert_never(change)


def _added(wanted: Text, record: Identity, listed: Mapping[Identity, Text]) -> Evidence:
    stored = listed.get(record)
    if stored is None:
        return Evidence("it is not listed")
    return Evidence(rewrites=_rewrites(sent=wanted, stored=stored))


def _old(change: Delete | Replace, listed: Mapping[Identity, Text]) -> str:
    if change.id in listed:
        return "the old one is still listed"
    return "an equal one is listed without an id" if (change.before, 0) in listed else ""


def _rewrites(*, sent: Text, stored: Text) -> tuple[Rewrite, ...]:
    """Return the fields, or the parts of an object, that the listing has with another value.

    A service of objects is not known to change any.
    """
    if object_of(sent) is None:
        return rewrites(sent=sent, stored=stored)
    parts = field_changes(sent, stored) if sent != stored else ()
    return tuple(Rewrite(*part, how="changed", advice=_AS_STORED, known=False) for part in parts)


def conclude(write: Write, claims: Claims, *, certain: bool) -> None:
    """Give a written change the outcome that the last read of its collection shows.

    `certain` means that enough reads were made: a change that they do not show was not made.
    """
    evidence = evidence_of(write.change, listed=claims.listed, record=write.record)
    ledger, missing = claims.ledger, evidence.missing
    if missing and (write.state, Finding.LISTED) in FINDINGS:  # its answer did not accept it
        finding = finding_of(write, claims, certain=certain)
        if FINDINGS[write.state, finding] is State.FAILED:
            ledger.settle(write, State.FAILED, write.half_done)
        elif finding is Finding.GONE:
            ledger.settle(write, State.UNKNOWN, missing, "run plan again")
        else:
            claims.settle_missing(write, missing)
        return
    write.rewrites = evidence.rewrites
    if missing:
        if write.state is State.DONE:
            why = f"{'it was done before' if write.already else 'the service accepted it'}, but "
            if evidence.rewrites:
                hint = "write it in the manifest as the service stores it"
                ledger.settle(write, State.UNKNOWN, why + missing, hint)
            else:
                claims.settle_missing(write, why + missing)
    # only equality proves an edit whose result is unknown: another text may be another writer's
    elif write.may_become(State.DONE) and not (
        isinstance(write.change, Edit) and evidence.rewrites
    ):
        ledger.settle(write, State.DONE)


def finding_of(write: Write, claims: Claims, *, certain: bool) -> Finding:
    """Return the finding of the last read, which lacks a change; arguments as in `conclude`."""
    if isinstance(write.change, Edit) and write.change.id not in claims.listed:
        return Finding.GONE
    if write.adds and claims.unclaimed:
        return Finding.OTHERS
    refused = write.failure is not None and write.failure.doubt is Doubt.REFUSED
    return Finding.ABSENT if certain and refused else Finding.UNPROVEN
