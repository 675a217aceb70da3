"""The play of a case: runs with what comes between, then quiet ones, all of them judged.

`prove` plays a case, and `told` tells the whole story of one. Each change of the listing is checked
too: for a copy that nobody wanted, and for a record that was to stay and is gone.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count, cycle
from typing import Any

from commandsync.errors import TooManyDeletesError
from commandsync.plan.plan import RecordPlan
from commandsync.records.snapshot import Snapshot
from tests.support import checks
from tests.support.cases import (
    ENDS,
    FEW_READS,
    Case,
    Problem,
    Trial,
    collection_of,
    do,
    operation_of,
    refusal,
    story_of,
)
from tests.support.checks import check_plan, check_requests, check_result, check_saved
from tests.support.listing import FIELDS, Fault, Listing, Request
from tests.support.oracle import Text, Texts
from tests.support.runs import (
    PRODUCT,
    TARGET,
    Driver,
    Moments,
    Parts,
    Run,
    Stop,
    finishing,
    read,
    syncing,
    to_its_end,
)

MOST_RUNS = 2
"""So many runs must be enough on a service that keeps what it is sent."""

_MORE = 2  # quiet runs after that, in which nothing may move


@dataclass
class Story:
    """A case being played.

    Attributes:
        case: The case.
        parts: What the runs are made of.
        drive: Makes one run; by default in simulated time.
        trials: The runs so far.
        problems: What must not be.
    """

    case: Case
    parts: Parts = PRODUCT
    drive: "Callable[[Story, Trial], Run]" = lambda story, trial: story.simulated(trial)
    trials: list[Trial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    service: Listing = field(default_factory=Listing)
    _saved: RecordPlan | None = None
    _quiet: bool = False
    _met: Iterator[int] = field(default_factory=count)
    _others: Counter[Text] = field(default_factory=Counter)
    _last: Counter[Text] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.case.way.on(self.service)
        for n, (one, text) in enumerate(self.case.before):
            name = collection_of(text)
            record = dict(zip(FIELDS[name], text, strict=True))
            self.service.seed(name, [{"id": one, "uses": 7 * (n % 2), **record}])
        self._last = self._texts()
        if self.case.watched:
            self.service.witness = self._look

    def play(self) -> None:
        """Play it: the runs with trouble, then the quiet ones."""
        case = self.case
        if case.saved and not self._save():
            return
        self.service.choose = self._come_between
        if case.turns:
            if not self.trials:
                self.run_two_at_once()
            self._put_right()
        stops: list[dict[int, Stop]] = [{moment: stop} for moment, stop in case.stops]
        troubled = bool(case.acts or case.met or (case.faults and not case.turns))
        for stop in stops or ([{}] if troubled else []):
            trials = [self._run(stop)]
            if case.met and case.met.stays:  # what is late arrives in the next run
                trials.append(self._run({}))
            self._judge(*trials)
        self._quiet = True
        for _ in range(MOST_RUNS + (0 if case.way.keeps_records else -1)):
            self._judge(self._run({}))
        self._judge_the_end()

    def left(self) -> list[str]:
        """Say what is not yet as it is wanted."""
        return checks.left(self.case, self.service)

    def now(self, name: str) -> Texts:
        """Return what is stored in truth."""
        return checks.now(self.service, name)

    def _texts(self) -> Counter[Text]:
        return Counter(text for name in FIELDS for text in self.service.texts(name))

    def _look(self, service: Listing, author: int) -> None:
        """Look at a change of the listing; what another writer adds is not ours to answer for."""
        now = self._texts()
        if author:
            self._others += now - self._last
        self._last = now
        seen = checks.momentary(self.case, service, now, self._others)
        known = {problem.kind for problem in self.problems}
        self.problems += [
            Problem(kind, f"{texts}") for kind, texts in seen.items() if texts and kind not in known
        ]

    def _save(self) -> bool:
        listed = read(Driver(self.service), self.case.desired.scope)
        self._saved = self.parts.planning(
            desired=self.case.desired, listed=listed, target=TARGET, rules=self.case.rules
        )
        trial = Trial(self.case, self.service, 0, len(self.service.requests), self._saved)
        trial.refusal = "refused" if self._saved.refusal else ""
        self.trials.append(trial)
        self.problems += check_plan(trial)
        return not trial.refusal

    def _come_between(self, request: Request) -> Fault | None:
        if self._quiet:
            return None
        for act in self.case.acts:
            if act.at == request.number:
                do(act, self.service)
        met = self.case.met
        if met and operation_of(request) == met.operation and met.meets(next(self._met)):
            return met.fault
        return next((fault for at, fault in self.case.faults if at == request.number), None)

    def _run(self, stops: dict[int, Stop]) -> Trial:
        """Run once."""
        trial = Trial(self.case, self.service, len(self.service.requests), plan=self._saved)
        trial.quiet = self._quiet
        flights = cycle(self.case.flights)
        trial.driver = Driver(self.service, flight=lambda: next(flights) / 10, stops=dict(stops))
        try:
            trial.ran(self.drive(self, trial))
        except ENDS as error:
            trial.refusal = refusal(error)
        if stops and self.case.lands:
            trial.driver.land()
        trial.ended = len(self.service.requests)
        self.trials.append(trial)
        return trial

    def simulated(self, trial: Trial) -> Run:
        """Make a run in simulated time."""
        assert trial.driver
        return to_its_end(self._running(trial.driver, trial))

    def _judge(self, *trials: Trial) -> None:
        """Let what is late arrive, and judge runs."""
        self.service.settle()
        for trial in trials:
            if self._saved is None:
                self.problems += check_plan(trial)
            self.problems += [*check_requests(trial), *check_result(trial), *check_saved(trial)]
            self.problems += checks.cut(self.case, self.service, trial)

    def run_two_at_once(self) -> None:
        """Run two at once, as the case says who moves next."""
        case = self.case
        flights = cycle(case.flights)
        trials = [Trial(case, self.service, 0) for _ in range(2)]
        runs = [
            self._running(Driver(self.service, flight=lambda: next(flights) / 10), trial, desired)
            for trial, desired in zip(trials, (case.desired, case.rival), strict=True)
        ]
        order = cycle(case.turns)
        left = {0, 1}
        while left:
            mover = next(order)
            self.service.author = mover = mover if mover in left else 1 - mover
            try:
                next(runs[mover])
            except StopIteration as end:
                trials[mover].ran(end.value)
                left.remove(mover)
            except ENDS as error:
                trials[mover].refusal = refusal(error)
                left.remove(mover)
        self.service.author = 0
        self.service.settle()
        self.trials += trials
        if case.way.keeps_records:
            self.problems += chain.from_iterable(
                checks.gone(self.service, trial) for trial in trials
            )

    def _put_right(self) -> None:
        """Run a third time: it puts right whatever two runs at once have doubled."""
        case, trials = self.case, self.trials
        if case.faults or case.other or any(trial.refusal for trial in trials):
            return
        plans = [trial.plan for trial in trials]
        third = self._run({})
        self._judge(third)
        if case.way.keeps_texts and case.way.keeps_records and case.way.lag <= FEW_READS:
            if third.result is None or not third.result.complete:
                why = third.refusal or "not complete"
                self.problems.append(Problem("two runs at once are not put right", why))
            self.problems += checks.copied_or_lost(case, self.service, plans)

    def _running(
        self, driver: Driver, trial: Trial, desired: Snapshot | None = None
    ) -> Moments[Run]:
        case = self.case
        if self._saved is not None:
            return finishing(driver, self._saved, unordered=case.unordered, parts=self.parts)
        return syncing(
            driver,
            desired or case.desired,
            rules=case.rules,
            concurrency=case.width,
            unordered=case.unordered,
            parts=replace(self.parts, planning=self._planning(trial)),
        )

    def _planning(self, trial: Trial) -> Any:  # noqa: ANN401 - what make_plan is
        def planning(**sides: Any) -> RecordPlan:  # noqa: ANN401 - what make_plan takes
            plan = self.parts.planning(**sides)
            if trial.plan is None:
                trial.plan = plan
                if plan.refusal is not None:
                    raise TooManyDeletesError(plan.refusal.message)
            return plan

        return planning

    def _judge_the_end(self) -> None:
        case = self.case
        if any(trial.refusal == "refused" for trial in self.trials):
            return
        if case.way.keeps_records and not case.acts:
            self.problems += checks.repeated(case, self.trials)
        if case.way.keeps_records and case.way.keeps_texts:
            self.problems += self._converged()
        if case.way.keeps_records and checks.recognizable(case):
            self.problems += checks.at_rest(case, self.trials)

    def _converged(self) -> Iterator[Problem]:
        last = self.trials[-1]
        if self.case.saved:
            stale = any(one.refusal == "stale" and not one.nameless for one in self.trials)
            if stale and not self.case.acts:
                yield Problem("a saved plan is stale with nobody else there", "")
            seen = self.case.way.lag <= FEW_READS
            if not stale and seen and not (last.result and last.result.complete):
                yield Problem("a saved plan is never complete", "")
            return
        if left := self.left():
            yield Problem("it does not converge", "; ".join(left))
        last = self._run({})
        if last.writes():
            yield Problem("a further run writes", f"{last.writes()[0].path}")
        if last.result is None or not last.result.complete:
            yield Problem("a further run is not complete", last.refusal)


def prove(
    case: Case, parts: Parts = PRODUCT, drive: Callable[[Story, Trial], Run] = Story.simulated
) -> Story:
    """Play a case to its end, and judge it."""
    story = Story(case, parts, drive)
    try:
        story.play()
    except Exception as error:  # noqa: BLE001 - whatever the product raises is a finding
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
        story.problems.append(Problem(f"raises {type(error).__name__}", f"{error} at {where}"))
    return story


def told(story: Story) -> str:
    """Tell a case from its beginning to its end."""
    case = story.case
    lines = [f"{case}: {case.way}", f"scope {case.scope}, {case.rules}"]
    lines.append(
        f"saved={case.saved} unordered={case.unordered} width={case.width} stops={case.stops} "
        f"lands={case.lands} flights={case.flights}"
    )
    lines += [f"  listed {one}: {text}" for one, text in case.before]
    lines += [f"  wanted {want}" for want in case.wants]
    lines += [f"  fault #{at}: {fault.name}" for at, fault in case.faults]
    lines += [f"  {act}" for act in (case.met, *case.acts) if act]
    for n, trial in enumerate(story.trials):
        lines += [f"run {n + 1}{' (quiet)' if trial.quiet else ''}", *story_of(trial)]
    for name in case.scope:
        lines += [f"  in the end {one}: {text}" for one, text in story.now(name).items()]
    lines += [f"PROBLEM {kind}: {words}" for kind, words in story.problems] or ["no problem"]
    return "\n".join(lines)
