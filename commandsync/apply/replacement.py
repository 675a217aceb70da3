"""A list that is replaced as a whole: one request, and its result by a read or by its answer.

The request has the same result however often it is sent, so it is retried as a read is. Where the
service returns its list, that is read again; elsewhere only the answer tells what happened.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from commandsync.api.operations import Operation
from commandsync.api.policy import Doubt, Failure
from commandsync.apply.outcomes import (
    Aborted,
    Answered,
    Call,
    Interrupted,
    Outcome,
    Result,
    Settled,
    Step,
    StepResult,
)
from commandsync.apply.run import NO_ANSWER, REREADS
from commandsync.diagnostics import Hint, Notice
from commandsync.errors import (
    ApiError,
    CommandsyncError,
    ListingError,
    RefusedError,
    StoppedError,
    TransportError,
)
from commandsync.plan.plan import ListPlan
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Text

_REFUSALS = {400, 401, 403, 404, 405, 422, 429}
"""The answers after which a list is as it was; of any other failure the result is unknown."""

_SEND, _READ = -2, -1  # keys of no change: a write of a record has the index of its change

Steps: TypeAlias = Generator[Step, StepResult, Result]
Entries: TypeAlias = tuple[Entry, ...]


def replace_list(
    plan: ListPlan,
    *,
    send: Operation[None],
    before: Entries,
    read: Operation[Entries] | None,
    ordered: bool = False,
) -> Steps:
    """Carry out the plan of a list that is replaced as a whole.

    `send` replaces the list by the commands of the plan; `before` are those that were listed, where
    the list was read, and `read` is None where the service does not return it. If the service keeps
    the order of a list, it is `ordered`.
    """
    wanted = plan.commands
    if not plan.writes:
        return Result(plan=plan, settled=(), verified=True if read else None)
    run = _Replacement(plan, ordered)
    failure: Failure | None = yield from run.call(Call(_SEND, send))
    if failure and isinstance(failure.error, StoppedError):
        return run.result(Outcome.SKIPPED, None)
    if failure and isinstance(failure.error, TransportError) and not failure.doubt:
        return run.result(Outcome.FAILED, failure)  # no connection was made
    if read is None:
        return run.result(_unread(failure), failure)
    yield from run.reread(read, wanted)
    return run.result(run.outcome(wanted, before, failure), failure)


def not_sent(plan: ListPlan, error: CommandsyncError) -> Result:
    """Return the result of a plan that must not be carried out after all; nothing was sent."""
    settled = tuple(
        Settled(change, Outcome.SKIPPED, error.message, error.hint) for change in plan.changes
    )
    return Result(
        plan=plan,
        settled=settled,
        sent=Outcome.SKIPPED,
        verified=None,
        stopped=error.message,
        stopped_hint=error.hint,
        refused=isinstance(error, RefusedError),
    )


def shows(listed: Entries, wanted: Entries, *, ordered: bool) -> bool:
    """Whether a list has the texts that were sent and the keys beside them, `ordered` or not.

    Keys that were not sent do not count: the service may add them.
    """
    if ordered and [entry.text for entry in listed] != [entry.text for entry in wanted]:
        return False
    if Counter(entry.text for entry in listed) != Counter(entry.text for entry in wanted):
        return False
    shown: dict[Text, dict[str, Any]] = {entry.text: dict(*entry.own) for entry in listed}
    return all(dict(*entry.own).items() <= shown[entry.text].items() for entry in wanted)


def _unread(failure: Failure | None) -> Outcome:
    """Return the outcome for a list that the service does not return."""
    if failure is None:
        return Outcome.SENT
    refused = isinstance(failure.error, ApiError) and failure.error.status in _REFUSALS
    return Outcome.FAILED if refused and not failure.doubt else Outcome.UNKNOWN


@dataclass(slots=True)
class _Replacement:
    """The run of one replacement."""

    plan: ListPlan
    ordered: bool  # whether the service keeps the order of a list
    interrupted: bool = False  # whether it was stopped from outside
    listed: Entries | None = None  # the list in the last read; None before it
    unread: str = ""  # why the last read failed
    reordered: bool = False  # whether that read only shows another order than was sent

    def call(self, call: Call) -> Generator[Step, StepResult, Any]:
        """Make a call, and wait for its value or its failure, also after a first interruption."""
        event = yield Step((call,))
        while not isinstance(event, Answered):
            self.interrupted = True
            if isinstance(event, Aborted):
                return NO_ANSWER
            event = yield Step()
        return event.value

    def reread(
        self, read: Operation[Entries], wanted: Entries
    ) -> Generator[Step, StepResult, None]:
        """Read the list until it shows the commands that were sent."""
        for pause in REREADS:
            if pause and isinstance((yield Step(wait=pause)), Interrupted | Aborted):
                self.interrupted = True
            if self.interrupted:
                return
            value = yield from self.call(Call(_READ, read))
            if isinstance(value, Failure):
                self.unread = value.error.message
            else:
                self.listed = value
            if self.listed is not None and shows(self.listed, wanted, ordered=self.ordered):
                return

    def outcome(self, wanted: Entries, before: Entries, failure: Failure | None) -> Outcome:
        """Return the outcome by the last read of the list, if it could be read."""
        if self.listed is None:
            return Outcome.UNKNOWN if failure else Outcome.DONE
        if shows(self.listed, wanted, ordered=self.ordered):
            return Outcome.DONE
        self.reordered = shows(self.listed, wanted, ordered=False)
        may_arrive = failure is None or failure.doubt is Doubt.SILENT
        is_before = shows(self.listed, before, ordered=self.ordered)
        return Outcome.UNKNOWN if may_arrive or not is_before else Outcome.FAILED

    def result(self, outcome: Outcome, failure: Failure | None) -> Result:
        """Return the result: every change ended as the request did."""
        error = failure.error if failure and outcome is not Outcome.DONE else None
        why, hint = self._reason(outcome, error)
        changes = self.plan.changes
        verified: bool | None = None
        if self.plan.is_read:
            verified = outcome is Outcome.DONE and self.listed is not None
        return Result(
            plan=self.plan,
            settled=tuple(Settled(change, outcome, why, hint, cause=error) for change in changes),
            notices=self._notices(),
            sent=outcome,
            read_back=verified is None or self.listed is not None,
            verified=verified,
            touched=outcome in {Outcome.DONE, Outcome.SENT, Outcome.UNKNOWN},
            stopped="" if changes and outcome is not Outcome.SKIPPED else why,
            stopped_hint="" if changes else hint,
            interrupted=self.interrupted,
        )

    def _notices(self) -> tuple[Notice, ...]:
        if self.listed is not None or not self.unread:
            return ()
        return (Notice(f"the list could not be read again: {self.unread}"),)

    def _reason(self, outcome: Outcome, error: ListingError | None) -> tuple[str, str | Hint]:
        """Return why a list is not as it should be, and the hint."""
        if error:
            return error.message, error.hint
        if outcome is Outcome.SKIPPED:
            return "interrupted", ""
        if outcome is not Outcome.UNKNOWN:
            return "", ""
        shown = "it in another order" if self.reordered else "another one"
        return f"the service accepted the list, but it shows {shown}", ""
