"""The play of a case: runs with what comes between, then quiet ones, all of them judged.

`prove` plays a case, and `told` tells the whole story of one. Each change of the listing is checked
too: for a copy that nobody wanted, and for a record that was to stay and is gone.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, count, cycle
from typing import Any

from commandsync.apply.outcomes import Outcome
from commandsync.errors import ListingError, StalePlanError, TooManyDeletesError
from commandsync.plan.changes import Delete, Replace
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Snapshot
from tests.support.cases import FEW_READS, Act, Case, collection_of, operation_of
from tests.support.driver import Driver, Killed, Moments, Stop, to_its_end
from tests.support.listing import FIELDS, Fault, Listing, Request
from tests.support.oracle import Text, Texts, alike, folded, left_to_do
from tests.support.planchecks import check_plan
from tests.support.runchecks import check_result, check_saved
from tests.support.runs import PRODUCT, TARGET, Parts, Run, finishing, read, syncing
from tests.support.sentchecks import check_requests
from tests.support.trial import Problem, Trial, cleaned, sent_text, story_of

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
    _saved: Plan | None = None
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
        return [
            one
            for name in self.case.scope
            for now, rules in [(self.now(name), self.case.rules_of(name))]
            for one in left_to_do(self.case.due_of(name, now), now, rules)
        ]

    def now(self, name: str) -> Texts:
        """Return what is stored in truth."""
        records = self.service.stored[name]
        return cleaned(
            {
                record["id"]: tuple(record.get(part) or "" for part in FIELDS[name])
                for record in records
            }
        )

    def _texts(self) -> Counter[Text]:
        return Counter(text for name in FIELDS for text in self.service.texts(name))

    def _look(self, service: Listing, author: int) -> None:
        """Look at a change of the listing; what another writer adds is not ours to answer for."""
        now = self._texts()
        if author:
            self._others += now - self._last
        self._last = now
        before = Counter(text for _, text in self.case.before)
        wanted = Counter(want.text for want in self.case.wants)
        former = {folded(name) for want in self.case.wants for name in want.formerly}
        staying = Counter({text: n for text, n in before.items() if folded(text[0]) not in former})
        ids = {one for name in FIELDS for one in service.ids(name)}
        seen = {
            "copied for a moment": now - (before | wanted) - self._others,
            "lost for a moment": (_names(staying) & _names(wanted)) - _names(now),
            "another record is lost": self.case.kept - ids,
        }
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
        except _ENDS as error:
            trial.refusal = _refusal(error)
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
            self.problems += self._cut(trial)

    def _cut(self, trial: Trial) -> Iterator[Problem]:
        """After a read that shows a first page alone, nothing is written."""
        if not trial.writes():
            return
        first = trial.writes()[0].number
        looks = {
            look.collection: look
            for one in trial.requests
            if (look := self.service.looks.get(one.number)) and one.number < first
        }
        for name, look in looks.items():
            if self.case.way.cuts(len(look.shown)):
                count = f"{len(look.shown)} {name} in pages of {self.case.way.page}"
                yield Problem("adds what another page has", count)

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
            except _ENDS as error:
                trials[mover].refusal = _refusal(error)
                left.remove(mover)
        self.service.author = 0
        self.service.settle()
        self.trials += trials
        if case.way.keeps_records:
            self.problems += chain.from_iterable(map(self._gone, trials))

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
            self.problems += self._copied_or_lost(plans)

    def _gone(self, trial: Trial) -> Iterator[Problem]:
        """What is deleted is gone, whoever else writes: no record comes back."""
        for one in trial.result.settled if trial.result else ():
            change = one.change
            if one.outcome is not Outcome.DONE or not isinstance(change, Delete):
                continue
            if change.id in self.service.ids(change.resource.collection):
                yield Problem("delete is done and the record is there", f"{change.name!r}")

    def _copied_or_lost(self, plans: Iterable[Plan | None]) -> Iterator[Problem]:
        changes = [change for plan in plans if plan for change in plan.changes]
        gone = {one.id for one in changes if isinstance(one, Delete | Replace)}
        kept = {one for one, text in self.case.before if collection_of(text) in self.case.scope}
        there = {one for name in self.case.scope for one in self.service.ids(name)}
        if lost := kept - gone - there:
            yield Problem("two runs at once: another record is lost", f"{lost}")
        if left := self.left():
            yield Problem("two runs at once: copied or lost", "; ".join(left))

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
        def planning(**sides: Any) -> Plan:  # noqa: ANN401 - what make_plan takes
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
            self.problems += self._repeated()
        if case.way.keeps_records and case.way.keeps_texts:
            self.problems += self._converged()
        if case.way.keeps_records and self._recognizable():
            self.problems += self._at_rest()

    def _recognizable(self) -> bool:
        """Whether the service changes names only as the tiers of matching see through."""
        return all(alike(want.text, self.case.way.text(want.text)) for want in self.case.wants)

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

    def _at_rest(self) -> Iterator[Problem]:
        """Where a service's rewriting can be seen through, nothing is added again or swings."""
        quiet = [trial for trial in self.trials if trial.quiet]
        posts = self.case.wants_of("announcements")
        still = {"commands"}
        # a pin gives way to an equal announcement, so that after a post it may mean another
        if self.case.rules.announcements == "append" and not any(want.pin for want in posts):
            still.add("announcements")
        for trial in quiet[1:]:
            for request in trial.writes():
                if request.kind != "edit" and request.collection in still:
                    words = f"{request.kind} {request.path} {dict(request.body or {})}"
                    yield Problem(f"{request.collection} swing", words)

    def _repeated(self) -> Iterator[Problem]:
        """Over all runs, no more was added of a name than is wanted of it."""
        if not self._recognizable():
            return
        wanted = Counter(want.text for want in self.case.wants)
        due = self.trials[0].adds() if self.case.saved else wanted
        posted = Counter(
            sent_text(request)
            for trial in self.trials
            for request in trial.writes()
            if request.kind == "add" and trial.happened(request)
            # a mirror posts again what the service changed
            if request.collection == "commands" or self.case.rules.announcements == "append"
        )
        if too_many := _names(posted) - _names(due):
            yield Problem("added again in another run", f"{too_many}")


_ENDS = (Killed, StalePlanError, TooManyDeletesError, ListingError)


def _refusal(error: BaseException) -> str:
    """Return the word of `Trial.refusal` for what a run ended with."""
    names = ("killed", "stale", "refused", "unreadable")
    return next(name for kind, name in zip(_ENDS, names, strict=True) if isinstance(error, kind))


def _names(texts: Counter[Text]) -> Counter[tuple[int, str]]:
    """Count names, apart from titles; what is one name when folded, matching may exchange."""
    return Counter((len(text), folded(text[0])) for text in texts.elements())


def do(act: Act, service: Listing) -> None:
    """Do what the second writer does, at once and for all to see."""
    service.unveil()  # to change a record is to see it
    names = FIELDS[act.collection]
    record = dict(zip(names, act.text, strict=True))
    if act.kind == "add":
        service.seed(act.collection, [record])
        return
    ids = service.ids(act.collection)
    if not ids:
        return
    one = ids[act.nth % len(ids)]
    change = {names[0]: record[names[0]]} if act.kind == "rename" else record
    for records in (service.stored[act.collection], service.shown[act.collection]):
        if act.kind == "delete":
            records[:] = [it for it in records if it["id"] != one]
        for it in records:
            if it["id"] == one:
                it.update(change)


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
