"""The play of a case: runs with what comes between, then quiet ones, all of them judged.

`prove` plays a case, and `told` tells the whole story of one. Each change of the listing is checked
too: for a copy that nobody wanted, and for a record that was to stay and is gone.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count, cycle
from typing import Any, TypeVar

from commandsync.errors import ManifestError, TooManyDeletesError
from commandsync.plan.plan import RecordPlan
from tests.support import checks
from tests.support.cases import (
    ENDS,
    FEW_READS,
    AnyTrial,
    Case,
    Met,
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
    syncing,
    to_its_end,
)

MOST_RUNS = 2
"""So many runs must be enough on a service that keeps what it is sent."""

_MORE = 2  # quiet runs after that, in which nothing may move


@dataclass
class AnyStory:
    """A case of any service being played.

    Attributes:
        case: The case.
        parts: What the runs are made of.
        drive: Makes one run; by default in simulated time.
        trials: The runs so far.
        problems: What must not be.
        service: The service, with what is listed at first.
    """

    case: Any
    parts: Parts = PRODUCT
    drive: "Callable[[Any, Any], Run]" = lambda story, trial: story.simulated(trial)
    trials: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    service: Any = None
    _saved: RecordPlan | None = None
    _quiet: bool = False
    _met: Iterator[int] = field(default_factory=count)

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
        for _ in range(self.quiet_runs):
            self._judge(self._run({}))
        self._judge_the_end()

    # What differs between services.

    quiet_runs = MOST_RUNS  # without trouble, before the end is judged

    def new_trial(self, begun: int, plan: RecordPlan | None = None) -> Any:  # noqa: ANN401 - of this service
        """Return a run that begins with a request."""
        return AnyTrial(self.case, self.service, begun, plan=plan)

    def sides(self, *, rival: bool = False) -> dict[str, Any]:
        """Return what a plan is made of, beside what is listed; also that of the other run."""
        raise NotImplementedError

    def act(self, number: int) -> None:
        """Do what a second writer does before a request."""
        raise NotImplementedError

    def operation_of(self, request: Any) -> str:  # noqa: ANN401 - of this service
        """Return the operation of a request."""
        raise NotImplementedError

    def judged(self, trial: Any) -> Iterator[Problem]:  # noqa: ANN401 - of this service
        """Judge a run."""
        raise NotImplementedError

    def judged_plan(self, trial: Any) -> Iterator[Problem]:  # noqa: ANN401 - of this service
        """Judge a plan by the read that it was made from."""
        raise NotImplementedError

    def _put_right(self) -> None:
        """Judge a run after two at once."""
        raise NotImplementedError

    def _judge_the_end(self) -> None:
        """Judge the story as a whole."""
        raise NotImplementedError

    # The runs.

    def _save(self) -> bool:
        sides = self.sides()
        reading = self.parts.reading(Driver(self.service), sides["desired"].scope)
        trial = self.new_trial(0)
        self.trials.append(trial)
        try:
            self._saved = trial.plan = self.parts.planning(listed=to_its_end(reading), **sides)
            trial.refusal = "refused" if self._saved.refusal else ""
        except tuple(ENDS) as error:
            trial.refusal, trial.why = refusal(error), _words(error)
        trial.ended = len(self.service.requests)
        self.problems += self.judged_plan(trial)
        return not trial.refusal

    def _come_between(self, request: Any) -> Fault | None:  # noqa: ANN401 - of this service
        if self._quiet:
            return None
        self.act(request.number)
        met: Met | None = self.case.met
        if met and self.operation_of(request) == met.operation and met.meets(next(self._met)):
            return met.fault
        return next((fault for at, fault in self.case.faults if at == request.number), None)

    def _run(self, stops: dict[int, Stop]) -> Any:  # noqa: ANN401 - a trial of this service
        """Run once."""
        trial = self.new_trial(len(self.service.requests), self._saved)
        trial.quiet = self._quiet
        trial.driver = self._driver(dict(stops))
        try:
            trial.ran(self.drive(self, trial))
        except tuple(ENDS) as error:
            trial.refusal, trial.why = refusal(error), _words(error)
        if stops and self.case.lands:
            trial.driver.land()
        trial.ended = len(self.service.requests)
        self.trials.append(trial)
        return trial

    def _driver(self, stops: dict[int, Stop] | None = None) -> Driver:
        flights = cycle(self.case.flights)
        return Driver(self.service, flight=lambda: next(flights) / 10, stops=stops or {})

    def simulated(self, trial: Any) -> Run:  # noqa: ANN401 - of this service
        """Make a run in simulated time."""
        return to_its_end(self._running(trial.driver, trial))

    def _judge(self, *trials: Any) -> None:  # noqa: ANN401 - of this service
        """Let what is late arrive, and judge runs."""
        self.service.settle()
        for trial in trials:
            if self._saved is None:
                self.problems += self.judged_plan(trial)
            self.problems += self.judged(trial)

    def run_two_at_once(self) -> None:
        """Run two at once, as the case says who moves next."""
        trials = [self.new_trial(0) for _ in range(2)]
        runs = [
            self._running(self._driver(), trial, rival=bool(number))
            for number, trial in enumerate(trials)
        ]
        order = cycle(self.case.turns)
        left = {0, 1}
        while left:
            mover = next(order)
            self.service.author = mover = mover if mover in left else 1 - mover
            try:
                next(runs[mover])
            except StopIteration as end:
                trials[mover].ran(end.value)
                left.remove(mover)
            except tuple(ENDS) as error:
                trials[mover].refusal = refusal(error)
                left.remove(mover)
        self.service.author = 0
        self.service.settle()
        self.trials += trials

    def _running(
        self,
        driver: Driver,
        trial: Any,  # noqa: ANN401 - of this service
        *,
        rival: bool = False,
    ) -> Moments[Run]:
        case = self.case
        if self._saved is not None:
            return finishing(driver, self._saved, unordered=case.unordered, parts=self.parts)
        return syncing(
            driver,
            **self.sides(rival=rival),
            concurrency=case.width,
            unordered=case.unordered,
            parts=replace(self.parts, planning=self._planning(trial)),
        )

    def _planning(self, trial: Any) -> Any:  # noqa: ANN401 - what make_plan is
        def planning(**sides: Any) -> RecordPlan:  # noqa: ANN401 - what make_plan takes
            plan = self.parts.planning(**sides)
            if trial.plan is None:
                trial.plan = plan
                if plan.refusal is not None:
                    raise TooManyDeletesError(plan.refusal.message)
            return plan

        return planning


@dataclass
class Story(AnyStory):
    """A case of a page being played."""

    case: Case
    trials: list[Trial] = field(default_factory=list)
    service: Listing = field(default_factory=Listing)
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
        self.quiet_runs = MOST_RUNS + (0 if self.case.way.keeps_records else -1)

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

    def new_trial(self, begun: int, plan: RecordPlan | None = None) -> Trial:
        return Trial(self.case, self.service, begun, plan=plan)

    def sides(self, *, rival: bool = False) -> dict[str, Any]:
        desired = self.case.rival if rival else self.case.desired
        return {"desired": desired, "rules": self.case.rules, "target": TARGET}

    def act(self, number: int) -> None:
        for act in self.case.acts:
            if act.at == number:
                do(act, self.service)

    def operation_of(self, request: Request) -> str:
        return operation_of(request)

    def judged_plan(self, trial: Trial) -> Iterator[Problem]:
        return check_plan(trial)

    def judged(self, trial: Trial) -> Iterator[Problem]:
        yield from (*check_requests(trial), *check_result(trial), *check_saved(trial))
        yield from checks.cut(self.case, self.service, trial)

    def run_two_at_once(self) -> None:
        super().run_two_at_once()
        if self.case.way.keeps_records:
            self.problems += chain.from_iterable(
                checks.gone(self.service, trial) for trial in self.trials[-2:]
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
    return played(Story(case, parts, drive))


S = TypeVar("S", bound=AnyStory)


def played(story: S) -> S:
    """Play a story to its end; whatever the product raises is a problem."""
    try:
        story.play()
    except Exception as error:  # noqa: BLE001 - whatever the product raises is a finding
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_filename}:{place.tb_lineno}" if place else ""
        story.problems.append(
            Problem(f"raises {type(error).__name__}", f"{_words(error)} at {where}")
        )
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


def _words(error: BaseException) -> str:
    problems = error.problems if isinstance(error, ManifestError) else ()
    return "; ".join([str(error), *map(str, problems)])
