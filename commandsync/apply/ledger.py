"""The ledger of one run: a record of each write, with the states that it has been in."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from commandsync.api.operations import Overwritten
from commandsync.api.policy import FAILURES_IN_A_ROW, LOOK, Failure, Health
from commandsync.apply.outcomes import (
    AT_THE_END,
    SENT,
    TRANSITIONS,
    Answered,
    Outcome,
    Result,
    Settled,
    State,
)
from commandsync.diagnostics import Hint, Notice
from commandsync.errors import Forbidden, ListingError, StoppedError, TransportError, Unauthorized
from commandsync.plan.changes import Add, Change, Replace
from commandsync.plan.plan import RecordPlan
from commandsync.records.rewrites import Rewrite, text_agrees
from commandsync.records.snapshot import Identity
from commandsync.records.texts import Text


@dataclass(slots=True)
class Write:
    """One change, the requests that were sent for it, and their result."""

    index: int  # its place in the plan
    change: Change
    states: list[State]  # the states that it has been in; the last one is the present one
    failure: Failure | None = None  # how its last request failed; None after a success
    why: str = ""  # the beginning of the reason why it is not done
    hint: str | Hint = ""  # what to do about it; empty where the hint of the error is enough
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


def _overwritten(change: Change) -> Notice:
    """Return the notice that a record of that name was there when it was added."""
    message = f"{change.resource} {change.name!r} was listed meanwhile: the add has overwritten it"
    hint = "something else writes there, too, such as the bot at its start: only one of them should"
    return Notice(message, hint, change.location)


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
                self.notices.append(_overwritten(write.change))
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
