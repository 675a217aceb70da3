"""A simulated service that keeps a whole list, as a driver needs it, and the job of that list."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.types import Message, Scope

from commandsync.api.arguments import parse_address
from commandsync.api.credentials import Token
from commandsync.apply.outcomes import Result
from commandsync.client.request import Secrecy
from commandsync.errors import Reply
from commandsync.manifest import Manifest
from commandsync.manifest.listings import Listing as Entry
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource
from commandsync.server.conditions import NORMAL
from commandsync.server.simulations import SERVICES, application, simulate
from commandsync.services.fit import fit
from commandsync.sync.destinations import ListSite
from commandsync.sync.earlier import EarlierVersion
from commandsync.sync.lists import ListJob
from commandsync.sync.settings import Settings, read_clock
from tests.support.listing import FAULTS, REFUSED_AFTER, WRONG_SHAPE_BEFORE, Answer

Records = list[dict[str, Any]]
Headers = list[tuple[str, str]]

BOT = "8120454873"
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
        simulation = simulate(service.name, bot=BOT, choices=drawn)
        # Its own rate limit is that of real time.
        self.simulation = replace(simulation, conditions=NORMAL, token=token.reveal())
        self.app = application(self.simulation)
        self.secrecy = Secrecy(token, authorization=service.authorization)
        address = parse_address(service.origin, version=None)
        site = ListSite(address, BOT, token, "", service=service, entry=entry)
        known = numbers.random() < 2 / 3
        settings = Settings(now=read_clock(), unseen=not known)
        driver: Any = None  # which connects, in place of a connection
        earlier = EarlierVersion("before", before) if known else None
        self.job = ListJob.of(settings, now, site, driver).beside(earlier)
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
        self.simulation.shown.put(self._fitted(before))

    def begin(self, *, quiet: bool) -> None:
        """Begin a run."""
        self.quiet = quiet
        self.sent: list[Sent] = []
        self.stored: list[Records] = []  # the lists that this run has put there
        self.result: Result | None = None  # None if it said nothing

    @property
    def listed(self) -> Records:
        """What is listed in truth."""
        return self.simulation.shown.read()

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
            self.simulation.shown.put(self.listed[1:])
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
        writes = self.simulation.shown.writes
        text = b"" if body is None else json.dumps(body).encode()
        before = len(writes)
        sent = {"content-type": "application/json", "content-length": str(len(text))}
        headers = [
            (name.lower().encode(), value.encode())
            for name, value in (sent | self.secrecy.headers).items()
        ]
        request = {"method": method, "path": self.secrecy.path(path), "headers": headers}
        answer = _loop().run_until_complete(_asked(self.app, request, text))
        self.stored += [records for _, records in [*writes][before:]]
        return self.secrecy.reply(*answer)

    def _fitted(self, manifest: Manifest) -> Records:
        """Return what the service can show of a manifest, as it is sent."""
        commands = {COMMANDS: manifest.snapshot.collections[COMMANDS]}
        fitted = fit(self.job.site.service, Snapshot(commands)).snapshot
        body: Any = self.job.site.service.replace(BOT, fitted).body
        return body if isinstance(body, list) else body.get("commands", [])


@cache
def _token(name: str) -> Token:
    return Token(SERVICES[name].token.format(bot=BOT, secret="0123456789abcdef"))


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


async def _asked(app: Starlette, request: Scope, body: bytes) -> tuple[int, bytes, Headers]:
    """Call an application as a server does."""
    answers: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    async def send(message: Message) -> None:
        answers.append(message)

    await app({"type": "http", "query_string": b"", "client": None, **request}, receive, send)
    head, content = answers
    return head["status"], content["body"], [(a.decode(), b.decode()) for a, b in head["headers"]]
