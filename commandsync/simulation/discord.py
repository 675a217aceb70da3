"""Discord's REST interface for an application, as pure functions: it keeps the commands.

`respond` takes a request, an application and a time, and returns the response and the application
after it. `discordcommands` answers requests about commands; all others are answered with the
constant parts of an application with one server, so that a bot starts. The ids that are made here
(of commands, of the owner, of the server) serve the run only: `registered` leaves them out, so that
they never reach a manifest.

`DISCORD` is the service for clients. It adds the token, the servers of a caller and the rate
limits: 50 requests in a second, and a bucket for each route that changes commands. The documents
give no numbers for buckets: clients read them from the headers, and wait.

Rules and shapes: Discord's documentation of the API version 10, "Application", "Gateway", "Rate
Limits", "Reference".
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from http import HTTPStatus
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.simulation import discordcommands, exchange
from commandsync.simulation.discordcommands import (
    MALFORMED,
    CommandLists,
    CommandRequest,
    DiscordError,
    Quota,
    Window,
)
from commandsync.simulation.exchange import (
    DEFAULT,
    DocumentedService,
    Request,
    Response,
    Simulation,
    phrase,
)

FIXTURES: dict[str, Any] = json.loads(
    Path(__file__).with_name("fixtures.json").read_text(encoding="utf-8")
)
"""The constant part of users, servers, channels and messages, as Discord's documents show them."""

GUILD = "1000000000000000003"
"""The server of the stand-in, unless another one is given."""

_API = re.compile(r"/api(?:/v\d+)?(?=/)")
_MOST_KEPT, _LONGEST_NAMED = 200, 200  # refusals and unknown requests, and characters of one


class RefusedRegistration(NamedTuple):
    """A registration that was refused."""

    request: str  # its method and path
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class ApplicationState:
    """The lists of commands, and the application's identity."""

    application: str  # its id
    guild: str = GUILD
    lists: CommandLists = field(default_factory=CommandLists)
    bot_id: str = ""  # if it is not the application's
    name: str = "recorded"  # of the application and of the bot
    registrations: int = 0  # requests that changed a list
    refused: tuple[RefusedRegistration, ...] = ()
    unknown: tuple[str, ...] = ()  # requests that are not known here

    @property
    def bot(self) -> dict[str, Any]:
        """The bot's user."""
        own = {"id": self.bot_id or self.application, "username": self.name}
        return {**FIXTURES["bot"], **own}

    @property
    def guild_object(self) -> dict[str, Any]:
        """The server that the bot is in."""
        role = {**FIXTURES["role"], "id": self.guild}
        return {**FIXTURES["guild"], "id": self.guild, "roles": [role]}

    @property
    def channel(self) -> dict[str, Any]:
        """The only channel of the server."""
        return {**FIXTURES["channel"], "guild_id": self.guild}

    def member(self, user: Mapping[str, Any]) -> dict[str, Any]:
        """Return a user as a member of the server."""
        return {**FIXTURES["member"], "user": dict(user)}

    def message(self, content: str, author: Mapping[str, Any]) -> dict[str, Any]:
        """Return a message in the only channel."""
        return {**FIXTURES["message"], "content": content, "author": dict(author)}

    def registered(self) -> dict[str, list[dict[str, Any]]]:
        """Return the commands by scope, without any id of the stand-in; "" is the global scope."""
        return {
            scope: [dict(command.sent) for command in commands]
            for scope, commands in self.lists.scopes.items()
            if commands or not scope
        }


def respond(
    request: Request, state: ApplicationState, *, now: datetime
) -> tuple[Response, ApplicationState]:
    """Return the response to a request, and the state after it."""
    if call := call_of(request):
        response, lists = discordcommands.respond(call, state.lists, now)
        state = replace(state, lists=lists)
        if request.method == "GET":
            return response, state
        if response.status >= HTTPStatus.BAD_REQUEST:
            return response, refuse(request, state, response)
        return response, replace(state, registrations=state.registrations + 1)
    line = _request_line(request)
    for pattern, constant in _ROUTES:
        if matched := pattern.fullmatch(line):
            body = _value(request.body)
            content = constant(state, _PlainRequest(body, matched.groupdict(default="")))
            return Response(204) if content is None else Response(200, content), state
    unknown = (*state.unknown, line)[:_MOST_KEPT]
    status = HTTPStatus.METHOD_NOT_ALLOWED if _matched(request) else HTTPStatus.NOT_FOUND
    content = {"message": f"{status.value}: {status.phrase}", "code": 0}
    return Response(status, content), replace(state, unknown=unknown)


def call_of(request: Request) -> CommandRequest | None:
    """Return a request about commands as a call; None if it is about something else."""
    matched = _matched(request)
    if matched is None or request.method not in _METHODS[matched["command_id"] is None]:
        return None
    at, headers = matched.groupdict(default=""), request.headers
    languages = headers.get("x-discord-locale") or headers.get("accept-language", "")
    return CommandRequest(
        method=request.method,
        **at,
        body=_value(request.body),
        localizations=request.query.get("with_localizations", "").lower() in {"true", "1"},
        locale=re.split("[,;]", languages)[0].strip(),
    )


class _PlainRequest(NamedTuple):
    """A request that changes nothing: the value of its body, and the parts of its path."""

    body: Any
    at: Mapping[str, str]


def _path(request: Request) -> str:
    return _API.sub("", request.path, count=1).rstrip("/")


def _matched(request: Request) -> re.Match[str] | None:
    """Return the parts of a path of commands."""
    return _COMMANDS.fullmatch(_path(request))


def _request_line(request: Request) -> str:
    return f"{request.method} {_path(request)}"


def _value(body: bytes) -> Any:  # noqa: ANN401 - any value of JSON
    try:
        return json.loads(body) if body else {}
    except (ValueError, RecursionError):
        return MALFORMED


def refuse(request: Request, state: ApplicationState, response: Response) -> ApplicationState:
    """Return the state after a registration that is refused."""
    body = response.content if isinstance(response.content, Mapping) else {}
    reasons = "; ".join(_reasons(body.get("errors", {}))) or str(body.get("message", ""))
    refusal = RefusedRegistration(_request_line(request)[:_LONGEST_NAMED], response.status, reasons)
    return replace(state, refused=(*state.refused, refusal)[:_MOST_KEPT])


def _reasons(errors: Mapping[str, Any], place: str = "") -> Iterator[str]:
    for key, part in errors.items():
        if key == "_errors":
            yield from (f"{place}: {error['message']}" for error in part)
        else:
            yield from _reasons(part, f"{place}.{key}" if place else key)


def is_registration(request: Request) -> bool:
    """Whether a request changes a list of commands."""
    return request.method != "GET" and call_of(request) is not None


# The requests that change nothing.

_Handler = Callable[[ApplicationState, _PlainRequest], Any]
"""Returns the content of the answer to a request; None for an answer without any."""


def _application(state: ApplicationState) -> dict[str, Any]:
    own: dict[str, Any] = {"id": state.application, "name": state.name, "owner": FIXTURES["owner"]}
    installs: Mapping[str, Any] = {str(kind): {} for kind in state.lists.installs}
    own |= {"bot": state.bot, "integration_types_config": installs}
    return {**FIXTURES["application"], **own}


def _application_at(state: ApplicationState, request: _PlainRequest) -> dict[str, Any]:
    own, name = _application(state), request.at["application"]
    return own if name == "@me" else {**own, "id": name}


def _user(state: ApplicationState, request: _PlainRequest) -> Mapping[str, Any]:
    is_bot = request.at["user"] in {"@me", state.bot["id"]}
    return state.bot if is_bot else {**FIXTURES["owner"], "id": request.at["user"]}


def _posted(state: ApplicationState, request: _PlainRequest) -> dict[str, Any]:
    content = request.body.get("content") if isinstance(request.body, Mapping) else None
    return state.message(str(content or ""), state.bot)


_GATEWAY = {
    "url": "wss://gateway.discord.gg",
    "shards": 1,
    "session_start_limit": FIXTURES["session_start_limit"],
}
_LIST = r"/applications/(?P<application>[^/]+)(?:/guilds/(?P<guild>[^/]+))?/commands"
_COMMANDS = re.compile(rf"{_LIST}(?:/(?P<command_id>(?!permissions$)[^/]+))?")
_METHODS = {True: ("GET", "PUT", "POST"), False: ("GET", "PATCH", "DELETE")}
_ROUTES: Sequence[tuple[re.Pattern[str], _Handler]] = [
    (re.compile(pattern.replace("{any}", r"[^/]+")), handler)
    for pattern, handler in (
        (rf"(?:GET|PUT) {_LIST}(?:/{{any}})?/permissions", lambda *_: []),
        (r"GET /gateway(?:/bot)?", lambda *_: _GATEWAY),
        (r"GET /oauth2/applications/@me", lambda state, _: _application(state)),
        (r"(?:GET|PATCH) /applications/(?P<application>@me|\d+)", _application_at),
        (r"GET /applications/{any}/emojis", lambda *_: {"items": []}),
        (r"(?:GET|PUT) /applications/{any}/role-connections/metadata", lambda *_: []),
        (r"GET /applications/{any}/(?:skus|entitlements)", lambda *_: []),
        (r"GET /soundboard-default-sounds", lambda *_: []),
        (r"GET /sticker-packs", lambda *_: {"sticker_packs": []}),
        (r"GET /voice/regions", lambda *_: []),
        (r"GET /users/@me/guilds", lambda state, _: [state.guild_object]),
        (r"POST /users/@me/channels", lambda state, _: {**state.channel, "type": 1}),
        (r"(?:GET|PATCH) /users/(?P<user>@me|\d+)", _user),
        (r"GET /guilds/{any}(?:/preview)?", lambda state, _: state.guild_object),
        (r"GET /guilds/{any}/channels", lambda state, _: [state.channel]),
        (r"GET /guilds/{any}/roles", lambda state, _: state.guild_object["roles"]),
        (
            r"GET /guilds/{any}/members(?:/search)?",
            lambda state, _: [state.member(FIXTURES["owner"])],
        ),
        (
            r"(?:GET|PATCH) /guilds/{any}/members/(?P<user>@me|\d+)",
            lambda state, request: state.member(_user(state, request)),
        ),
        (r"GET /guilds/{any}/{any}", lambda *_: []),
        (r"GET /channels/{any}", lambda state, _: state.channel),
        (r"GET /channels/{any}/(?:messages|pins)", lambda *_: []),
        (r"(?:POST|PATCH|GET) /channels/{any}/messages(?:/{any})?", _posted),
        (r"(?:PUT|DELETE) /channels/.+", lambda *_: None),
        (r"POST /channels/{any}/typing", lambda *_: None),
        (r"POST /interactions/{any}/{any}/callback", lambda *_: None),
        (r"(?:GET|POST|PATCH) /webhooks/.+", _posted),
    )
]
"""The known requests; the first that matches counts, and any other is 404 and named."""


_BUCKETS = {"5/20s": Quota(5, 20.0), "1/s": Quota(1, 1.0), "none": None}
_INSTALLS = {"both": (0, 1), "guild": (0,), "user": (1,)}
_VIA = {"Via": "1.1 google"}  # discord.py does not wait after a 429 without it
_OTHER_BOT = "812045337190064139"
_USER_AGENT = re.compile(r"DiscordBot \(\S+, \S+\)")


@dataclass(frozen=True, slots=True)
class DiscordState(exchange.ServiceState):
    """The state of Discord.

    Attributes:
        application: It and its commands; `lists` shows them by server.
        buckets: The requests of each bucket that was used.
    """

    application: ApplicationState = field(default_factory=lambda: ApplicationState(""))
    buckets: Mapping[str, Window] = field(default_factory=dict)


def _start(simulation: Simulation) -> DiscordState:
    answers = simulation.answers
    lists = CommandLists(
        installs=_INSTALLS[answers["installs"]],
        keeps_unknown=answers["unknown_keys"] == "kept",
    )
    application = ApplicationState(simulation.bot, lists=lists, name="Lantern")
    if answers["bot_id"] == "other":
        application = replace(application, bot_id=_OTHER_BOT)
    return DiscordState(application=application)


def _answer(
    simulation: Simulation, request: Request, state: exchange.ServiceState, now: datetime
) -> tuple[Response, exchange.ServiceState]:
    """Answer a caller with the token."""
    assert isinstance(state, DiscordState)  # noqa: S101 - as `_start` makes it
    call = call_of(request)
    limit = _BUCKETS[simulation.answers["bucket"]]
    headers: Mapping[str, str] = {}
    try:
        _check(simulation, request, call, state.application)
        if call is not None and limit is not None and call.method != "GET":
            state, headers = _spend(call, limit, state, now)
    except DiscordError as error:
        return error.response, state
    if headers.get("Retry-After"):
        content = {
            "message": "You are being rate limited.",
            "retry_after": float(headers["X-RateLimit-Reset-After"]),
            "global": False,
        }
        return Response(429, content, headers=headers), state
    response, after = respond(request, state.application, now=now)
    is_change = call is not None and after.registrations > state.application.registrations
    state = replace(state, application=after)
    if call is not None and is_change:
        shown = after.lists.shown(call.application, call.guild)
        state = state.with_list(shown, call.guild or DEFAULT)
    return replace(response, headers=headers), state


def _check(
    simulation: Simulation, request: Request, call: CommandRequest | None, known: ApplicationState
) -> None:
    """Raise `DiscordError` for a caller without the token, or without access to the list."""
    user_agent = request.headers.get("user-agent", "")
    if simulation.answers["user_agent"] == "checked" and not _USER_AGENT.match(user_agent):
        raise DiscordError(403, 40333, "internal network error")
    if request.headers.get("authorization") != f"Bot {simulation.token}":
        raise DiscordError(401, 0, "401: Unauthorized")
    if not request.path.startswith("/api/"):
        raise DiscordError(404, 0, "404: Not Found")
    if call is None:
        return
    if call.application != simulation.bot:
        message = "You are not authorized to perform this action on this application"
        raise DiscordError(403, 20012, message)
    is_known = simulation.answers["servers"] == "any" and call.guild.isdecimal()
    if call.guild and not is_known and call.guild != known.guild:
        raise DiscordError(403, 50001, "Missing Access")


def _spend(
    call: CommandRequest, limit: Quota, state: DiscordState, now: datetime
) -> tuple[DiscordState, Mapping[str, str]]:
    """Return the state after a request of a bucket, and its headers: with `Retry-After` if full.

    Each method and kind of path has a bucket, for each server.
    """
    route = f"{call.method} {bool(call.guild)} {bool(call.command_id)}"
    key = f"{route} {call.guild}"
    window = limit.window(state.buckets.get(key), now)
    is_full = window.used >= limit.most
    window = window if is_full else window.spend()
    left = limit.left(window, now)
    headers = {
        "X-RateLimit-Limit": str(limit.most),
        "X-RateLimit-Remaining": str(limit.most - window.used),
        "X-RateLimit-Reset": f"{now.timestamp() + left:.3f}",
        "X-RateLimit-Reset-After": f"{left:.3f}",
        "X-RateLimit-Bucket": sha256(route.encode()).hexdigest()[:32],
    }
    if is_full:
        headers |= {"Retry-After": str(ceil(left)), "X-RateLimit-Scope": "user", **_VIA}
    return replace(state, buckets={**state.buckets, key: window}), headers


def _refused(status: int, _reason: str, seconds: int | None) -> object:
    if seconds is None:
        return {"message": f"{status}: {phrase(status)}", "code": 0}
    content = {"message": "You are being rate limited.", "retry_after": float(seconds)}
    return {**content, "global": True}


DISCORD = DocumentedService(
    name="discord",
    variable="COMMANDSYNC_TOKEN_DISCORD",
    prefix="/api",
    answer=_answer,
    start=_start,
    open={
        "bucket": tuple(_BUCKETS),
        "installs": tuple(_INSTALLS),
        "bot_id": ("same", "other"),
        "servers": ("any", "one"),
        "unknown_keys": ("dropped", "kept"),
        "user_agent": ("any", "checked"),
    },
    refused=_refused,
    refusal_headers=_VIA,
    rate_limit="50/second",
)
