"""The proof that nothing is lost and nothing twice: cases of what goes wrong, each judged.

A case breaks one run, or several, on its own service. Then the faults end, and at most two more
runs must leave exactly the wanted listing. Each change of the listing is checked for copies that
nobody declared, and for records that were to stay and are gone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import TYPE_CHECKING, Any

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ListingError, StalePlanError
from commandsync.plan.changes import Add, Delete, Edit, Replace
from tests.support.driver import Driver, Kill, Killed, to_its_end
from tests.support.listing import FIELDS, Fault, Listing, Request
from tests.support.runs import PRODUCT, Parts, Run, finishing, plan_now, seed, syncing
from tests.support.scene import KEPT, Scene, scene

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commandsync.plan.changes import Change
    from commandsync.plan.plan import Plan
    from commandsync.records.snapshot import Snapshot
    from tests.support.driver import Moments, Stop
    from tests.support.scene import Texts

SCENE = scene("the proof")
"""What tests play that judge a run by themselves; each case draws its own."""

OPERATIONS = ("read", "add", "edit", "delete", "post", "withdraw")
"""The columns of the table: post and withdraw are an announcement's add and delete."""

MOST_RUNS = 2
"""So many more runs must be enough when the faults have ended."""


def operation_of(request: Request) -> str:
    """Return the column that a request belongs to."""
    names = {"add": "post", "delete": "withdraw"}
    is_post = request.collection == "announcements"
    return names.get(request.kind, request.kind) if is_post else request.kind


def texts_of(service: Listing) -> Texts:
    return Counter([*service.texts("commands"), *service.texts("announcements")])


def ids_of(service: Listing) -> set[str]:
    return {*service.ids("commands"), *service.ids("announcements")}


@dataclass
class Stage:
    """A service, what runs on it, and what was seen to be wrong.

    Attributes:
        service: The service.
        scene: What is listed at first, and what is wanted.
        parts: What the runs are made of.
        saved: The plan that every run applies; None to plan anew each time.
        unordered: Whether adds are sent concurrently.
        copies: How many records there were too many, at the worst moment.
        lost: How many there were too few.
        untrue: Outcomes that do not say what is so.
        problems: All of it in words.
    """

    service: Listing
    scene: Scene = SCENE
    parts: Parts = PRODUCT
    saved: Plan | None = None
    unordered: bool = False
    copies: int = 0
    lost: int = 0
    untrue: int = 0
    problems: list[str] = field(default_factory=list)
    _others: Texts = field(default_factory=Counter)
    _last: Texts = field(default_factory=Counter)

    def __post_init__(self) -> None:
        seed(self.service, self.scene.before)
        self._last = texts_of(self.service)
        self.service.witness = self._look

    def save(self) -> None:
        """Make the plan now that every run applies."""
        self.saved = plan_now(self.service, self.scene.desired)

    def running(self, driver: Driver, desired: Snapshot | None = None) -> Moments[Run]:
        """Return one run; of the scene's desired side if no other is given."""
        desired = desired or self.scene.desired
        if self.saved is not None:
            return finishing(driver, self.saved, unordered=self.unordered, parts=self.parts)
        return syncing(driver, desired, unordered=self.unordered, parts=self.parts)

    def run(self, driver: Driver | None = None) -> Run | None:
        """Run to its end, and judge what it says; None when it was killed or could not begin."""
        driver = driver or Driver(self.service)
        were, begun = texts_of(self.service), len(self.service.requests)
        try:
            run = to_its_end(self.running(driver))
        except Killed:
            return None
        except (ListingError, StalePlanError):
            self._say(texts_of(self.service) != were, "it could not begin, and changed something")
            return None
        self.judge(run, were, begun)
        return run

    def judge(self, run: Run, were: Texts, begun: int) -> None:
        """Hold what a run says against what is really there."""
        now, result = texts_of(self.service), run.result
        for settled in result.settled:
            is_so = happened(settled.change, self.service, now)
            if settled.outcome is Outcome.DONE:
                self._say(not is_so, f"{settled.change.name} is not done")
            elif settled.outcome is not Outcome.UNKNOWN:
                self._say(is_so, f"{settled.change.name} is {settled.outcome} and is done")
        self._say(result.complete and now != self.scene.wanted, "exit 0 while the listing differs")
        self._say(not result.touched and now != were, "it says that nothing was changed")
        requests = self.service.requests[begun:]
        ours = {change.id for change in run.plan.changes if isinstance(change, Delete | Replace)}
        gone = {request.path.rsplit("/", 1)[1] for request in requests if request.kind == "delete"}
        self._say(not gone <= ours, "it deletes outside its plan")
        kinds = [request.kind for request in requests if request.method != "GET"]
        ordered = sorted(kinds, key=lambda kind: kind == "delete")
        self._say(kinds != ordered, "it deletes before it has added and edited")

    def late(self, run: Run | None) -> None:
        """Let what is late arrive, and judge whether the run had ruled it out."""
        self.service.settle()
        now = texts_of(self.service)
        for settled in run.result.settled if run else ():
            ruled_out = settled.outcome in {Outcome.FAILED, Outcome.SKIPPED}
            is_so = happened(settled.change, self.service, now)
            self._say(
                ruled_out and is_so, f"{settled.change.name} is {settled.outcome} and arrived"
            )

    def converge(self) -> int:
        """End all faults, run again, and return how many runs it took.

        A run that is not enough within `MOST_RUNS`, loses an id or writes for ever is a problem.
        """
        self.service.faults.clear()
        self.service.choose = lambda _: None
        self.service.settle()
        for taken in range(MOST_RUNS + 1):
            if texts_of(self.service) == self.scene.wanted:
                break
            if taken < MOST_RUNS:
                self.run()
        else:
            taken = MOST_RUNS + 1
        begun = len(self.service.requests)
        last = self.run()
        missing = KEPT - ids_of(self.service)
        self._fail(texts_of(self.service) != self.scene.wanted, "it does not converge")
        self._fail(bool(self.service.writes(begun)), "a further run writes")
        self._fail(last is None or not last.result.complete, "a further run is not complete")
        if missing:
            self.lost += len(missing)
            self.problems.append(f"ids are lost: {sorted(missing)}")
        return taken

    def _look(self, service: Listing, author: int) -> None:
        """Look at a change; what another writer adds is not ours to answer for."""
        now = texts_of(service)
        if author:
            self._others += now - self._last
        self._last = now
        copies = (now - (self.scene.were | self.scene.wanted) - self._others).total()
        names = Counter(text[0] for text in now.elements())
        lost = (self.scene.staying - names).total()
        if copies > self.copies:
            self.problems.append(f"copies: {now - (self.scene.were | self.scene.wanted)}")
        if lost > self.lost:
            self.problems.append(f"lost for a moment: {self.scene.staying - names}")
        self.copies, self.lost = max(copies, self.copies), max(lost, self.lost)

    def _say(self, wrong: bool, what: str) -> None:  # noqa: FBT001 - a claim and its words
        if wrong:
            self.untrue += 1
            self.problems.append(what)

    def _fail(self, wrong: bool, what: str) -> None:  # noqa: FBT001 - as above
        if wrong:
            self.problems.append(what)


def happened(change: Change, service: Listing, now: Texts) -> bool:
    """Whether a change is to be seen in what is stored in truth, the texts of which are `now`."""
    match change:
        case Delete():
            return change.id not in ids_of(service)
        case Replace():
            return now[tuple(change.after)] > 0 and change.id not in ids_of(service)
        case Edit():
            (text,) = [
                tuple(record.get(name) or "" for name in FIELDS["commands"])
                for record in service.stored["commands"]
                if record["id"] == change.id
            ] or [()]
            return text == tuple(change.after)
        case Add():
            return now[tuple(change.after)] > 0


@dataclass(frozen=True)
class Case:
    """Something that goes wrong.

    Attributes:
        row: What, as the table calls it.
        column: With which operation, or the kind of run that it happens to.
        mode: How the runs are made.
        break_it: Breaks the first run, or the first few; returns the last of them if it ended.
        detail: Which moment, or which schedule.
    """

    row: str
    column: str
    mode: str
    break_it: Callable[[Stage], Run | None]
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.row} / {self.column} / {self.mode} / {self.detail}"


@dataclass(frozen=True)
class Verdict:
    """What came of a case."""

    runs: int
    copies: int
    lost: int
    untrue: int
    problems: tuple[str, ...]


MODES: dict[str, dict[str, Any]] = {
    "apply": {},
    "unordered": {"unordered": True},
    "saved plan": {},
    "told ids": {},
}


def prove(case: Case, parts: Parts = PRODUCT) -> Verdict:
    """Play a case to its end and judge it."""
    service = Listing(tells=case.mode == "told ids")
    stage = Stage(service, scene(str(case)), parts, **MODES[case.mode])
    if case.mode == "saved plan":
        stage.save()
        service.requests.clear()
    stage.late(case.break_it(stage))
    runs = stage.converge()
    return Verdict(runs, stage.copies, stage.lost, stage.untrue, tuple(stage.problems))


def meets(fault: Fault, operation: str) -> bool:
    """Whether a fault can be told from none on this operation."""
    return operation == "read" or not fault.name.startswith(("records ", "ids "))


def on_one(operation: str, fault: Fault, nth: int, mode: str) -> Case:
    """The nth request of a kind goes wrong."""

    def break_it(stage: Stage) -> Run | None:
        met = count()
        stage.service.choose = lambda request: (
            fault if operation_of(request) == operation and next(met) == nth else None
        )
        return stage.run()

    return Case(fault.name, operation, mode, break_it, f"the one of number {nth}")


def on_all(operation: str, fault: Fault, first: int, mode: str) -> Case:
    """All requests of a kind go wrong from one on, through two runs."""

    def break_it(stage: Stage) -> Run | None:
        met = count()
        stage.service.choose = lambda request: (
            fault if operation_of(request) == operation and next(met) >= first else None
        )
        stage.run()
        return stage.run()

    return Case(fault.name, operation, mode, break_it, f"all from number {first}")


def stopped_at(moment: int, stop: Stop, mode: str, *, lands: bool) -> Case:
    """The run is killed, interrupted or aborted; what is in flight then arrives or does not."""
    name = {"Kill": "killed", "Interrupted": "interrupted", "Aborted": "aborted"}
    row = name[type(stop).__name__] + (", in flight arrives" if lands else "")

    def break_it(stage: Stage) -> Run | None:
        driver = Driver(stage.service, stops={moment: stop})
        run = stage.run(driver)
        if lands:
            driver.land()
        return run

    return Case(row, "any moment", mode, break_it, f"moment {moment}")


def moments_of(mode: str) -> int:
    """How many moments a run has in which nothing goes wrong."""
    stage = Stage(Listing(tells=mode == "told ids"), **MODES[mode])
    if mode == "saved plan":
        stage.save()
    driver = Driver(stage.service)
    stage.run(driver)
    return driver.moments


@dataclass(frozen=True)
class Schedule:
    """Faults, a kill and a second run, as drawn.

    Attributes:
        faults: What goes wrong, by the request's number.
        kills: When the judged runs are killed, one after the other; a late moment kills nothing.
        flights: Tenths of a second that requests take, in turn.
        turns: Who moves next, in turn: 0 the judged run, 1 the other; empty for no other.
        same: Whether the other one wants the same.
    """

    faults: dict[int, Fault]
    kills: tuple[int, ...] = ()
    flights: tuple[int, ...] = (1,)
    turns: tuple[int, ...] = ()
    same: bool = True


def scheduled(schedule: Schedule, mode: str) -> Case:
    """Whatever a schedule says goes wrong.

    What a run left behind shows before the next one begins: of what a service hides for longer, no
    later run can know.
    """

    def break_it(stage: Stage) -> Run | None:
        stage.service.faults = dict(schedule.faults)
        flights = cycle(schedule.flights)
        flight = lambda: next(flights) / 10  # noqa: E731 - one word for two drivers
        last = None
        if schedule.turns:
            others = stage.scene.desired if schedule.same else stage.scene.other
            interleaved(stage, schedule.turns, others, flight)
        for moment in schedule.kills or (() if schedule.turns else (10**6,)):
            stage.service.settle()
            last = stage.run(Driver(stage.service, flight=flight, stops={moment: Kill()}))
        return last

    row = "two runs at once" if schedule.turns else "random faults and kills"
    names = {number: fault.name for number, fault in schedule.faults.items()}
    detail = f"{names} {schedule.kills} {schedule.flights} {schedule.turns} {schedule.same}"
    return Case(row, "random", mode, break_it, detail)


def interleaved(
    stage: Stage,
    turns: Sequence[int],
    desired: Snapshot,
    flight: Callable[[], float] = lambda: 0.1,
) -> list[Run | None]:
    """Play two runs at once, one moment of one or the other at a time, as the turns say."""
    drivers = [Driver(stage.service, flight=flight) for _ in range(2)]
    runs: list[Moments[Run]] = [stage.running(drivers[0]), stage.running(drivers[1], desired)]
    ended: dict[int, Run | None] = {}
    order = cycle(turns)
    while len(ended) < len(runs):
        mover = next(order)
        if mover in ended:
            mover = 1 - mover
        stage.service.author = mover
        try:
            next(runs[mover])
        except StopIteration as end:
            ended[mover] = end.value
            _judge_at_once(stage, end.value)
        except (ListingError, StalePlanError):
            ended[mover] = None
    stage.service.author = 0
    return [ended[n] for n in range(len(runs))]


def _judge_at_once(stage: Stage, run: Run) -> None:
    """Judge what must hold even if another run writes too: what is done is there, or was."""
    now = texts_of(stage.service)
    deleted = {
        request.path.rsplit("/", 1)[1]
        for request in stage.service.requests
        if request.kind == "delete"
    }
    for settled in run.result.settled:
        if settled.outcome is Outcome.DONE and isinstance(settled.change, Delete):
            is_so = settled.change.id in deleted or happened(settled.change, stage.service, now)
            stage._say(not is_so, f"{settled.change.name} is not gone")  # noqa: SLF001 - its own judge


def every_pair(faults: Sequence[Fault], mode: str, *, most: int = 9) -> Iterator[Case]:
    """Every fault with every operation, at every moment that the operation comes."""
    for operation in OPERATIONS:
        for fault in faults:
            if not meets(fault, operation):
                continue
            for nth in range(min(most, _TIMES[operation])):
                yield on_one(operation, fault, nth, mode)


_TIMES = {"read": 8, "add": 4, "edit": 5, "delete": 4, "post": 3, "withdraw": 4}
"""How often each operation comes in a run, tries after a fault included."""
