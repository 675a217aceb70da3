"""Make the listing match a plan: a generator of steps in, events out, that knows no HTTP.

Order of writes: edits, then adds one by one in the manifest's order, deletes last and only where
every add of their collection is done, so that an interruption or a failure leaves too much rather
than too little. The old record of a replace is deleted only when a read has shown the new one. An
add whose result is unknown is settled by reading the list. At the end each changed collection is
read once more and planned again: what is called verified has been seen.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from commandsync.api import operations
from commandsync.api.listing import reading
from commandsync.api.policy import says_it_failed
from commandsync.apply.claims import Claims, without_id
from commandsync.apply.ledger import Ledger, State, Write
from commandsync.apply.resume import progress_of
from commandsync.apply.steps import Aborted, Answered, Call, Interrupted, Step
from commandsync.apply.verification import compare, conclude, evidence_of
from commandsync.errors import TransportError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.plan.matching import match
from commandsync.records.snapshot import Entry, Snapshot, by_identity

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeAlias, TypeVar

    from commandsync.api.operations import Operation
    from commandsync.api.policy import Health
    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Event
    from commandsync.apply.verification import Evidence
    from commandsync.plan.plan import Plan
    from commandsync.records.texts import Resource

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
    run = open_run(plan, listed, health, concurrency=concurrency)
    yield from run.edits()
    for resource in plan.scope:
        yield from run.adds(resource, width=concurrency if unordered else 1)
        yield from run.find_replacements(resource)
    yield from run.deletes()
    shown = dict(listed.collections)
    for resource in plan.scope:
        entries = yield from run.verify(resource)
        shown |= {} if entries is None else {resource: entries}
    compare(run.ledger, Snapshot(shown), replan=replan, claims=run.claims)
    result = run.ledger.result()
    if news := run.ledger.news():
        yield Step(wait=0.0, settled=news)
    return result


def open_run(plan: Plan, listed: Snapshot, health: Health, *, concurrency: int) -> Run:
    """Enter what was read before the first write, and what it shows to be done already."""
    states = progress_of(plan, listed)
    writes = [
        Write(index, change, [state])
        for index, (change, state) in enumerate(zip(plan.changes, states, strict=True))
    ]
    run = Run(Ledger(plan, health, tuple(writes)), width=concurrency)
    for resource in plan.scope:
        entries = listed.collections[resource]
        now = by_identity(entries)
        mine = tuple(run.ledger.of(resource))
        run.claims[resource] = Claims(run.ledger, resource, mine, set(now), without_id(now))
        half = [write for write in mine if write.state is State.ADDED]
        new = [Entry(w.change.after) for w in half if isinstance(w.change, Replace)]
        for w, n in match(new, entries).pairs.items() if half else ():
            half[w].record, half[w].stored = entries[n].id, entries[n].text
    return run


@dataclass(frozen=True, slots=True)
class Run:
    """The phases of one run.

    Attributes:
        ledger: Its ledger.
        width: Most calls in flight.
        claims: The new records of each collection.
    """

    ledger: Ledger
    width: int
    claims: dict[Resource, Claims] = field(default_factory=dict)

    def edits(self) -> Steps[None]:
        """Send the edits."""
        pending = self.ledger.in_state(State.PENDING)
        queue = deque(write for write in pending if isinstance(write.change, Edit))
        yield from self.perform(queue, width=self.width)

    def adds(self, resource: Resource, *, width: int) -> Steps[None]:
        """Add one collection's records; settle an unknown result before the next one."""
        ledger = self.ledger
        pending = ledger.in_state(State.PENDING)
        queue = deque(w for w in pending if w.adds and w.change.resource is resource)
        while queue and not ledger.stopped:
            yield from self.perform(queue, width=width, until_unclear=True)
            for write in reversed((yield from self._settle_adds(resource))):
                # a second one at most, and none of what cannot be edited: readers see each post
                first = resource.editable and State.REJECTED not in write.states
                if first and not ledger.stopped:
                    write.become(State.REJECTED)
                    queue.appendleft(write)
                else:
                    ledger.settle(write, State.FAILED)

    def find_replacements(self, resource: Resource) -> Steps[None]:
        """Look for the new records of replaces: the old ones may be deleted only after that."""
        ledger = self.ledger
        added = [write for write in ledger.of(resource) if write.state is State.ADDED]
        for pause in REREADS:
            if ledger.stopped or all(write.succeeded for write in added):
                break
            yield from self._reread(resource, pause)
        for write in added:
            if not (ledger.stopped or write.succeeded):
                what = "it is listed with another text" if write.stored else "it is not listed"
                why = f"the service accepted it, but {what}"
                self.claims[resource].settle_missing(write, why, ": the old one stays")

    def deletes(self) -> Steps[None]:
        """Delete what is to go, where every add of the same collection is done."""
        for resource in self.ledger.plan.scope:
            self._hold_back(resource)
        pending = self.ledger.in_state(State.PENDING, State.ADDED)
        queue = deque(w for w in pending if not w.adds and not isinstance(w.change, Edit))
        yield from self.perform(queue, width=self.width)

    def verify(self, resource: Resource) -> Steps[Entries | None]:
        """Read a changed collection again and compare every change with it."""
        ledger, claims = self.ledger, self.claims[resource]
        changed = [write for write in claims.writes if write.sent]
        before = [
            write
            for write in claims.writes
            if write.states == [State.DONE] and isinstance(write.change, Edit | Delete)
        ]
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
        for write in (*changed, *before) if shown is not None else ():
            certain = looks == len(REREADS)
            conclude(write, evidence[write.index], claims, certain=certain)
        claims.note_copies(by_identity(shown or ()))
        ledger.read_back = ledger.read_back and not (changed and shown is None)
        return shown

    def _hold_back(self, resource: Resource) -> None:
        """Skip one collection's deletes where a record that was to be added is missing."""
        ledger, writes = self.ledger, self.claims[resource].writes
        missing = [write for write in writes if write.adds and write.state is not State.DONE]
        if not missing or ledger.stopped:
            return
        unknown = missing[0].state is State.UNKNOWN
        how = "has an unknown result" if unknown else "failed"
        mend = "run again" if unknown else "correct that entry and run again"
        why = f"deletes wait for adds, and the add of {missing[0].change.name!r} {how}"
        hint = f"{mend}; or make the deletes alone, with apply --only NAMES"
        for write in writes:
            if isinstance(write.change, Delete) and write.state is State.PENDING:
                ledger.settle(write, State.SKIPPED, why, hint)

    def _settle_adds(self, resource: Resource) -> Steps[list[Write]]:
        """Find out by reading which adds with an unknown result happened.

        Returns:
            Those that certainly did not happen: the service said so, and every read was made and
            shows none of them.
        """
        claims = self.claims[resource]
        looks = 0
        for pause in REREADS:
            if not any(write.state is State.UNCLEAR for write in claims.writes if write.adds):
                break
            looks += (yield from self._reread(resource, pause)) is not None
        failed = []
        others = bool(claims.unclaimed)
        for write in claims.writes:
            error = write.error if write.state is State.UNCLEAR and write.adds else None
            if error is None:
                continue
            if looks == len(REREADS) and not others and says_it_failed(error):
                failed.append(write)
            else:
                claims.settle_missing(write, "it is not listed" * others, ": " * others)
        return failed

    def perform(self, queue: Queue, *, width: int, until_unclear: bool = False) -> Steps[None]:
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
                halted = halted or (until_unclear and write.state is State.UNCLEAR)

    def _start(self, queue: Queue, places: int) -> tuple[Call, ...]:
        """Take what may be started now from the queue."""
        if self.ledger.stopped:
            return ()
        some = [queue.popleft() for _ in range(min(places, len(queue)))]
        bot = self.ledger.plan.target.bot
        return tuple(Call(write.index, _operation(bot, write)) for write in some)

    def _reread(self, resource: Resource, pause: float) -> Steps[Entries | None]:
        """Read a collection after a pause; None when that failed or the user wants to stop."""
        ledger = self.ledger
        if pause and not ledger.interrupted:
            step = Step(wait=pause, settled=ledger.news())
            if isinstance((yield step), Interrupted | Aborted):
                ledger.interrupt()
        return None if ledger.interrupted else (yield from self._read(resource))

    def _read(self, resource: Resource) -> Steps[Entries | None]:
        ledger, claims = self.ledger, self.claims[resource]
        call = Call(_READ, reading(ledger.plan.target.bot, resource))
        step = Step((call,), settled=ledger.news())
        while True:
            event = yield step
            if isinstance(event, Answered):
                ledger.watch(event.error)
                if event.error:
                    ledger.unread = event.error.message
                    return None
                entries: Entries = event.value
                listed = by_identity(entries)
                if claims.lost_ids(listed):
                    ledger.unread = "records are listed without the ids that they had"
                    return None
                claims.assign(listed)
                return entries
            if isinstance(event, Interrupted | Aborted):
                ledger.interrupt()
            if isinstance(event, Aborted):
                return None
            step = Step()


def _operation(bot: str, write: Write) -> Operation[str]:
    """Return the next request of a change."""
    change = write.change
    resource = change.resource
    match change:
        case Edit():
            return operations.edit(bot, resource, change.id, change.after)
        case Replace(id=old) if not write.adds:
            return operations.delete(bot, resource, old)
        case Add() | Replace():
            return operations.add(bot, resource, change.after)
        case Delete():
            return operations.delete(bot, resource, change.id)
        case _:
            assert_never(change)


def _answers(event: Event, flying: set[int]) -> list[Answered]:
    """Return the answers of the calls in flight: after an abort, none of them is awaited."""
    match event:
        case Answered():
            return [event]
        case Aborted():
            return [Answered(index, error=_NO_ANSWER) for index in sorted(flying)]
        case _:
            return []
