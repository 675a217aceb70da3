"""The protocol of a run: its steps, the states of a change, and the result.

A run and a driver take turns. The run says which calls to start (`Step`); the driver waits for
whichever comes first, the answer to any call in flight, the end of the step's wait, or a stop from
outside, and sends that event back. Each change goes from state to state (`TRANSITIONS`), by answers
and by the findings of reads (`FINDINGS`); the last one is its outcome in the `Result`.

Drivers load this module with no plan: nothing here needs one before there is a result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from commandsync.api.operations import Operation
from commandsync.api.policy import Failure
from commandsync.diagnostics import Hint, Notice
from commandsync.errors import CommandsyncError, Exit, ListingError, worst_exit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.rewrites import Rewrite


class Call(NamedTuple):
    """An operation to carry out, retries included, and the key its answer comes back under."""

    key: int
    operation: Operation[Any]


class Step(NamedTuple):
    """The calls to start, and the wait, before the next event."""

    start: tuple[Call, ...] = ()  # calls to start now, all at once
    wait: float | None = None  # seconds until `Elapsed`; None to wait for the calls alone
    settled: tuple[Settled, ...] = ()  # the outcomes since the last step, for progress


class Answered(NamedTuple):
    """A call ended: its value is the content of its answer, or a `Failure`."""

    key: int
    value: Any = None

    @property
    def failure(self) -> Failure | None:
        """How the call failed; None if it did not."""
        return self.value if isinstance(self.value, Failure) else None

    @property
    def error(self) -> ListingError | None:
        """The last error of a call that failed."""
        return self.failure.error if self.failure else None


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The step's wait is over."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Stop: start nothing new; calls in flight will still be answered."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """Stop at once: do not wait for calls in flight."""


StepResult = Answered | Elapsed | Interrupted | Aborted


class State(StrEnum):
    """How far a change has got; the last four are its outcomes."""

    PENDING = "pending"  # not sent
    UNCLEAR = "unclear"  # sent, with an unknown result
    REFUSED = "refused"  # sent, and refused by its answer: the read at the end decides
    REJECTED = "rejected"  # an add that failed, by its answer and by reads: sent once more
    ADDED = "added"  # a replace: the new record exists, the old one is not deleted
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    SKIPPED = "skipped"


_ALL = "add edit replace delete"
TRANSITIONS: dict[tuple[State, State], frozenset[str]] = {
    (State(before), State(after)): frozenset(actions.split())
    for before, afters, actions in (
        ("pending", "unclear refused failed skipped", _ALL),
        ("pending", "done", "add edit delete"),
        ("pending", "added", "replace"),
        ("unclear", "done failed unknown", _ALL),
        ("unclear", "added", "replace"),
        ("unclear", "rejected", "add"),
        ("refused", "done failed unknown", _ALL),
        ("refused", "added", "replace"),
        ("rejected", "unclear refused done failed", "add"),
        ("added", "unclear refused done failed unknown skipped", "replace"),
        ("done", "unknown", _ALL),  # it was accepted, and a later read does not show it
        ("failed", "done", "add"),  # a later read shows it
        ("unknown", "done", "add"),  # as above
    )
    for after in afters.split()
}
"""The legal changes of state, and the actions of the changes that may make them.

A run starts each change as pending. A saved plan that was applied in part starts it as done, or a
replace as added, where the listing shows that.
"""

AT_THE_END = {
    State.PENDING: State.SKIPPED,
    State.ADDED: State.SKIPPED,
    State.UNCLEAR: State.UNKNOWN,
    State.REFUSED: State.UNKNOWN,
    State.REJECTED: State.FAILED,
}
"""The outcome of a change that a run leaves in one of the other states."""

SENT = {State.UNCLEAR, State.REFUSED, State.ADDED, State.DONE}
"""The states of changes that were or may have been written."""


class Finding(StrEnum):
    """A result of reading the list for a change that its answer did not confirm."""

    LISTED = "listed"  # the change
    GONE = "gone"  # not even the record that would prove it
    OTHERS = "others"  # not the new record, but new ones of other names: it may be one of them
    ABSENT = "absent"  # not the change: a 5xx said that it failed, and every read succeeded
    UNPROVEN = "unproven"  # not the change, but it may yet appear, or a read failed


FINDINGS: dict[tuple[State, Finding], State] = {
    (State.UNCLEAR, Finding.LISTED): State.DONE,
    (State.UNCLEAR, Finding.GONE): State.UNKNOWN,
    (State.UNCLEAR, Finding.OTHERS): State.UNKNOWN,
    (State.UNCLEAR, Finding.ABSENT): State.FAILED,
    (State.UNCLEAR, Finding.UNPROVEN): State.UNKNOWN,
    (State.REFUSED, Finding.LISTED): State.DONE,
    (State.REFUSED, Finding.GONE): State.UNKNOWN,
    (State.REFUSED, Finding.OTHERS): State.UNKNOWN,
    (State.REFUSED, Finding.UNPROVEN): State.FAILED,
}
"""The state of a change after a finding.

With the first half of a replace listed, the replace is `ADDED`. An add that can be edited later is
`REJECTED` instead of `FAILED` the first time: it is sent once more.
"""


class Outcome(StrEnum):
    """How one change ended."""

    DONE = "done"  # the listing has it, as the service acknowledged or as reading showed
    SENT = "sent"  # the service accepted it, and does not return its list: it cannot be read back
    FAILED = "failed"  # it certainly did not happen
    UNKNOWN = "unknown"  # it may have happened or may yet happen; only a later read can tell
    SKIPPED = "skipped"  # it was never sent


@dataclass(frozen=True, slots=True)
class Settled:
    """One change and how it ended."""

    change: Change
    outcome: Outcome
    # Why it is not done, in one sentence, or one on each line; empty when it is.
    error: str = ""
    hint: str | Hint = ""
    already: bool = False  # whether it was done before this run, which made no request for it
    rewrites: tuple[Rewrite, ...] = ()  # which fields are listed with another text, and how
    # The error that was raised, if any; it is not compared.
    cause: ListingError | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a plan."""

    plan: Plan
    settled: tuple[Settled, ...]  # every change with its outcome, in the plan's order
    notices: tuple[Notice, ...] = ()  # other findings of reads, such as copies of another run
    # The changes of a new plan from the listing as read back, other than those that are not done.
    remaining: tuple[Change, ...] = ()
    read_back: bool = True  # whether every managed collection was read again after the writes
    # Whether nothing is left to do, by the listing as it was read after the writes; with nothing to
    # write, as it was read for the plan. None where it cannot be read.
    verified: bool | None = True
    sent: Outcome | None = None  # of the request that replaces a whole list; None for none
    touched: bool = False  # whether something was or may have been written
    stopped: str = ""  # why the rest was skipped; empty when nothing was
    stopped_hint: str | Hint = ""  # the advice; empty where running again is enough
    interrupted: bool = False  # whether the run was stopped from outside
    refused: bool = False  # whether it was refused before anything was sent, after all checks
    unrecorded: bool = False  # whether the store could not record the end of a list that was sent

    @property
    def rewritten(self) -> tuple[Settled, ...]:
        """The changes whose record is listed with another text than was written."""
        return tuple(settled for settled in self.settled if settled.rewrites)

    @property
    def complete(self) -> bool:
        """Whether everything is done and seen, or accepted where nothing can be seen."""
        outcomes = {settled.outcome for settled in self.settled} | {self.sent or Outcome.DONE}
        accepted = outcomes <= {Outcome.DONE, Outcome.SENT}
        seen = self.verified is not False and not self.unrecorded
        return accepted and seen and not self.interrupted

    def count(self, outcome: Outcome) -> int:
        """How many changes ended so."""
        return sum(settled.outcome is outcome for settled in self.settled)


def skipped(plan: Plan, why: str) -> Result:
    """Return the result of a plan that was not begun; `why` is the reason in a word."""
    settled = tuple(Settled(change, Outcome.SKIPPED, why) for change in plan.changes)
    verified = not plan.writes
    return Result(plan=plan, settled=settled, verified=verified, stopped=why, interrupted=True)


def exit_code(*results: Result, left: Iterable[CommandsyncError] = ()) -> Exit:
    """Return the exit code of applied plans; `FAILED` means that no listing was changed.

    `left` are the errors of listings that were left out.
    """
    codes = [Exit.REFUSED if each.refused else Exit.FAILED for each in results if not each.complete]
    codes += [error.exit_code for error in left]
    if any(result.touched or result.rewritten for result in results):
        codes = [Exit.INCOMPLETE if code is Exit.FAILED else code for code in codes]
    return worst_exit(codes)
