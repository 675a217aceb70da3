"""The ledger of one run: a record of each write, and the states that it may pass through."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from commandsync.api.policy import FAILURES_IN_A_ROW, may_have_happened, was_refused
from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Notice
from commandsync.errors import Forbidden, ListingError, NotFound, StoppedError, Unauthorized
from commandsync.plan.changes import Add, Edit, Replace
from commandsync.records.rewrites import agrees

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.api.policy import Health
    from commandsync.apply.steps import Answered
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.rewrites import Rewrite
    from commandsync.records.snapshot import Identity
    from commandsync.records.texts import Text


class State(StrEnum):
    """How far a change has got; the last four are its outcomes."""

    PENDING = "pending"  # not sent
    UNCLEAR = "unclear"  # sent, with an unknown result; a replace: its add
    REJECTED = "rejected"  # an add that failed, by its answer and by reads: sent once more
    ADDED = "added"  # a replace: the new record exists, the old one is not deleted
    UNCLEAR_DELETE = "unclear-delete"  # as above, with an unknown result of the delete
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


_ALL = "add edit replace delete"
TRANSITIONS: dict[tuple[State, State], frozenset[str]] = {
    (State(before), State(after)): frozenset(actions.split())
    for before, afters, actions in (
        ("pending", "unclear failed skipped", _ALL),
        ("pending", "done", "add edit delete"),
        ("pending", "added", "replace"),
        ("unclear", "failed unknown", _ALL),
        ("unclear", "done", "add edit delete"),
        ("unclear", "added", "replace"),
        ("unclear", "rejected", "add"),
        ("rejected", "unclear done failed", "add"),
        ("added", "unclear-delete done failed unknown skipped", "replace"),
        ("unclear-delete", "done failed unknown", "replace"),
        ("done", "unknown", _ALL),  # it was accepted, and a later read does not show it
        ("failed", "done", "add replace"),  # a later read shows it
        ("unknown", "done", "add"),  # as above
    )
    for after in afters.split()
}
"""The legal changes of state, and the actions of the changes that may make them.

A run starts each change as pending. A saved plan that was applied in part starts it as done, or a
replace as added, where the listing shows that.
"""

_AT_THE_END = {
    State.PENDING: State.SKIPPED,
    State.ADDED: State.SKIPPED,
    State.UNCLEAR: State.UNKNOWN,
    State.UNCLEAR_DELETE: State.UNKNOWN,
    State.REJECTED: State.FAILED,
}
_SENT = {State.UNCLEAR, State.ADDED, State.UNCLEAR_DELETE, State.DONE}


@dataclass(slots=True)
class Write:
    """One change, what was sent for it, and what came of it.

    Attributes:
        index: Its place in the plan.
        change: The change.
        states: The states that it has been in; the last one is the present one.
        error: The error that its last request ended with; None after a success.
        why: The beginning of the reason why it is not done.
        hint: What to do about it; empty where the hint of the error is enough.
        returned_id: The id that the answer to an add contained.
        record: The listed record that an add made; empty while it is not known.
        stored: The text of that record in the last read.
        rewrites: Which fields are listed with another text than was sent.
    """

    index: int
    change: Change
    states: list[State]
    error: ListingError | None = None
    why: str = ""
    hint: str = ""
    returned_id: str = ""
    record: Identity = ""
    stored: Text | None = None
    rewrites: tuple[Rewrite, ...] = ()

    @property
    def state(self) -> State:
        """Its present state."""
        return self.states[-1]

    def may_become(self, state: State) -> bool:
        """Whether a state may follow the present one."""
        return self.change.action in TRANSITIONS.get((self.state, state), ())

    def become(self, state: State) -> None:
        """Enter the next state.

        Raises:
            AssertionError: `TRANSITIONS` does not allow it.
        """
        if not self.may_become(state):
            raise AssertionError(f"{self.change.action}: {state} after {self.state}")
        self.states.append(state)
        if state in {State.ADDED, State.DONE}:
            self.error = None

    @property
    def settled(self) -> Settled:
        """Its outcome; only for a state that is one."""
        error = self.error
        return Settled(
            self.change,
            Outcome(self.state),
            self.why + (error.message if error else ""),
            self.hint or (error.hint if error else ""),
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
        return not _SENT.isdisjoint(self.states[1:])

    @property
    def touched(self) -> bool:
        """Whether it changed, or may have changed, the listing in this run."""
        possible = State.ADDED in self.states or self.state in {State.DONE, State.UNKNOWN}
        return self.sent and possible

    @property
    def was_refused(self) -> bool:
        """Whether its last request was answered with a failure, whatever the service did."""
        return self.error is not None and was_refused(self.error)

    @property
    def awaits_record(self) -> bool:
        """Whether an add was sent, and its record is not known yet."""
        return self.sent and self.is_add and not self.record

    @property
    def succeeded(self) -> bool:
        """Whether what replaces a record is listed with the text that was sent."""
        stored, sent = self.stored, self.change.texts[0]
        return stored is not None and all(agrees(stored[n], sent=sent[n]) for n in range(len(sent)))

    @property
    def half_done(self) -> str:
        """The beginning of the reason where the new record of a replace exists already."""
        added = self.state is State.ADDED or self.state is State.UNCLEAR_DELETE
        return "the new one is added, but the old one is not deleted: " if added else ""


@dataclass(slots=True)
class Ledger:
    """The writes of one run, and why it starts no more of them.

    Attributes:
        plan: The plan that is applied.
        health: How the service has been answering.
        writes: One for each change of the plan.
        unread: Why the last failed read failed; empty when none did.
        as_wanted: Whether these reads show the listing as it is to be.

    The other attributes are those of `Result`.
    """

    plan: Plan
    health: Health
    writes: tuple[Write, ...]
    notices: list[Notice] = field(default_factory=list)
    remaining: tuple[Change, ...] = ()
    stopped: str = ""
    stopped_hint: str = ""
    interrupted: bool = False
    read_back: bool = True
    unread: str = ""
    as_wanted: bool = True
    _news: dict[int, Write] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._news.update((write.index, write) for write in self.in_state(State.DONE))

    def in_state(self, *states: State) -> Iterator[Write]:
        """Return the writes in one of these states."""
        return (write for write in self.writes if write.state in states)

    def settle(self, write: Write, state: State, why: str = "", hint: str = "") -> None:
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
        """Enter how a request ended: done, failed for certain, or with an unknown result."""
        error = answer.error
        if isinstance(error, StoppedError):
            self.interrupt()  # it was never sent: it is left over, like all that follows
            return
        if error is None and write.adds:
            write.returned_id = answer.value
            self.settle_added(write)
        elif error is None:
            self.settle(write, State.DONE)
        else:
            write.error = error
            if may_have_happened(error):
                half = write.state is State.ADDED
                write.become(State.UNCLEAR_DELETE if half else State.UNCLEAR)
            else:
                gone = isinstance(error, NotFound) and isinstance(write.change, Edit)
                why = "its record is no longer listed: " if gone else write.half_done
                self.settle(write, State.FAILED, why, "run plan again" if gone else "")
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
        for write in self.in_state(*_AT_THE_END):
            end = _AT_THE_END[write.state]
            self.settle(write, end, write.half_done + self.stopped if end is State.SKIPPED else "")
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
