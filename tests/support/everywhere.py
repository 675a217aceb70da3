"""A manifest with a page and lists of three shapes: each run of a case makes all of them match.

A place is a simulated service that keeps one of the lists. The page is judged as ever, and the
lists here: none is emptied, none is called verified that was not read, what is called sent was
accepted, and a run without trouble finishes all of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from random import Random
from typing import Any, NamedTuple, TypeVar

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.api.policy import Health
from commandsync.apply.outcomes import Interrupted, Outcome, Result
from commandsync.client.request import Secrecy
from commandsync.errors import ListingError, Reply, StoppedError, TooManyDeletesError
from commandsync.manifest import Manifest, load_manifests
from commandsync.manifest.listings import ManifestListing as Entry
from commandsync.plan.plan import AsRead, Baseline, OfVersion, RecordPlan, Unknown
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.services.fit import fit
from commandsync.simulation.exchange import DEFAULT, Request, ServiceState
from commandsync.simulation.registry import simulate
from commandsync.sync.apply import apply_refusal
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.job import Planned
from commandsync.sync.listcontent import KnownList, fitted_list, list_of
from commandsync.sync.lists import ListJob
from commandsync.sync.settings import Settings, read_clock
from commandsync.sync.sites import ListSite
from tests.support.cases import Case, Problem, Trial
from tests.support.listing import FAULTS, REFUSED_AFTER, WRONG_SHAPE_BEFORE, Answer
from tests.support.runs import (
    PRODUCT,
    Driver,
    Kill,
    Killed,
    Moments,
    Parts,
    Run,
    Stop,
    command,
    wanted,
)
from tests.support.simulations import SERVICES
from tests.support.story import Story, prove

Records = list[dict[str, Any]]
Headers = list[tuple[str, str]]

BOT = "8120454873"
_SECRET = "0123456789abcdef"
_NOW = datetime(2026, 3, 4, tzinfo=UTC)
COMMANDS = Resource.COMMAND
_FAULTS = [one for one in FAULTS if not one.hidden]
_UNREAD_FAULTS = [one for one in _FAULTS if one not in {*REFUSED_AFTER, WRONG_SHAPE_BEFORE}]
"""Without those whose answers say the opposite of what was done: nobody can read what it was."""


class Sent(NamedTuple):
    """A request: whether it writes, what was listed then, and what it was answered."""

    writes: bool
    listed: Records
    answer: Answer

    @property
    def accepted(self) -> bool:
        return isinstance(self.answer, Reply) and self.answer.status // 100 == 2


class Place:
    """A simulation with the trouble that is drawn for it."""

    def __init__(self, entry: Entry, numbers: Random, now: Manifest, before: Manifest) -> None:
        service = entry.list_service
        token = _token(service.name)
        drawn = {
            question: numbers.choice(answers)
            for question, answers in SERVICES[service.name].open.items()
            if question in {"empty", "method", "retry_after", "success"}
        }
        self.simulation = simulate(SERVICES[service.name], secret=_SECRET, bot=BOT, choices=drawn)
        self.state = ServiceState()
        self.secrecy = Secrecy(token, authorization=service.authorization)
        address = parse_address(service.origin, version=None)
        site = ListSite(address, BOT, token, "", service=service, entry=entry)
        known = numbers.random() < 2 / 3
        settings = Settings(now=read_clock(), unseen=not known, state=None)
        driver: Any = None  # which connects, in place of a connection
        baseline: Baseline = AsRead() if site.is_read else Unknown(accepted=settings.unseen)
        if known and not site.is_read:
            earlier = list_of(settings, EarlierVersion("before", before), entry.identity(now.bot))
            baseline = OfVersion((earlier,), name="before") if earlier else baseline
        self.job = ListJob(
            site=site,
            settings=settings,
            connection=driver,
            manifest=now,
            fitted=fitted_list(settings, now, entry),
            known=KnownList(baseline),
        )
        self.possible = _FAULTS if self.job.is_read else _UNREAD_FAULTS
        self.faults = {
            numbers.randrange(4): numbers.choice(self.possible) for _ in range(numbers.randrange(4))
        }
        # The number of the request before which somebody else replaces the list.
        self.act = numbers.randrange(20)
        self._count, self._late = 0, list[tuple[int, tuple[str, str, Any]]]()
        self.wanted = self._fitted(now)  # as it is sent
        self.quiet = self.acted = False
        self.begin(quiet=False)
        self.state = ServiceState({DEFAULT: self._fitted(before)})

    def begin(self, *, quiet: bool) -> None:
        """Begin a run."""
        self.quiet = quiet
        self.sent: list[Sent] = []
        self.stored: list[Records] = []  # the lists that this run has put there
        self.result: Result | None = None  # None if it said nothing

    @property
    def listed(self) -> Records:
        """What is listed in truth."""
        return self.state.lists[DEFAULT]

    @property
    def writes(self) -> list[Sent]:
        return [one for one in self.sent if one.writes]

    def shows_wanted(self, records: Records) -> bool:
        """Whether a list is the wanted one; where it keeps others, it has at least that."""
        rules = self.job.manifest.rules
        keeps = self.job.is_read and bool(rules.ignore or not rules.prune)
        is_all = keeps or len(records) == len(self.wanted)
        return is_all and all(one in records for one in self.wanted)

    def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]] = (), body: object = None
    ) -> Answer:
        """Answer a request of a driver, or fail to."""
        assert not query
        self.settle(before=self._count)
        if self._count == self.act and not self.quiet:
            self.acted = True
            self.state = self.state.with_list(self.listed[1:])
        fault = None if self.quiet else self.faults.get(self._count)
        self._count += 1
        listed, answer = self.listed, Reply(200, b"{}")
        if fault and fault.late:
            self._late.append((self._count + fault.late, (method, path, body)))
        elif fault is None or fault.applied:
            answer = self._ask(method, path, body)
        missing = answer.status in {404, 405}  # the method, so that a fault would meet the next one
        seen = fault.answer(answer) if fault and fault.answer and not missing else answer
        self.sent.append(Sent(method != "GET", listed, seen))
        return seen

    def settle(self, *, before: float = float("inf")) -> None:
        """Let what is late arrive."""
        due = [asked for at, asked in self._late if at <= before]
        self._late = [(at, asked) for at, asked in self._late if at > before]
        for asked in due:
            self._ask(*asked)

    def _ask(self, method: str, path: str, body: object) -> Reply:
        """Send a request to the simulation, with the token, as a connection does."""
        sent = {"Content-Type": "application/json", **self.secrecy.headers}
        request = Request(
            method=method,
            path=self.secrecy.path(path),
            headers={name.lower(): value for name, value in sent.items()},
            body=b"" if body is None else json.dumps(body).encode(),
        )
        before = replace(self.state, writes=())
        response, self.state = self.simulation.respond(request, before, now=_NOW)
        self.stored += [records for _, records in self.state.writes]
        headers = {"content-type": response.media_type, **response.headers}
        return self.secrecy.reply(response.status, response.body, [*headers.items()])

    def _fitted(self, manifest: Manifest) -> Records:
        """Return what the service can show of a manifest, as it is sent."""
        commands = {COMMANDS: manifest.snapshot.collections[COMMANDS]}
        fitted = fit(self.job.site.service, Snapshot(commands)).snapshot
        body: Any = self.job.site.service.replace(BOT, fitted).body
        return body if isinstance(body, list) else body.get("commands", [])


@cache
def _token(name: str) -> Token:
    return Token(SERVICES[name].token.format(bot=BOT, secret=_SECRET))


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

    def planning(self, **sides: Any) -> RecordPlan:  # noqa: ANN401 - what make_plan takes
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
            driver = Driver(place)
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
            self.refused |= apply_refusal(planned) is not None

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
