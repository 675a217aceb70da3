"""The play of a generated case: runs with what comes between, then quiet ones, all of them judged.

`prove` plays a case, and `told` tells the whole story of one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

from commandsync.errors import ListingError, StalePlanError, TooManyDeletesError
from tests.support.cases import FEW_READS
from tests.support.driver import Driver, Killed, to_its_end
from tests.support.listing import FIELDS, Listing
from tests.support.oracle import alike, folded, left_to_do
from tests.support.planchecks import check_plan
from tests.support.runchecks import check_result, check_saved
from tests.support.runs import PRODUCT, TARGET, finishing, read, syncing
from tests.support.sentchecks import check_requests
from tests.support.trial import Problem, Trial, cleaned, sent_text, story_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.plan.plan import Plan
    from tests.support.cases import Act, Case
    from tests.support.driver import Stop
    from tests.support.listing import Fault, Request
    from tests.support.oracle import Texts
    from tests.support.runs import Parts

MOST_RUNS = 2
"""So many runs must be enough on a service that keeps what it is sent."""

_MORE = 2  # quiet runs after that, in which nothing may move


@dataclass
class Story:
    """A case being played.

    Attributes:
        case: The case.
        parts: What the runs are made of.
        trials: The runs so far.
        problems: What must not be.
    """

    case: Case
    parts: Parts = PRODUCT
    trials: list[Trial] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    service: Listing = field(default_factory=Listing)
    _saved: Plan | None = None
    _quiet: bool = False

    def __post_init__(self) -> None:
        self.case.way.on(self.service)
        for one, text in self.case.before:
            name = next(name for name, names in FIELDS.items() if len(names) == len(text))
            self.service.seed(name, [{"id": one, **dict(zip(FIELDS[name], text, strict=True))}])

    def play(self) -> None:
        """Play it: the runs with trouble, then the quiet ones."""
        if self.case.saved and not self._save():
            return
        self.service.choose = self._come_between
        stops: list[dict[int, Stop]] = [{moment: stop} for moment, stop in self.case.stops]
        troubled = bool(self.case.faults or self.case.acts)
        for stop in stops or ([{}] if troubled else []):
            self._run(stop)
            self.service.settle()
        self._quiet = True
        for _ in range(MOST_RUNS + (0 if self.case.way.keeps_records else -1)):
            self._run({})
            self.service.settle()
        self._judge_the_end()

    def now(self, name: str) -> Texts:
        """Return what is stored in truth."""
        records = self.service.stored[name]
        return cleaned(
            {
                record["id"]: tuple(record.get(part) or "" for part in FIELDS[name])
                for record in records
            }
        )

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
        return next((fault for at, fault in self.case.faults if at == request.number), None)

    def _run(self, stops: dict[int, Stop]) -> Trial:
        """Run once and judge it."""
        case = self.case
        trial = Trial(case, self.service, len(self.service.requests), plan=self._saved)
        trial.quiet = self._quiet
        flights = cycle(case.flights)
        driver = Driver(self.service, flight=lambda: next(flights) / 10, stops=dict(stops))
        try:
            trial.result = to_its_end(self._running(driver, trial)).result
        except Killed:
            trial.refusal = "killed"
        except StalePlanError:
            trial.refusal = "stale"
        except TooManyDeletesError:
            trial.refusal = "refused"
        except ListingError:
            trial.refusal = "unreadable"
        if stops and case.lands:
            driver.land()
        trial.ended = len(self.service.requests)
        self.service.settle()
        self.trials.append(trial)
        if self._saved is None:
            self.problems += check_plan(trial)
        self.problems += [*check_requests(trial), *check_result(trial), *check_saved(trial)]
        return trial

    def _running(self, driver: Driver, trial: Trial) -> Any:  # noqa: ANN401 - moments of a run
        case = self.case
        if self._saved is not None:
            return finishing(driver, self._saved, unordered=case.unordered, parts=self.parts)
        return syncing(
            driver,
            case.desired,
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
            stale = any(trial.refusal == "stale" for trial in self.trials)
            if stale and not self.case.acts:
                yield Problem("a saved plan is stale with nobody else there", "")
            seen = self.case.way.lag <= FEW_READS
            if not stale and seen and not (last.result and last.result.complete):
                yield Problem("a saved plan is never complete", "")
            return
        for name in self.case.scope:
            rules = self.case.rules_of(name)
            if left := left_to_do(self.case.due_of(name, self.now(name)), self.now(name), rules):
                yield Problem("it does not converge", "; ".join(left))
        self._run({})
        last = self.trials[-1]
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
        if not self._recognizable() or self.case.rules.announcements == "mirror":
            return
        wanted = [want.text for want in self.case.wants]
        due = self.trials[0].adds().elements() if self.case.saved else wanted
        most = Counter((len(text), folded(text[0])) for text in due)
        posted = Counter(
            (len(text), folded(text[0]))
            for trial in self.trials
            for request in trial.writes()
            if request.kind == "add" and trial.happened(request)
            for text in [sent_text(request)]
        )
        if too_many := posted - most:
            yield Problem("added again in another run", f"{too_many}")


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


def prove(case: Case, parts: Parts = PRODUCT) -> Story:
    """Play a case to its end, and judge it."""
    story = Story(case, parts)
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
    lines = [f"case {case.number}: {case.way}", f"scope {case.scope}, {case.rules}"]
    lines.append(
        f"saved={case.saved} unordered={case.unordered} width={case.width} stops={case.stops} "
        f"lands={case.lands} flights={case.flights}"
    )
    lines += [f"  listed {one}: {text}" for one, text in case.before]
    lines += [f"  wanted {want}" for want in case.wants]
    lines += [f"  fault #{at}: {fault.name}" for at, fault in case.faults]
    lines += [f"  {act}" for act in case.acts]
    for n, trial in enumerate(story.trials):
        lines += [f"run {n + 1}{' (quiet)' if trial.quiet else ''}", *story_of(trial)]
    for name in case.scope:
        lines += [f"  in the end {one}: {text}" for one, text in story.now(name).items()]
    lines += [f"PROBLEM {kind}: {words}" for kind, words in story.problems] or ["no problem"]
    return "\n".join(lines)
