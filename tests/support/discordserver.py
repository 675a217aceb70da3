"""Discord with trouble: the simulation in memory, and behind real sockets.

A `DiscordListing` carries `commandsync.simulation`, which shares no rule with the client. It counts
requests, validates each body by Discord's published schema, and lets things go wrong: a fault for a
request, another editor before one, fields that are not stored, and changes that reads show late. A
`DiscordServer` puts it behind real sockets, and does every fault as a network would.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from commandsync.errors import Reply
from commandsync.simulation import discord, exchange
from commandsync.simulation.discord import DISCORD, DiscordState
from commandsync.simulation.discordcommands import RegisteredCommand
from commandsync.simulation.registry import simulate
from tests.support import listing, rawserver
from tests.support.discordcommands import CREATE, EDIT, REPLACE, schema_problems
from tests.support.listing import Answer, Fault, FaultServer

Record = dict[str, Any]

APPLICATION, SERVER = "779641401482805289", discord.GUILD
TOKEN_OF = "0123456789abcdef"
API = "/api/v10"
_NOW = datetime(2026, 3, 4, tzinfo=UTC)


@dataclass(frozen=True)
class DiscordFault(Fault):
    """A fault that only this service has."""

    again: int = 0  # how often the service does what was asked once more


def _error(name: str, status: int, code: int, message: str, **more: object) -> Fault:
    body = json.dumps({"message": message, "code": code, **more}).encode()
    return Fault(name, lambda _: Reply(status, body), applied=False)


def _limited(name: str, retry_after: object, **more: object) -> Fault:
    content = {"message": "You are being rate limited.", "retry_after": retry_after, **more}
    return Fault(name, lambda _: Reply(429, json.dumps(content).encode()), applied=False)


def _spent(answer: Answer) -> Answer:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset-after": "1.500"}
    return replace(answer, headers=headers) if isinstance(answer, Reply) else answer


def _spoiling(change: Callable[[list[Record]], list[Record]]) -> Callable[[Answer], Answer]:
    """Change the commands of a list; other answers stay."""

    def spoil(answer: Answer) -> Answer:
        content = json.loads(answer.body or b"0") if isinstance(answer, Reply) else 0
        if not isinstance(content, list) or not isinstance(answer, Reply):
            return answer
        return replace(answer, body=json.dumps(change(content)).encode())

    return spoil


def without(*keys: str) -> Callable[[Any], Any]:
    """Return a function that drops keys of a value of JSON at every level."""

    def drop(value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, list):
            return [drop(each) for each in value]
        if isinstance(value, dict):
            return {key: drop(each) for key, each in value.items() if key not in keys}
        return value

    return drop


DOUBLED = DiscordFault("doubled", again=1)
LIMITED = _limited("429", 0.5, **{"global": False})
LIMITED_EVERYWHERE = _limited("429 of all requests", 2, **{"global": True})
LIMITED_FOR_LONG = _limited("429 for long", 3600.0, **{"global": False})
LIMITED_GARBAGE = _limited("429 garbage", "soon")
LAST_OF_BUCKET = Fault("bucket is empty", _spent)
NO_ACCESS = _error("no access", 403, 50001, "Missing Access")
OTHER_APPLICATION = _error("other application", 403, 20012, "You are not authorized")
UNAUTHORIZED = _error("wrong token", 401, 0, "401: Unauthorized")
UNKNOWN = _error("unknown command", 404, 10063, "Unknown application command")
NAME_TAKEN = _error("name is taken", 400, 40041, "An application command with that name exists")
LIST_FULL = _error("list is full", 400, 30032, "Maximum number of application commands reached")
DAY_FULL = _error("day is full", 400, 30034, "Max number of daily application command creates")
INVALID = _error(
    *("invalid", 400, 50035, "Invalid Form Body"),
    errors={"name": {"_errors": [{"code": "X", "message": "It is not valid"}]}},
)
REPEATED = Fault("commands repeated", _spoiling(lambda listed: [*listed, *listed]))
WRONG_SHAPE = Fault("answer of wrong shape", lambda _: Reply(200, b'{"commands": 7}'))
WITHOUT_IDS = Fault("commands without id", _spoiling(without("id")))

FAULTS: tuple[Fault, ...] = (
    *(value for value in [*vars().values()] if isinstance(value, Fault)),
    *(listing.REFUSED, listing.RESET_BEFORE, listing.RESET_AFTER, listing.TIMED_OUT_BEFORE),
    *(listing.TIMED_OUT_AFTER, listing.TIMED_OUT_LATE, listing.DRIPPED, listing.CUT_AFTER),
    *(listing.TOO_LONG, listing.TOO_SHORT, listing.BOMB, listing.ENDLESS, listing.NO_UTF8),
    *(listing.UNREADABLE_BEFORE, listing.REQUEST_TIMED_OUT, listing.FAILED_BEFORE),
    *(listing.FAILED_AFTER, listing.FAILED_AFTER_HIDDEN, listing.GATEWAY_BEFORE),
    *(listing.GATEWAY_LATE, listing.UNAVAILABLE, listing.MOVED, listing.MOVED_AWAY, listing.HIDDEN),
    *listing.REFUSED_AFTER,
)
"""All of the above, and those of the page's service that Discord has, too."""

_NO_FAULT = Fault("none")


@dataclass(frozen=True)
class Request:
    """A request as it came, and what was made to go wrong."""

    number: int  # which request it is, from 0
    method: str
    path: str  # without `/api/v10`
    query: Mapping[str, str]
    body: Any
    fault: Fault | None

    @property
    def writes(self) -> bool:
        return self.method != "GET"

    @property
    def kind(self) -> str:
        """What it asks for: read, add, edit, delete or replace; `application` for all else."""
        kinds = {
            "GET": "read",
            "POST": "add",
            "PATCH": "edit",
            "DELETE": "delete",
            "PUT": "replace",
        }
        return kinds[self.method] if "/commands" in self.path else "application"


class Told(NamedTuple):
    """An answer with its content."""

    status: int
    content: Any
    headers: Mapping[str, str]


@dataclass
class DiscordListing:
    """Discord.

    Attributes:
        choices: What its documents leave open; by default, no bucket limits writes.
        faults: What goes wrong, by the number of the request.
        choose: Picks a fault for a request that `faults` does not name.
        acts: What another editor does, by the number of the request before which it happens.
        store: What becomes of a body before it is stored, such as `without("nsfw")`.
        lag: From how many of the next reads of a list each change is hidden.
        witness: Told after each change.
        now: The clock.
        requests, answers: Every request that came, and what was answered.
        states: What was so in truth after each of them.
        applied: The numbers of the requests that changed something, be it late.
        troubles: The bodies that Discord's published schema does not allow.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    faults: dict[int, Fault] = field(default_factory=dict)
    choose: Callable[[Request], Fault | None] = lambda _: None
    acts: dict[int, Callable[["DiscordListing"], object]] = field(default_factory=dict)
    store: Callable[[Any], Any] = lambda body: body
    lag: int = 0
    witness: Callable[["DiscordListing"], None] = lambda _: None
    now: Callable[[], datetime] = lambda: _NOW
    requests: list[Request] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    states: list[exchange.ServiceState] = field(default_factory=list)
    applied: set[int] = field(default_factory=set)
    troubles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        choices = {"bucket": "none", **self.choices}
        self.simulation = simulate(DISCORD, secret=TOKEN_OF, bot=APPLICATION, choices=choices)
        self.state = self._shown = DISCORD.start(self.simulation)
        self._hidden = 0  # reads from which the changes are still hidden
        self._late: list[tuple[int, Request]] = []

    @property
    def token(self) -> str:
        return self.simulation.token

    @staticmethod
    def path(guild: str = "", command: str = "") -> str:
        """Return the path of a list or of one command, without `/api/v10`."""
        of_guild = f"/guilds/{guild}" if guild else ""
        return f"/applications/{APPLICATION}{of_guild}/commands" + (
            f"/{command}" if command else ""
        )

    def seed(self, *commands: Record, guild: str = "") -> list[Record]:
        """Register commands before the test, and return them as they are listed."""
        return [self.other("POST", self.path(guild), command) for command in commands]

    def place(self, command: Record, guild: str = "") -> None:
        """Register a command of a type that nobody knows yet: no request can do that."""
        assert isinstance(self.state, DiscordState)
        application = self.state.application
        lists, number = application.lists, str(application.lists.next_id)
        scope = (*lists.of(guild), RegisteredCommand(number, number, command))
        lists = replace(lists, scopes={**lists.scopes, guild: scope}, next_id=lists.next_id + 1)
        self.state = replace(self.state, application=replace(application, lists=lists))
        self._shown = self.state

    def other(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401 - JSON
        """Do something as another editor does: no request is counted, and none may fail."""
        response = self._carry(Request(-1, method, path, {}, body, None))
        self._shown, self._hidden = self.state, 0
        assert response.status < 300, response
        return response.content

    def ask(
        self, method: str, path: str, body: object = None, *, query: str = "", **headers: str
    ) -> Told:
        """Send a request as a client does, and return its answer; a path may be another one.

        A header such as `user_agent` is sent beside the token, or in its place.
        """
        given = {"authorization": f"Bot {self.token}"}
        given |= {name.replace("_", "-"): text for name, text in headers.items()}
        pairs = [tuple(pair.split("=")) for pair in query.split("&") if pair]
        reply = self.handle(method, path, pairs, body, headers=given)  # type: ignore[arg-type]  # pairs
        assert isinstance(reply, Reply)
        return Told(reply.status, json.loads(reply.body or b"null"), reply.headers)

    def listed(self, guild: str = "", *, after: int | None = None) -> list[Record]:
        """Return the commands as they are in truth, in their order, with all languages.

        `after` is the number of a request after which they were so.
        """
        state = self.state if after is None else self.states[after]
        assert isinstance(state, DiscordState)
        return state.application.lists.shown(APPLICATION, guild)

    def ids(self, guild: str = "") -> dict[tuple[int, str], str]:
        """Return the ids by type and name."""
        return {(each["type"], each["name"]): each["id"] for each in self.listed(guild)}

    def writes(self, since: int = 0) -> list[Request]:
        """Return the requests that would change something."""
        return [request for request in self.requests[since:] if request.writes]

    def handle(
        self,
        method: str,
        path: str,
        query: Sequence[tuple[str, str]] = (),
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Answer a request, or fail to; without headers, it has the token."""
        number, path = len(self.requests), path.removeprefix(API)
        self._ripen()
        if act := self.acts.get(number):
            act(self)
        asked = Request(number, method, path, dict(query), body, None)
        fault = self.faults.get(number) or self.choose(asked)
        asked = replace(asked, fault=fault)
        self.requests.append(asked)
        self._validate(asked)
        answer = self._served(asked, fault or _NO_FAULT, headers)
        answer = fault.answer(answer) if fault and fault.answer else answer
        self.answers.append(answer)
        self.states.append(self.state)
        return answer

    def settle(self) -> None:
        """Let everything late happen, and show everything."""
        self._ripen(before=float("inf"))
        self._shown, self._hidden = self.state, 0

    def _validate(self, asked: Request) -> None:
        schema = {"POST": CREATE, "PATCH": EDIT, "PUT": REPLACE}.get(asked.method)
        if schema and asked.kind != "application":
            bodies = asked.body if isinstance(asked.body, list) else [asked.body]
            found = [why for body in bodies for why in schema_problems(body, schema)]
            self.troubles += [f"{asked.method} {asked.path}: {why}" for why in found]

    def _served(self, asked: Request, fault: Fault, headers: Mapping[str, str] | None) -> Answer:
        if fault.late:
            self._late.append((asked.number + 1 + fault.late, asked))
        if fault.late or not fault.applied:
            return Reply(200, b"{}")
        if asked.kind == "read" and self._hidden:
            response, _ = self._respond(asked, self._shown, headers)
            self._hidden -= 1
        else:
            before = self.state
            response = self._carry(asked, headers)
            for _ in range(fault.again if isinstance(fault, DiscordFault) else 0):
                response = self._carry(asked, headers)
            hidden = max(fault.hidden, self.lag)
            if self.state.lists != before.lists and hidden:
                self._shown = self._shown if self._hidden else before
                self._hidden = hidden
        named = {"content-type": response.media_type, **response.headers}
        lower = {name.lower(): text for name, text in named.items()}
        return Reply(response.status, response.body, lower)

    def _carry(self, asked: Request, headers: Mapping[str, str] | None = None) -> exchange.Response:
        """Let the simulation do what is asked, in truth."""
        response, after = self._respond(asked, self.state, headers)
        is_change = after.lists != self.state.lists
        self.state = after
        if is_change:
            self.applied.add(asked.number)
            self.witness(self)
        return response

    def _respond(
        self, asked: Request, state: exchange.ServiceState, headers: Mapping[str, str] | None
    ) -> tuple[exchange.Response, exchange.ServiceState]:
        given = {"authorization": f"Bot {self.token}"} if headers is None else headers
        body = self.store(asked.body) if asked.writes else asked.body
        request = exchange.Request(
            method=asked.method,
            path=f"{API}{asked.path}" if asked.path.startswith("/") else asked.path,
            query=asked.query,
            headers=given,
            body=b"" if body is None else json.dumps(body).encode(),
        )
        return self.simulation.respond(request, state, now=self.now())

    def _ripen(self, before: float | None = None) -> None:
        now = len(self.requests) if before is None else before
        due = [asked for at, asked in self._late if at <= now]
        self._late = [(at, asked) for at, asked in self._late if at > now]
        for asked in due:
            self._carry(asked)


@dataclass
class DiscordServer(FaultServer):
    """Discord on loopback; use it as a context manager.

    It fails in the end if a body was not one of Discord's published schema.
    """

    listing: DiscordListing = field(default_factory=DiscordListing)  # type: ignore[assignment]  # what a server needs of one

    @property
    def entry(self) -> str:
        """The lines of a manifest that lead to it."""
        return f"listings:\n  - service: discord\n    base_url: {self.url}\n"

    def __exit__(self, failed: object, *rest: object) -> None:
        super().__exit__(failed, *rest)
        assert failed or not self.listing.troubles, self.listing.troubles

    def _asked(self, request: rawserver.Request) -> tuple[Reply, str]:
        path, query = request.path, tuple(request.query.items())
        answered = self.listing.handle(
            request.method, path, query, request.json, headers=request.headers
        )
        fault = self.listing.requests[-1].fault
        reply = answered if isinstance(answered, Reply) else Reply(200, b"{}")
        sent = {name: text for name, text in reply.headers.items() if name != "content-type"}
        return replace(reply, headers=sent), fault.wire if fault is not None else ""
