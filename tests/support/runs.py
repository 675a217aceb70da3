"""Whole runs of the product on the simulated service, in simulated time: read, plan, apply.

The driver tries every order of answers and every moment of a stop. It does what the real drivers
do, with a heap of moments in place of threads: calls are carried through the policy, a 429 pauses
all of them, a stop ends waits at once. A request meets the service half-way through its flight, so
that what is in flight at an abort may have arrived or not.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any, Protocol, TypeAlias, TypeVar

from commandsync.api.operations import Operation, reading
from commandsync.api.policy import Failure, Health, Send, Wait, attempt
from commandsync.apply.outcomes import (
    Aborted,
    Answered,
    Call,
    Elapsed,
    Interrupted,
    Result,
    Settled,
    Step,
    StepResult,
)
from commandsync.apply.run import apply
from commandsync.errors import Reply, StoppedError, TransportError
from commandsync.plan.plan import RecordPlan, Target, make_plan
from commandsync.plan.rules import DeleteLimit, SyncRules
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import AnnouncementText, CommandText, Resource, Text
from commandsync.services.service import PAGE, RecordService
from tests.support.listing import Answer, Listing
from tests.support.plans import resource_of

T = TypeVar("T")
Moments: TypeAlias = Generator[None, None, T]
"""A run that gives way before each of its moments, so that another can come between."""


class Killed(BaseException):
    """The run was killed: nothing after this moment happens."""


@dataclass(frozen=True)
class Kill:
    """Kill the run at this moment, as SIGKILL does."""


Stop = Interrupted | Aborted | Kill


class Remote(Protocol):
    """A simulated service, as a driver needs it."""

    def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: Any = None,  # noqa: ANN401 - JSON
    ) -> Answer: ...


def to_its_end(moments: Moments[T]) -> T:
    """Run with nobody coming between."""
    while True:
        try:
            next(moments)
        except StopIteration as end:
            value: T = end.value
            return value


@dataclass(eq=False)
class _Flight:
    """One call on its way: the policy's generator and its state."""

    call: Call
    steps: Generator[Send | Wait, Reply | TransportError | bool, Any]
    doing: Send | Wait
    last: Reply | TransportError | None = None
    waiting: bool = False


@dataclass
class Driver:
    """Carries steps out against a simulated service."""

    service: Remote
    retries: int = 4  # how often an operation may be sent again
    # Gives the seconds of each request's flight; decides the order of the answers.
    flight: Callable[[], float] = lambda: 0.05
    # Makes another operation of each, to see that a wrong one is caught.
    bend: Callable[[Operation[Any]], Operation[Any]] = lambda operation: operation
    # What stops the run, by the moment: moments are counted over all that happens.
    stops: dict[int, Stop] = field(default_factory=dict)
    health: Health = field(default_factory=Health)  # of the run
    now: float = 0.0  # the simulated time in seconds
    moments: int = 0  # how many things have happened
    most: int = 0  # the most requests that were in flight at once
    # The keys of the calls, in the order in which apply started them.
    started: list[int] = field(default_factory=list)
    # What apply said was settled, in the order in which it said so.
    outcomes: list[Settled] = field(default_factory=list)
    _agenda: list[tuple[float, int, Callable[[], StepResult | None]]] = field(default_factory=list)
    _tickets: count[int] = field(default_factory=count)
    _in_flight: int = 0
    _closed_until: float = 0.0
    _stopped: bool = False
    _flights: list[_Flight] = field(default_factory=list)
    _underway: list[Callable[[], None]] = field(default_factory=list)

    def run(self, steps: Generator[Step, StepResult, T]) -> T:
        """Carry steps to their end.

        Raises:
            Killed: A `Kill` came first.
        """
        return to_its_end(self.running(steps))

    def running(self, steps: Generator[Step, StepResult, T]) -> Moments[T]:
        """Carry steps to their end, letting others do something before each moment."""
        try:
            step = next(steps)
            while True:
                self.outcomes += step.settled
                for call in step.start:
                    self.started.append(call.key)
                    self._start(call)
                assert step.wait is not None or self._flights, "nothing would ever happen"
                step = steps.send((yield from self._next_event(step.wait)))
        except StopIteration as end:
            value: T = end.value
            return value

    def land(self) -> None:
        """After an abort or a kill: what is in flight arrives, and nobody hears the answer."""
        while self._underway:
            arrive = self._underway.pop(0)
            arrive()

    def call(self, operation: Operation[T]) -> T:
        """Carry one operation out, with a health of its own."""
        return to_its_end(self.calling(operation))

    def calling(self, operation: Operation[T]) -> Moments[T]:
        """Carry one operation out, letting others do something before each moment."""
        kept, self.health = self.health, Health()
        self._start(Call(-1, operation))
        self.health = kept
        event = yield from self._next_event(None)
        while not isinstance(event, Answered):
            event = yield from self._next_event(None)
        if event.error is not None:
            raise event.error
        value: T = event.value
        return value

    def _start(self, call: Call) -> None:
        operation = self.bend(call.operation)
        steps = attempt(operation, retries=self.retries, jitter=lambda: 0.5, health=self.health)
        flight = _Flight(call, steps, next(steps))
        self._flights.append(flight)
        self._soon(0.0, lambda: self._go_on(flight))

    def _soon(self, seconds: float, what: Callable[[], StepResult | None]) -> None:
        heapq.heappush(self._agenda, (self.now + seconds, next(self._tickets), what))

    def _next_event(self, wait: float | None) -> Moments[StepResult]:
        end = None if wait is None else self.now + wait
        while True:
            yield
            stop = self.stops.pop(self.moments, None)
            self.moments += 1
            if isinstance(stop, Kill):
                raise Killed
            if stop is not None:
                self._stop()
                return stop
            if end is not None and (not self._agenda or self._agenda[0][0] >= end):
                self.now = end
                return Elapsed()
            self.now, _, happen = heapq.heappop(self._agenda)
            event = happen()
            if event is not None:
                return event

    def _stop(self) -> None:
        self._stopped = True
        for flight in [flight for flight in self._flights if flight.waiting]:
            flight.waiting = False
            self._soon(0.0, lambda flight=flight: self._resume(flight, answer=False))  # type: ignore[misc]

    def _go_on(self, flight: _Flight) -> StepResult | None:
        """Do what the policy says next."""
        if isinstance(flight.doing, Wait):
            if flight.doing.everyone:
                self._closed_until = max(self._closed_until, self.now + flight.doing.seconds)
            if self._stopped:
                return self._resume(flight, answer=False)
            flight.waiting = True
            self._soon(flight.doing.seconds, lambda: self._waited(flight))
            return None
        if self._stopped:
            return self._not_sent(flight)
        if self._closed_until > self.now:
            self._soon(self._closed_until - self.now, lambda: self._go_on(flight))
            return None
        self._in_flight += 1
        self.most = max(self.most, self._in_flight)
        half = self.flight() / 2

        def arrive() -> None:
            self._arrive(flight, half)

        def due() -> None:
            self._underway.remove(arrive)
            arrive()

        self._underway.append(arrive)
        self._soon(half, due)
        return None

    def _waited(self, flight: _Flight) -> StepResult | None:
        if not flight.waiting:
            return None  # a stop was faster
        flight.waiting = False
        return self._resume(flight, answer=True)

    def _arrive(self, flight: _Flight, half: float) -> None:
        if isinstance(flight.doing, Send) and flight.doing.other:
            flight.call = flight.call._replace(operation=flight.doing.other)
        one = flight.call.operation
        flight.last = answer = self.service.handle(one.method, one.path, one.query, one.body)

        def land() -> StepResult | None:
            self._in_flight -= 1
            return self._resume(flight, answer=answer)

        self._soon(half, land)

    def _resume(
        self, flight: _Flight, *, answer: Reply | TransportError | bool
    ) -> StepResult | None:
        try:
            flight.doing = flight.steps.send(answer)
        except StopIteration as end:
            return self._done(flight, Answered(flight.call.key, end.value))
        return self._go_on(flight)

    def _not_sent(self, flight: _Flight) -> StepResult | None:
        if flight.last is not None:
            return self._resume(flight, answer=flight.last)
        return self._done(flight, Answered(flight.call.key, Failure(StoppedError("stopped"))))

    def _done(self, flight: _Flight, event: Answered) -> StepResult:
        self._flights.remove(flight)
        return event


BOT = "42"
TARGET = Target(bot=BOT, base_url="https://listing.example", abilities=PAGE.abilities)
EVERYTHING = SyncRules(max_deletes=DeleteLimit(), announcements="mirror")
"""Prunes and mirrors without a limit."""


def command(name: str, description: str = "Does it.", syntax: str = "", category: str = "") -> Text:
    """Return a command's text; its syntax is its name when none is given."""
    return CommandText(name, description, syntax or f"/{name}", category)


def announcement(title: str, description: str = "It is out.") -> Text:
    """Return an announcement's text."""
    return AnnouncementText(title, description)


def wanted(
    commands: Iterable[Text | Entry] | None = None,
    announcements: Iterable[Text | Entry] | None = None,
) -> Snapshot:
    """Return the desired side."""
    given = {Resource.COMMAND: commands, Resource.ANNOUNCEMENT: announcements}
    return Snapshot(
        {
            resource: tuple(one if isinstance(one, Entry) else Entry(one) for one in some)
            for resource, some in given.items()
            if some is not None
        }
    )


def seed(service: Listing, texts: Iterable[Text]) -> None:
    """Put texts on the service as they are."""
    for text in texts:
        service.seed(resource_of(text).collection, [text._asdict()])


def read(driver: Driver, scope: Iterable[Resource]) -> Snapshot:
    """Read the listing; raises as the operations do."""
    return to_its_end(reading_page(driver, scope))


def reading_page(driver: Driver, scope: Iterable[Resource]) -> Moments[Snapshot]:
    """Read the listing of a page, letting others do something before each moment."""
    collections = {}
    for resource in scope:
        collections[resource] = yield from driver.calling(reading(BOT, resource))
    return Snapshot(collections)


@dataclass(frozen=True)
class Parts:
    """What a run is made of; others replace parts, to test that a wrong one is caught.

    Attributes:
        planning: Makes the plan.
        applying: Makes the steps.
        bend: Makes another operation of each.
        replanning: Makes the plan again, to verify.
        reading: Reads the listing.
        service: Whose listing it is.
    """

    planning: Callable[..., RecordPlan] = make_plan
    applying: Callable[..., Generator[Step, StepResult, Result]] = apply
    bend: Callable[[Operation[Any]], Operation[Any]] = lambda operation: operation
    replanning: Callable[..., RecordPlan] = make_plan
    reading: Callable[[Driver, Iterable[Resource]], Moments[Snapshot]] = reading_page
    service: RecordService = PAGE


PRODUCT = Parts()


@dataclass
class Run:
    """One run, as far as it came."""

    driver: Driver
    plan: RecordPlan
    result: Result


def sync(
    service: Remote,
    desired: Snapshot,
    *,
    rules: SyncRules = EVERYTHING,
    driver: Driver | None = None,
    concurrency: int = 4,
    unordered: bool = False,
    now: datetime | None = None,
) -> Run:
    """Make the listing match, as `commandsync apply` does it.

    Raises:
        ListingError: The listing cannot be read.
        Killed: The driver was told to.
    """
    driver = driver or Driver(service)
    return to_its_end(
        syncing(
            driver,
            desired,
            concurrency=concurrency,
            unordered=unordered,
            rules=rules,
            now=now,
        )
    )


def syncing(
    driver: Driver,
    desired: Snapshot,
    *,
    concurrency: int = 4,
    unordered: bool = False,
    parts: Parts = PRODUCT,
    **others: Any,  # noqa: ANN401 - what else a plan is made of
) -> Moments[Run]:
    """Make the listing match as `sync` does, letting others come between."""
    driver.bend = parts.bend
    listed = yield from parts.reading(driver, desired.scope)
    sides = {"desired": desired, "target": TARGET, "rules": EVERYTHING, **others}
    plan = parts.planning(listed=listed, **sides)
    result = yield from driver.running(
        parts.applying(
            plan,
            service=parts.service,
            listed=listed,
            health=driver.health,
            replan=lambda again: parts.replanning(listed=again, **sides),
            concurrency=concurrency,
            unordered=unordered,
        )
    )
    return Run(driver, plan, result)


def finishing(
    driver: Driver, plan: RecordPlan, *, unordered: bool = False, parts: Parts = PRODUCT
) -> Moments[Run]:
    """Apply a saved plan, as `commandsync apply --plan` does it."""
    driver.bend = parts.bend
    listed = yield from parts.reading(driver, plan.scope)
    steps = parts.applying(
        plan, service=parts.service, listed=listed, health=driver.health, unordered=unordered
    )
    result = yield from driver.running(steps)
    return Run(driver, plan, result)


def carry_out(
    plan: RecordPlan,
    listed: Snapshot,
    driver: Driver,
    *,
    concurrency: int = 4,
    unordered: bool = False,
) -> Result:
    """Apply a plan to a listing that was just read."""
    return driver.run(
        apply(
            plan,
            service=PAGE,
            listed=listed,
            health=driver.health,
            concurrency=concurrency,
            unordered=unordered,
        )
    )


def plan_now(service: Remote, desired: Snapshot, *, rules: SyncRules = EVERYTHING) -> RecordPlan:
    """Return the plan against what the service shows now."""
    listed = read(Driver(service), desired.scope)
    return make_plan(desired=desired, listed=listed, target=TARGET, rules=rules)
