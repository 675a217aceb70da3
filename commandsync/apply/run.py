"""Make the listing match a plan: a generator of steps in, events out, that knows no HTTP.

Order of writes: edits, then adds one by one in the manifest's order, deletes last and only where
every add of their collection is done, so that an interruption or a failure leaves too much rather
than too little. What is replaced goes only when reading has shown what replaces it. An add that
ended unclearly is settled by reading the list; in the end every changed collection is read once
more and planned again, so that what is called verified has been seen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from commandsync.api import operations
from commandsync.api.listing import reading
from commandsync.apply.evidence import evidence_of
from commandsync.apply.ledger import Ledger
from commandsync.apply.outcomes import Outcome
from commandsync.apply.resume import Progress, progress_of
from commandsync.apply.steps import Aborted, Answered, Call, Interrupted, Step
from commandsync.errors import StalePlanError, TransportError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry, Snapshot, by_identity
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from typing import TypeAlias, TypeVar

    from commandsync.api.operations import Operation
    from commandsync.api.policy import Health
    from commandsync.apply.evidence import Evidence
    from commandsync.apply.ledger import Write
    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Event
    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan

    T = TypeVar("T")
    Steps: TypeAlias = Generator[Step, Event, T]
    Queue: TypeAlias = deque[Write]
    Entries: TypeAlias = tuple[Entry, ...]
    Replan: TypeAlias = Callable[[Snapshot], Plan]

REREADS = (0.0, 1.0, 3.0)
"""Seconds before each read of a list that may not show everything yet."""

_READ = -1  # the key of a read; a write goes under its change's index
_NO_ANSWER = TransportError("the run was ended before the answer came")


def apply(
    plan: Plan,
    *,
    listed: Snapshot,
    health: Health,
    replan: Replan | None = None,
    concurrency: int = 4,
    unordered: bool = False,
) -> Steps[Result]:
    """Carry out a plan.

    What the listing shows to be done already is not done again, so a saved plan that was
    interrupted is finished and one that was applied is left alone.

    Args:
        plan: What to do.
        listed: The listing as read just now, every collection of the plan's scope.
        health: Shared with the driver, which notes every attempt in it.
        replan: Makes the plan again from another listing; None for a saved plan, which is held
            against its own changes.
        concurrency: Most calls in flight.
        unordered: Send adds concurrently too; the listing then shows them in any order.

    Yields:
        Steps, as `commandsync.apply.steps` describes them.

    Returns:
        The outcome of every change, and whether reading showed that nothing is left to do.

    Raises:
        StalePlanError: Before the first step, when the plan no longer fits the listing.
    """
    progress = progress_of(plan, listed)
    run = _Run(_open_ledger(plan, progress, listed, health), width=concurrency)
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered else 1)
        yield from run.find_replacements(resource)
    yield from run.deletes()
    shown = dict(listed.collections)
    for resource in plan.scope:
        entries = yield from run.verify(resource)
        shown |= {} if entries is None else {resource: entries}
    run.plan_again(Snapshot(shown), replan)
    result = run.ledger.result()
    if news := run.ledger.news():
        yield Step(wait=0.0, settled=news)
    return result


def _open_ledger(
    plan: Plan, progress: Iterable[Progress], listed: Snapshot, health: Health
) -> Ledger:
    """Enter what was read before the first write, and what it shows to be done already."""
    now = {resource: by_identity(listed.collections[resource]) for resource in plan.scope}
    ledger = Ledger(
        plan,
        health,
        seen={resource: set(now[resource]) for resource in now},
        nameless={
            resource: sum(not isinstance(one, str) for one in now[resource]) for resource in now
        },
    )
    for write, one in zip(ledger.writes, progress, strict=True):
        write.added = one is Progress.ADDED
        if one is Progress.DONE:
            ledger.settle(write, Outcome.DONE, already=True)
    for resource in plan.scope:
        half = [write for write in ledger.of(resource) if write.added]
        entries = listed.collections[resource]
        wanted = [Entry(w.change.after) for w in half if isinstance(w.change, Replace)]
        for w, n in match(wanted, entries).pairs.items() if half else ():
            half[w].record, half[w].stored = entries[n].id, entries[n].text
    return ledger


@dataclass(frozen=True, slots=True)
class _Run:
    """The phases of one run, over its ledger."""

    ledger: Ledger
    width: int

    def edits(self) -> Steps[None]:
        queue = deque(write for write in self._to_do() if isinstance(write.change, Edit))
        yield from self._perform(queue, width=self.width)

    def adds(self, resource: Resource, *, width: int) -> Steps[None]:
        """Add one collection's records; after an unclear end, settle it before the next one."""
        ledger = self.ledger
        queue = deque(w for w in self._to_do() if w.adds and w.change.resource is resource)
        while queue and not ledger.stopped:
            yield from self._perform(queue, width=width, until_unclear=True)
            for write in reversed((yield from self._settle(resource))):
                # an announcement is never sent again within a run, a command once
                if resource is Resource.COMMAND and not write.first_error and not ledger.stopped:
                    write.first_error, write.error = write.error, None
                    queue.appendleft(write)
                else:
                    ledger.settle(write, Outcome.FAILED, write.error)

    def find_replacements(self, resource: Resource) -> Steps[None]:
        """Look for what replaces were answered to have added: only then may the old ones go."""
        ledger = self.ledger
        added = [write for write in ledger.of(resource) if write.added]
        for pause in REREADS:
            if ledger.stopped or all(write.succeeded for write in added):
                break
            yield from self._reread(resource, pause)
        for write in added:
            if not (ledger.stopped or write.succeeded):
                what = "it is listed with another text" if write.stored else "it is not listed"
                why = f"the service accepted it, but {what}"
                ledger.settle_missing(write, why, then=": the old one stays")

    def deletes(self) -> Steps[None]:
        """Delete what is to go, where every add of the same collection is done."""
        for resource in self.ledger.plan.scope:
            self._hold_back(resource, [w for w in self.ledger.of(resource) if w.lacks_record])
        queue = deque(w for w in self._to_do() if isinstance(w.change, Delete) or w.added)
        yield from self._perform(queue, width=self.width)

    def verify(self, resource: Resource) -> Steps[Entries | None]:
        """Read a changed collection again and hold every change against what it shows."""
        ledger = self.ledger
        changed = [write for write in ledger.of(resource) if write.sent]
        before = [write for write in ledger.of(resource) if write.done_before]
        evidence: dict[int, Evidence] = {}
        shown: Entries | None = None
        looks = 0
        for pause in REREADS if changed else ():
            entries = yield from self._reread(resource, pause)
            if entries is None:
                continue
            looks += 1
            shown = entries
            listed = by_identity(entries)
            evidence = {
                write.index: evidence_of(write.change, listed=listed, record=write.record)
                for write in (*changed, *before)
            }
            if all(evidence[write.index].conclusive for write in changed):
                break
        for write in (*changed, *before):
            if write.index in evidence:
                ledger.conclude(write, evidence[write.index], certain=looks == len(REREADS))
        ledger.note_copies(resource, by_identity(shown or ()))
        ledger.read_back = ledger.read_back and not (changed and shown is None)
        return shown

    def plan_again(self, listed: Snapshot, replan: Replan | None) -> None:
        """Enter what the listing, read back, leaves to do; a saved plan has its changes alone."""
        ledger = self.ledger
        written = ledger.read_back and any(write.sent for write in ledger.writes)
        if replan is None or not written:
            is_done = not written or _is_done(ledger.plan, listed)
            ledger.as_wanted = ledger.as_wanted and is_done and not ledger.plan.stuck
            return
        again = replan(listed)
        ledger.as_wanted = ledger.as_wanted and not again.changes and not again.stuck
        shown = [w.change for w in ledger.writes if w.rewrites or w.outcome is not Outcome.DONE]
        told = {_aim(change) for change in shown}
        ledger.note_new(again.notices, places={getattr(one, "location", None) for one in shown})
        ledger.note_left(
            [
                change
                for change in again.changes
                if _aim(change) not in told and not ledger.is_copy(change)
            ]
        )

    def _hold_back(self, resource: Resource, missing: list[Write]) -> None:
        """Skip one collection's deletes while adds are missing from it."""
        ledger = self.ledger
        if not missing or ledger.stopped:
            return
        first = missing[0]
        unknown = first.outcome is Outcome.UNKNOWN
        how = "has an unknown result" if unknown else "failed"
        mend = "run again" if unknown else "correct that entry and run again"
        why = f"deletes wait for adds, and the add of {first.change.name!r} {how}"
        for write in ledger.of(resource):
            if isinstance(write.change, Delete) and write.settled is None:
                ledger.settle(
                    write,
                    Outcome.SKIPPED,
                    why=why,
                    hint=f"{mend}; or make the deletes alone, with apply --only NAMES",
                )

    def _settle(self, resource: Resource) -> Steps[list[Write]]:
        """Find out by reading what became of the adds that ended unclearly.

        Returns:
            Those that certainly did not happen: the service said so, and every read was made and
            shows none of them.
        """
        ledger = self.ledger
        looks = 0
        for pause in REREADS:
            if not any(write.unclear_add for write in ledger.of(resource)):
                break
            if (yield from self._reread(resource, pause)) is None:
                continue
            looks += 1
        unclear = [write for write in ledger.of(resource) if write.unclear_add]
        others = ledger.strangers.get(resource)
        failed = []
        for write in unclear:
            if looks == len(REREADS) and not others and write.was_refused:
                failed.append(write)
            else:
                why = "it is not listed" if others else ""
                ledger.settle_missing(write, why, write.error, then=": " if others else "")
        return failed

    def _perform(self, queue: Queue, *, width: int, until_unclear: bool = False) -> Steps[None]:
        """Carry out queued writes, at most `width` at a time, until none is in flight."""
        ledger = self.ledger
        flying: set[int] = set()
        halted = False
        while True:
            start = () if halted else self._start(queue, width - len(flying))
            flying.update(call.key for call in start)
            if not flying:
                return
            event = yield Step(start, settled=ledger.news())
            if isinstance(event, Interrupted | Aborted):
                ledger.interrupt()
            for answer in _answers(event, flying):
                flying.discard(answer.key)
                write = ledger.writes[answer.key]
                ledger.note(write, answer)
                halted = halted or (until_unclear and write.unclear_add)

    def _start(self, queue: Queue, places: int) -> tuple[Call, ...]:
        """Take what may be started now from the queue."""
        if self.ledger.stopped:
            return ()
        some = [queue.popleft() for _ in range(min(places, len(queue)))]
        return tuple(Call(write.index, self._operation(write)) for write in some)

    def _reread(self, resource: Resource, pause: float) -> Steps[Entries | None]:
        """Read a collection after a pause; None when that failed or the user wants to stop."""
        ledger = self.ledger
        if pause and not ledger.interrupted:
            step = Step(wait=pause, settled=ledger.news())
            if isinstance((yield step), Interrupted | Aborted):
                ledger.interrupt()
        return None if ledger.interrupted else (yield from self._read(resource))

    def _read(self, resource: Resource) -> Steps[Entries | None]:
        ledger = self.ledger
        call = Call(_READ, reading(ledger.plan.target.bot, resource))
        step = Step((call,), settled=ledger.news())
        while True:
            event = yield step
            if isinstance(event, Answered):
                ledger.watch(event.error)
                if event.error:
                    ledger.unread = event.error.message
                    return None
                if ledger.blurred(resource, by_identity(event.value)):
                    ledger.unread = "records are shown without the ids that they had"
                    return None
                ledger.note_read(resource, by_identity(event.value))
                entries: Entries = event.value
                return entries
            if isinstance(event, Interrupted | Aborted):
                ledger.interrupt()
            if isinstance(event, Aborted):
                return None
            step = Step()

    def _to_do(self) -> list[Write]:
        """Return the changes that have no outcome yet."""
        return [write for write in self.ledger.writes if write.settled is None]

    def _operation(self, write: Write) -> Operation[str]:
        """Return the next request of a change."""
        bot, change = self.ledger.plan.target.bot, write.change
        resource = change.resource
        match change:
            case Edit():
                return operations.edit(bot, resource, change.id, change.after)
            case Replace(id=old) if write.added:
                return operations.delete(bot, resource, old)
            case Add() | Replace():
                return operations.add(bot, resource, change.after)
            case Delete():
                return operations.delete(bot, resource, change.id)
            case _:
                assert_never(change)


def _is_done(plan: Plan, listed: Snapshot) -> bool:
    """Whether a listing shows every change of a plan."""
    try:
        return all(one is Progress.DONE for one in progress_of(plan, listed))
    except StalePlanError:
        return False


def _aim(change: Change) -> tuple[object, ...]:
    """Return what tells whether two changes of one listing are after the same thing."""
    if isinstance(change, Delete):
        return (change.resource, change.id)
    return (change.resource, change.after)


def _answers(event: Event, flying: set[int]) -> list[Answered]:
    """Return what became of the calls in flight: after an abort, nobody hears of any of them."""
    match event:
        case Answered():
            return [event]
        case Aborted():
            return [Answered(index, error=_NO_ANSWER) for index in sorted(flying)]
        case _:
            return []
