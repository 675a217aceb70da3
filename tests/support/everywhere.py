"""A manifest with a page and lists of three shapes: each run of a case makes all of them match.

The page is judged as ever, and the lists here: none is emptied, none is called verified that was
not read, what is called sent was accepted, and a run without trouble finishes all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any, TypeVar

from commandsync.api.policy import Health
from commandsync.apply.outcomes import Interrupted, Outcome
from commandsync.errors import ListingError, StoppedError, TooManyDeletesError
from commandsync.manifest import Manifest, load_manifests
from commandsync.plan.plan import Plan
from commandsync.records.snapshot import Snapshot
from commandsync.sync.execution import refusal_of
from commandsync.sync.job import Planned
from tests.support.cases import Case
from tests.support.driver import Driver, Kill, Killed, Moments, Stop
from tests.support.place import BOT, COMMANDS, Place
from tests.support.runs import PRODUCT, Parts, Run, command, wanted
from tests.support.story import Story, prove
from tests.support.trial import Problem, Trial

T = TypeVar("T")

_NEVER = 1_000_000  # a moment that no run has

_MANIFEST = f"""version: 1
bot: "{BOT}"
base_url: https://listing.example
commands: []
listings:
  - service: top.gg
  - service: telegram
  - service: bots.ondiscord.xyz
    token_env: COMMANDSYNC_TOKEN_ONDISCORD
    replace:
      method: POST
      url: https://bots.ondiscord.xyz/bot-api/bots/{{bot}}/commands
      authorization: "{{token}}"
      wrap: commands
      fields: {{name: name, description: description, category: category}}
"""


def has_lists(case: Case) -> bool:
    """Whether a case can have lists: they have commands, and no saved plans."""
    return "commands" in case.scope and not (case.saved or case.turns)


def prove_everywhere(case: Case, change: Callable[[Lists], object] = lambda _: None) -> Story:
    """Play a case on the page and on its lists, with the drawn trouble or a changed one."""
    lists = Lists(case, Random(f"{case.number}/lists"))  # noqa: S311 - a case is not a secret
    change(lists)
    case = replace(case, stops=case.stops or ((_NEVER, Kill()),))  # so that one run has trouble
    return prove(case, Parts(planning=lists.planning), lists.run)


@cache
def _manifest() -> Manifest:
    (manifest,) = load_manifests(["-"], stdin=_MANIFEST.encode)
    return manifest


class Lists:
    """The lists of a case, and what stops a run.

    Attributes:
        places: The lists.
        stop: What stops it while it is at a list, if anything does.
        left: The moments until then.
        lands: Whether what is in flight at a kill arrives.
        refused: Whether a list of this run is refused.
        stopped: Whether this run was stopped.
    """

    def __init__(self, case: Case, numbers: Random) -> None:
        before = wanted([command(*text) for _, text in case.before if len(text) > 2])
        now, then = (
            replace(_manifest(), snapshot=one, rules=case.rules) for one in (case.desired, before)
        )
        self.places = [Place(entry, numbers, now, then) for entry in now.listings]
        stops: tuple[Stop | None, ...] = (None, None, Kill(), Kill(), Interrupted())
        self.stop, self.lands = numbers.choice(stops), numbers.random() < 1 / 2
        self.left = numbers.randrange(24)  # moments until the stop
        self.refused = self.stopped = False
        self._planned: list[tuple[Place, Driver, Planned]] = []

    def planning(self, **sides: Any) -> Plan:  # noqa: ANN401 - what make_plan takes
        """Plan the page, then the lists; refuse all of them if one is refused."""
        plan = PRODUCT.planning(**sides)
        self._plan()
        if self.stopped:
            raise StoppedError("stopped")
        if plan.refusal is None and self.refused:
            raise TooManyDeletesError("a list is refused")
        return plan

    def run(self, story: Story, trial: Trial) -> Run:
        """Make a run of the page and the lists, and judge the lists."""
        self._planned, self.refused, self.stopped = [], False, False
        for place in self.places:
            place.begin(quiet=trial.quiet)
        judge = said
        try:
            return self._run(story, trial)
        except Killed:
            judge = stored
            for _, driver, _ in self._planned if self.lands else ():
                driver.land()
            raise
        finally:
            for place in self.places:
                place.settle()
                story.problems += [Problem(f"list: {why}", place.job.name) for why in judge(place)]

    def _run(self, story: Story, trial: Trial) -> Run:
        try:
            run = story.simulated(trial)
        except StoppedError:
            raise
        except ListingError:  # a page that cannot be read stops no list
            self._plan()
            self._carry_out()
            raise
        if not run.result.interrupted:
            self._carry_out()
        return run

    def _plan(self) -> None:
        for place in self.places:
            driver = Driver(place)  # type: ignore[arg-type]  # what it needs of a service
            job = place.job
            try:
                if job.is_read:
                    reading = driver.calling(job.site.service.read(BOT, COMMANDS))
                    listed = Snapshot({COMMANDS: self._through(reading, driver)})
                else:
                    listed = job.start_reading()()
            except ListingError:
                assert not place.quiet
                continue
            planned = job.planned(listed)
            self._planned.append((place, driver, planned))
            self.refused |= refusal_of(planned) is not None

    def _carry_out(self) -> None:
        for place, driver, planned in [] if self.refused else self._planned:
            if not self.stopped:
                place.result = self._through(
                    driver.running(place.job.steps(planned, health=Health())), driver
                )

    def _through(self, moments: Moments[T], driver: Driver) -> T:
        """Go through the moments of one list, and stop the run at its moment."""
        while True:
            if not self.places[0].quiet:
                if self.left == 0 and self.stop:
                    self.stopped = True
                    driver.stops[driver.moments] = self.stop
                self.left -= 1
            try:
                next(moments)
            except StopIteration as end:
                value: T = end.value
                return value


def stored(place: Place) -> Iterator[str]:
    """Judge what a run has put there, however it ended."""
    manifest = place.job.manifest
    limit = manifest.rules.max_deletes
    clears = limit and limit.unlimited and not manifest.snapshot.collections[COMMANDS]
    if [] in place.stored and not clears:
        yield "is emptied"
    if not all(map(place.shows_wanted, place.stored)):
        yield "another one is sent"


def said(place: Place) -> Iterator[str]:
    """Judge what a run says of a list, too."""
    yield from stored(place)
    result, last = place.result, place.sent[-1:]
    if result is None:
        yield from ["is written without a plan"] * bool(place.writes)
        return
    believes = result.interrupted and result.verified is False
    read = place.job.is_read and not last[0].writes and place.shows_wanted(last[0].listed)
    certain = result.sent in {Outcome.FAILED, Outcome.SKIPPED}
    wrong = {
        "a change ended otherwise than its list": {each.outcome for each in result.settled}
        - {result.sent},
        "is not sent and happened": certain and place.stored,
        "says that nothing was changed": place.stored and not result.touched,
        "is called sent and was not accepted": result.sent is Outcome.SENT
        and not (place.stored and last[0].accepted),
        "is called verified and was not read": (
            result.verified or (result.sent is Outcome.DONE and not believes)
        )
        and not read,
    }
    if place.quiet and place.wanted:
        wrong["is not complete without trouble"] = not result.complete
        wrong["does not converge"] = (place.writes or not place.acted) and not place.shows_wanted(
            place.listed
        )
    yield from (why for why, found in wrong.items() if found)
