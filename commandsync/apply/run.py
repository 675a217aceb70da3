"""Make the listing match a plan: a generator of steps in, events out, with no HTTP in it.

Order of writes: edits, then adds one by one in the manifest's order, deletes last and only where
every add of their collection is done, so that an interruption or a failure leaves too much rather
than too little. Where names are unique, the deletes that the plan says go first, a record is
renamed when its new name is free, and the order of adds does not matter. The old record of a
replace is deleted only when a read has shown the new one. An add whose result is unknown is settled
by reading the list. After any write, whatever its answer, every managed collection is read once
more and planned again: a record is called verified, or unchanged, only after it was seen.

A list that is replaced as a whole needs one request, which is retried as a read is: its result is
the same however often it is sent. Where the service returns its list, that is read again; elsewhere
only the answer tells the result.
"""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, TypeVar, assert_never

from commandsync import errors
from commandsync.api.operations import Operation
from commandsync.api.policy import Doubt, Failure, Health
from commandsync.apply.check import compare, progress_of
from commandsync.apply.ledger import (
    Claims,
    Ledger,
    Write,
    conclude,
    evidence_of,
    finding_of,
)
from commandsync.apply.outcomes import (
    FINDINGS,
    Aborted,
    Answered,
    Call,
    Interrupted,
    Outcome,
    Result,
    Settled,
    State,
    Step,
    StepResult,
)
from commandsync.diagnostics import Hint, Notice
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.plan import ListPlan, RecordPlan
from commandsync.records.snapshot import Entry, Snapshot, by_identity
from commandsync.records.texts import Resource, Text
from commandsync.services.service import RecordService

T = TypeVar("T")
Steps: TypeAlias = Generator[Step, StepResult, T]

REREADS = (0.0, 1.0, 3.0)  # seconds before each read of a list that may not show everything yet
_SEND, _READ = -2, -1  # keys of no change: a write of a record has the index of its change
NO_ANSWER = Failure(errors.TransportError("the run was ended before the answer came"))
"""How a call ends that is not waited for."""


def apply(  # noqa: PLR0913 - the parts of a run
    plan: RecordPlan,
    *,
    service: RecordService,
    listed: Snapshot,
    health: Health,
    replan: Callable[[Snapshot], RecordPlan] | None = None,
    concurrency: int = 4,
    unordered: bool = False,
) -> Steps[Result]:
    """Carry out a plan.

    A change that the listing already shows is not made again: a saved plan that was interrupted is
    finished, and a plan that was applied changes nothing. `StalePlanError` is raised
    before the first step, when the plan no longer fits the listing.

    Args:
        plan: The changes to make.
        service: The service of its target.
        listed: The listing as read just now, every collection of the plan's scope.
        health: Shared with the driver, which notes every attempt in it.
        replan: Makes the plan again; None for a saved plan, whose own changes are compared.
        concurrency: Most calls in flight.
        unordered: Send adds concurrently too; the listing then shows them in any order. Adds of an
            exact kind are always sent so: its order means nothing.
    """
    run = open_run(plan, listed, health, service=service, concurrency=concurrency)
    yield from run.first_deletes()
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered or resource.exact else 1)
        yield from run.find_replacements(resource)
    yield from run.deletes()
    for resource in plan.scope if run.ledger.sent else ():
        yield from run.verify(resource)
    read = {r: claims.entries for r, claims in run.claims.items() if claims.entries is not None}
    compare(run.ledger, Snapshot({**listed.collections, **read}), replan=replan, claims=run.claims)
    result = run.ledger.result()
    if news := run.ledger.news():
        yield Step(wait=0.0, settled=news)
    return result


def open_run(
    plan: RecordPlan, listed: Snapshot, health: Health, *, service: RecordService, concurrency: int
) -> "Phases":
    """Open a run with the listing before the first write, and the changes that it has already."""
    states = progress_of(plan, listed)
    writes = tuple(Write(n, change, [states[n]]) for n, change in enumerate(plan.changes))
    ledger = Ledger(plan, health, writes)
    claims = {r: Claims.opened(ledger, r, listed.collections[r]) for r in plan.scope}
    return Phases(service, ledger, claims, width=concurrency)


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of one run."""

    service: RecordService
    ledger: Ledger
    claims: dict[Resource, Claims]  # the new records of each collection
    width: int  # most calls in flight

    def first_deletes(self) -> Steps[None]:
        """Send the deletes that free a name, or make room."""
        pending = self.ledger.in_state(State.PENDING)
        first = [w for w in pending if isinstance(w.change, Delete) and w.change.first]
        yield from self.perform(deque(first), width=self.width)

    def edits(self) -> Steps[None]:
        """Send the edits; renames wait until their names are free."""
        ledger = self.ledger
        waiting = [w for w in ledger.in_state(State.PENDING) if isinstance(w.change, Edit)]
        while waiting and not ledger.stopped:
            free, waiting = self._by_name(waiting)
            if not free:
                self._hold_back(waiting)
                return
            yield from self.perform(deque(free), width=self.width)

    def _by_name(self, writes: Iterable[Write]) -> tuple[list[Write], list[Write]]:
        """Return the writes whose names no other record has, and the others."""
        sides: tuple[list[Write], list[Write]] = [], []
        for write in writes:
            sides[not self.claims[write.change.resource].frees(write)].append(write)
        return sides

    def _hold_back(self, writes: Iterable[Write]) -> None:
        """Skip writes whose names another record still has."""
        for write in () if self.ledger.stopped else writes:
            why = f"another {write.change.resource} still has that name"
            self.ledger.settle(write, State.SKIPPED, why, "run again")

    def adds(self, resource: Resource, *, width: int) -> Steps[None]:
        """Add one collection's records; settle an unknown result before the next one."""
        ledger = self.ledger
        writes = self.claims[resource].writes
        free, others = self._by_name(w for w in writes if w.adds and w.state is State.PENDING)
        self._hold_back(others)
        queue = deque(free)
        while queue and not ledger.stopped:
            yield from self.perform(queue, width=width, until_unclear=True)
            for write in reversed((yield from self._settle_adds(resource))):
                # once more at most, and never where records cannot be edited: readers see each post
                first = self.service.abilities[resource].edit and State.REJECTED not in write.states
                if first and not ledger.stopped:
                    write.become(State.REJECTED)
                    queue.appendleft(write)
                else:
                    ledger.settle(write, State.FAILED)

    def find_replacements(self, resource: Resource) -> Steps[None]:
        """Look for the new records of replaces: the old ones may be deleted only after that."""
        ledger = self.ledger
        added = [write for write in self.claims[resource].writes if write.state is State.ADDED]
        yield from self._read_until(
            resource, lambda: bool(ledger.stopped) or all(write.succeeded for write in added)
        )
        for write in added:
            if not (ledger.stopped or write.succeeded):
                what = "it is listed with another text" if write.stored else "it is not listed"
                why = f"the service accepted it, but {what}"
                self.claims[resource].settle_missing(write, why, ": the old one stays")

    def deletes(self) -> Steps[None]:
        """Send the deletes, where every add of the same collection is done."""
        for claims in self.claims.values():
            claims.hold_back_deletes()
        queue = deque(self.ledger.in_state(State.PENDING, State.ADDED))  # the rest was sent
        yield from self.perform(queue, width=self.width)

    def verify(self, resource: Resource) -> Steps[None]:
        """Read a collection again and compare every change of it with that."""
        claims = self.claims[resource]
        sent = [write for write in claims.writes if write.sent]
        changed = [write for write in sent if write.state is not State.REFUSED]
        claims.entries = None

        def are_shown() -> bool:
            return claims.entries is not None and all(
                evidence_of(write.change, listed=claims.listed, record=write.record).conclusive
                for write in changed
            )

        certain = yield from self._read_until(resource, are_shown)
        if claims.entries is None:
            self.ledger.read_back = False
            return
        done_before = [w for w in claims.writes if w.already and not w.is_add]
        for write in (*sent, *done_before):
            conclude(write, claims, certain=certain)
        claims.note_copies()
        claims.note_reposts()

    def _settle_adds(self, resource: Resource) -> Steps[list[Write]]:
        """Find out by reading which adds with an unknown result happened.

        Return those that certainly did not: the service said so, and every read was without them.
        """
        claims = self.claims[resource]
        unclear = [write for write in claims.writes if write.adds and write.state is State.UNCLEAR]
        certain = yield from self._read_until(
            resource, lambda: all(write.state is not State.UNCLEAR for write in unclear)
        )
        failed = []
        for write in unclear:
            if write.state is State.UNCLEAR:
                finding = finding_of(write, claims, certain=certain)
                if FINDINGS[write.state, finding] is State.FAILED:
                    failed.append(write)
                else:
                    conclude(write, claims, certain=False)  # else it would be in `failed`
        return failed

    def perform(
        self, queue: deque[Write], *, width: int, until_unclear: bool = False
    ) -> Steps[None]:
        """Carry out queued writes, at most `width` at a time, until none is in flight."""
        ledger = self.ledger
        flying: set[int] = set()
        halted = False
        while True:
            free = 0 if halted or ledger.stopped else width - len(flying)
            writes = [queue.popleft() for _ in range(min(free, len(queue)))]
            flying.update(write.index for write in writes)
            if not flying:
                return
            calls = tuple(Call(write.index, self._operation(write)) for write in writes)
            event = yield from self._step(Step(calls, settled=ledger.news()))
            for answer in _answers(event, flying):
                flying.discard(answer.key)
                write = ledger.writes[answer.key]
                ledger.note(write, answer)
                halted = halted or (until_unclear and write.state is State.UNCLEAR)

    def _read_until(self, resource: Resource, enough: Callable[[], bool]) -> Steps[bool]:
        """Read a collection until that is enough; return whether every read was made and succeeded.

        Only that proves that a change that is still not listed was not made.
        """
        ledger, reads = self.ledger, 0
        for pause in REREADS:
            if enough():
                return False
            if pause and not ledger.interrupted:
                yield from self._step(Step(wait=pause, settled=ledger.news()))
            if not ledger.interrupted:
                reads += yield from self._read(resource)
        return reads == len(REREADS)

    def _read(self, resource: Resource) -> Steps[bool]:
        """Read a collection; return whether that succeeded."""
        ledger, claims = self.ledger, self.claims[resource]
        call = Call(_READ, self.service.read(ledger.plan.target.bot, resource))
        event = yield from self._step(Step((call,), settled=ledger.news()))
        while not isinstance(event, Answered | Aborted):
            event = yield from self._step(Step())
        if isinstance(event, Aborted):
            return False
        ledger.watch(event.error)
        if event.error:
            ledger.unread = event.error.message
        elif claims.lost_ids(by_identity(event.value)):
            ledger.unread = "records are listed without the ids that they had"
        else:
            claims.assign(event.value)
            return True
        return False

    def _operation(self, write: Write) -> Operation[str]:
        """Return the next request of a change."""
        bot, change = self.ledger.plan.target.bot, write.change
        match change:
            case Edit():
                if not self.service.abilities[change.resource].edit:
                    raise AssertionError(f"the service cannot edit {change.resource.collection}")
                listed = self.claims[change.resource].before[change.id]
                return self.service.edit(bot, change.resource, listed, change.after)
            case Replace(id=old) if not write.adds:
                return self.service.delete(bot, change.resource, old)
            case Add() | Replace():
                return self.service.add(bot, change.resource, change.after)
            case Delete():
                return self.service.delete(bot, change.resource, change.id)
            case _:
                assert_never(change)

    def _step(self, step: Step) -> Steps[StepResult]:
        """Take one step; a stop from outside is noted."""
        event = yield step
        if isinstance(event, Interrupted | Aborted):
            self.ledger.interrupt()
        return event


def _answers(event: StepResult, flying: set[int]) -> list[Answered]:
    """Return the answers of the calls in flight: after an abort, none of them is awaited."""
    match event:
        case Answered():
            return [event]
        case Aborted():
            return [Answered(index, NO_ANSWER) for index in sorted(flying)]
        case _:
            return []


# The answers after which a list is as it was; of any other failure the result is unknown.
_REFUSALS = {400, 401, 403, 404, 405, 422, 429}

Entries: TypeAlias = tuple[Entry, ...]


def replace_list(
    plan: ListPlan,
    *,
    send: Operation[None],
    before: Entries,
    read: Operation[Entries] | None,
    ordered: bool = False,
) -> Steps[Result]:
    """Carry out the plan of a list that is replaced as a whole.

    `send` replaces the list by the commands of the plan; `before` are those that were listed, where
    the list was read, and `read` is None where the service does not return it. If the service keeps
    the order of a list, it is `ordered`.
    """
    wanted = plan.commands
    if not plan.writes:
        return Result(plan=plan, settled=(), verified=True if read else None)
    failure, interrupted = yield from _call(Call(_SEND, send))
    reread = Reread(interrupted)
    if failure and isinstance(failure.error, errors.StoppedError):
        return _list_result(plan, Outcome.SKIPPED, None, reread)
    if failure and isinstance(failure.error, errors.TransportError) and not failure.doubt:
        return _list_result(plan, Outcome.FAILED, failure, reread)  # no connection was made
    if read is None:
        return _list_result(plan, _unread(failure), failure, reread)
    reread = yield from reread_list(read, wanted, ordered=ordered, interrupted=interrupted)
    outcome = _read_outcome(reread.listed, wanted, before, failure, ordered=ordered)
    return _list_result(plan, outcome, failure, reread)


class Reread(NamedTuple):
    """The reads of a list after it was sent."""

    interrupted: bool  # whether the run was stopped from outside, before or during them
    listed: Entries | None = None  # the list in the last read; None before it
    unread: str = ""  # why the last read failed


def reread_list(
    read: Operation[Entries], wanted: Entries, *, ordered: bool, interrupted: bool
) -> Steps[Reread]:
    """Read a list until it shows the commands that were sent."""
    reread = Reread(interrupted)
    for pause in REREADS:
        if pause and isinstance((yield Step(wait=pause)), Interrupted | Aborted):
            reread = reread._replace(interrupted=True)
        if reread.interrupted:
            break
        value, stopped = yield from _call(Call(_READ, read))
        if isinstance(value, Failure):
            reread = reread._replace(interrupted=stopped, unread=value.error.message)
        else:
            reread = reread._replace(interrupted=stopped, listed=value)
        if reread.listed is not None and shows(reread.listed, wanted, ordered=ordered):
            break
    return reread


def _call(call: Call) -> Steps[tuple[Any, bool]]:
    """Make a call; return its value or failure, and whether the run was stopped meanwhile.

    A first interruption does not end the wait.
    """
    event, interrupted = (yield Step((call,))), False
    while not isinstance(event, Answered):
        if isinstance(event, Aborted):
            return NO_ANSWER, True
        interrupted = True
        event = yield Step()
    return event.value, interrupted


def _read_outcome(
    listed: Entries | None,
    wanted: Entries,
    before: Entries,
    failure: Failure | None,
    *,
    ordered: bool,
) -> Outcome:
    """Return the outcome by the last read of a list, if it could be read."""
    if listed is None:
        return Outcome.UNKNOWN if failure else Outcome.DONE
    if shows(listed, wanted, ordered=ordered):
        return Outcome.DONE
    may_arrive = failure is None or failure.doubt is Doubt.SILENT
    is_before = shows(listed, before, ordered=ordered)
    return Outcome.UNKNOWN if may_arrive or not is_before else Outcome.FAILED


def _list_result(
    plan: ListPlan, outcome: Outcome, failure: Failure | None, reread: Reread
) -> Result:
    """Return the result: every change ended as the request did."""
    error = failure.error if failure and outcome is not Outcome.DONE else None
    listed, changes = reread.listed, plan.changes
    why, hint = _reason(plan, outcome, error, listed)
    unread = f"the list could not be read again: {reread.unread}"
    is_shown = listed is not None
    return Result(
        plan=plan,
        settled=tuple(Settled(change, outcome, why, hint, cause=error) for change in changes),
        notices=(Notice(unread),) if reread.unread and not is_shown else (),
        sent=outcome,
        read_back=is_shown or not plan.is_read,
        verified=(is_shown and outcome is Outcome.DONE) if plan.is_read else None,
        touched=outcome in {Outcome.DONE, Outcome.SENT, Outcome.UNKNOWN},
        stopped="" if changes and outcome is not Outcome.SKIPPED else why,
        stopped_hint="" if changes else hint,
        interrupted=reread.interrupted,
    )


def _reason(
    plan: ListPlan, outcome: Outcome, error: errors.ListingError | None, listed: Entries | None
) -> tuple[str, str | Hint]:
    """Return the reason why a list is not as it should be, and the hint."""
    if error:
        return error.message, error.hint
    if outcome is Outcome.SKIPPED:
        return "interrupted", ""
    if outcome is not Outcome.UNKNOWN:
        return "", ""
    reordered = shows(listed or (), plan.commands, ordered=False)
    shown = "it in another order" if reordered else "another one"
    return f"the service accepted the list, but it shows {shown}", ""


def not_sent(plan: ListPlan, error: errors.CommandsyncError) -> Result:
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
        refused=isinstance(error, errors.RefusedError),
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
    refused = isinstance(failure.error, errors.ApiError) and failure.error.status in _REFUSALS
    return Outcome.FAILED if refused and not failure.doubt else Outcome.UNKNOWN
