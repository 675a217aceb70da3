"""Discord's REST interface for an application, as pure functions: it keeps the commands.

`respond` takes a request, a state and a time, and returns the response and the next state. Requests
about commands are those of `discordcommands`; all others are answered with the constant parts of an
application with one server, so that a bot starts. The ids that are made here (of commands, of the
owner, of the server) serve the run only: `registered` leaves them out, so that they never reach a
manifest.

Rules and shapes: Discord's documentation of the API version 10, "Application", "Gateway".
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.simulation import discordcommands
from commandsync.simulation.discordcommands import MALFORMED, Call, Lists
from commandsync.simulation.exchange import Request, Response

FIXTURES: dict[str, Any] = json.loads(
    Path(__file__).with_name("fixtures.json").read_text(encoding="utf-8")
)
"""The constant part of users, servers, channels and messages, as Discord's documents show them."""

GUILD = "1000000000000000003"
"""The server of the stand-in, unless another one is given."""

_API = re.compile(r"/api(?:/v\d+)?(?=/)")
_MOST_KEPT, _LONGEST_NAMED = 200, 200  # refusals and unknown requests, and characters of one


class Refusal(NamedTuple):
    """A registration that was refused."""

    request: str  # its method and path
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class State:
    """The lists of commands, and the application's identity."""

    application: str  # its id
    guild: str = GUILD
    lists: Lists = field(default_factory=Lists)
    bot_id: str = ""  # if it is not that of the application
    name: str = "recorded"  # of the application and of the bot
    registrations: int = 0  # requests that changed a list
    refused: tuple[Refusal, ...] = ()
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


def respond(request: Request, state: State, *, now: datetime) -> tuple[Response, State]:
    """Return the response to a request, and the state after it."""
    if call := call_of(request):
        response, lists = discordcommands.respond(call, state.lists, now)
        state = replace(state, lists=lists)
        if request.method == "GET":
            return response, state
        if response.status >= HTTPStatus.BAD_REQUEST:
            return response, refuse(request, state, response)
        return response, replace(state, registrations=state.registrations + 1)
    asked = _asked(request)
    for pattern, constant in _ROUTES:
        if matched := pattern.fullmatch(asked):
            body = _value(request.body)
            return constant(state, _Asked(body, matched.groupdict(default=""))), state
    unknown = (*state.unknown, asked)[:_MOST_KEPT]
    status = HTTPStatus.METHOD_NOT_ALLOWED if _matched(request) else HTTPStatus.NOT_FOUND
    content = {"message": f"{status.value}: {status.phrase}", "code": 0}
    return Response(status, content), replace(state, unknown=unknown)


def call_of(request: Request) -> Call | None:
    """Return a request about commands as a call; None if it is about something else."""
    matched = _matched(request)
    if matched is None or request.method not in _METHODS[matched["command_id"] is None]:
        return None
    at, headers = matched.groupdict(default=""), request.headers
    languages = headers.get("x-discord-locale") or headers.get("accept-language", "")
    return Call(
        method=request.method,
        **at,
        body=_value(request.body),
        localizations=request.query.get("with_localizations", "").lower() in {"true", "1"},
        locale=re.split("[,;]", languages)[0].strip(),
    )


class _Asked(NamedTuple):
    """What a request that changes nothing has: the value of its body, and the parts of its path."""

    body: Any
    at: Mapping[str, str]


def _path(request: Request) -> str:
    return _API.sub("", request.path, count=1).rstrip("/")


def _matched(request: Request) -> re.Match[str] | None:
    """Return the parts of a path of commands."""
    return _COMMANDS.fullmatch(_path(request))


def _asked(request: Request) -> str:
    return f"{request.method} {_path(request)}"


def _value(body: bytes) -> Any:  # noqa: ANN401 - any value of JSON
    try:
        return json.loads(body) if body else {}
    except (ValueError, RecursionError):
        return MALFORMED


def refuse(request: Request, state: State, response: Response) -> State:
    """Return the state after a registration that is refused."""
    body = response.content if isinstance(response.content, Mapping) else {}
    reasons = "; ".join(_reasons(body.get("errors", {}))) or str(body.get("message", ""))
    refusal = Refusal(_asked(request)[:_LONGEST_NAMED], response.status, reasons)
    return replace(state, refused=(*state.refused, refusal)[:_MOST_KEPT])


def _reasons(errors: Mapping[str, Any], place: str = "") -> Iterator[str]:
    for key, part in errors.items():
        if key == "_errors":
            yield from (f"{place}: {one['message']}" for one in part)
        else:
            yield from _reasons(part, f"{place}.{key}" if place else key)


def is_registration(request: Request) -> bool:
    """Whether a request changes a list of commands."""
    return request.method != "GET" and call_of(request) is not None


# The requests that change nothing.

_Handler = Callable[[State, _Asked], Response]


def _constant(value: Callable[[State], Any]) -> _Handler:
    return lambda state, _asked: Response(200, value(state))


def _gateway(state: State) -> dict[str, Any]:  # noqa: ARG001 - of every constant
    limit = FIXTURES["session_start_limit"]
    return {"url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit}


def _application(state: State) -> dict[str, Any]:
    own: dict[str, Any] = {"id": state.application, "name": state.name, "owner": FIXTURES["owner"]}
    installs: Mapping[str, Any] = {str(kind): {} for kind in state.lists.installs}
    own |= {"bot": state.bot, "integration_types_config": installs}
    return {**FIXTURES["application"], **own}


def _application_at(state: State, asked: _Asked) -> Response:
    own = _application(state)
    name = asked.at["application"]
    return Response(200, own if name == "@me" else {**own, "id": name})


def _user_at(state: State, asked: _Asked) -> Mapping[str, Any]:
    is_bot = asked.at["user"] in {"@me", state.bot["id"]}
    return state.bot if is_bot else {**FIXTURES["owner"], "id": asked.at["user"]}


def _user(state: State, asked: _Asked) -> Response:
    return Response(200, _user_at(state, asked))


def _member(state: State, asked: _Asked) -> Response:
    return Response(200, state.member(_user_at(state, asked)))


def _posted(state: State, asked: _Asked) -> Response:
    content = asked.body.get("content") if isinstance(asked.body, Mapping) else None
    return Response(200, state.message(str(content or ""), state.bot))


def _done(_state: State, _asked: _Asked) -> Response:
    return Response(204)


_LIST = r"/applications/(?P<application>[^/]+)(?:/guilds/(?P<guild>[^/]+))?/commands"
_COMMANDS = re.compile(rf"{_LIST}(?:/(?P<command_id>(?!permissions$)[^/]+))?")
_METHODS = {True: ("GET", "PUT", "POST"), False: ("GET", "PATCH", "DELETE")}
_ROUTES: Sequence[tuple[re.Pattern[str], _Handler]] = [
    (re.compile(pattern.replace("{any}", r"[^/]+")), handler)
    for pattern, handler in (
        (rf"(?:GET|PUT) {_LIST}(?:/{{any}})?/permissions", _constant(lambda _: [])),
        (r"GET /gateway(?:/bot)?", _constant(_gateway)),
        (r"GET /oauth2/applications/@me", _constant(_application)),
        (r"(?:GET|PATCH) /applications/(?P<application>@me|\d+)", _application_at),
        (r"GET /applications/{any}/emojis", _constant(lambda _: {"items": []})),
        (r"(?:GET|PUT) /applications/{any}/role-connections/metadata", _constant(lambda _: [])),
        (r"GET /applications/{any}/(?:skus|entitlements)", _constant(lambda _: [])),
        (r"GET /soundboard-default-sounds", _constant(lambda _: [])),
        (r"GET /sticker-packs", _constant(lambda _: {"sticker_packs": []})),
        (r"GET /voice/regions", _constant(lambda _: [])),
        (r"GET /users/@me/guilds", _constant(lambda state: [state.guild_object])),
        (r"POST /users/@me/channels", _constant(lambda state: {**state.channel, "type": 1})),
        (r"(?:GET|PATCH) /users/(?P<user>@me|\d+)", _user),
        (r"GET /guilds/{any}(?:/preview)?", _constant(lambda state: state.guild_object)),
        (r"GET /guilds/{any}/channels", _constant(lambda state: [state.channel])),
        (
            r"GET /guilds/{any}/roles",
            _constant(lambda state: state.guild_object["roles"]),
        ),
        (
            r"GET /guilds/{any}/members(?:/search)?",
            _constant(lambda state: [state.member(FIXTURES["owner"])]),
        ),
        (r"(?:GET|PATCH) /guilds/{any}/members/(?P<user>@me|\d+)", _member),
        (r"GET /guilds/{any}/{any}", _constant(lambda _: [])),
        (r"GET /channels/{any}", _constant(lambda state: state.channel)),
        (r"GET /channels/{any}/(?:messages|pins)", _constant(lambda _: [])),
        (r"(?:POST|PATCH|GET) /channels/{any}/messages(?:/{any})?", _posted),
        (r"(?:PUT|DELETE) /channels/.+", _done),
        (r"POST /channels/{any}/typing", _done),
        (r"POST /interactions/{any}/{any}/callback", _done),
        (r"(?:GET|POST|PATCH) /webhooks/.+", _posted),
    )
]
"""The known requests; the first that matches counts, and any other is 404 and named."""
