"""Discord's REST interface for an application, as pure functions: it keeps the commands.

`respond` takes a request and a state, and returns the response and the next state. Lists are kept
by scope, each empty at the start: `""` for the global one, else the server's id. A registration
that is not valid is refused as Discord does, and changes nothing. The ids that are made here (of
commands, of the owner, of the server) serve the run only: `registered` leaves them out, so that
they never reach a manifest.

Rules and shapes: Discord's documentation of the API version 10, "Application Commands", "Gateway".
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from commandsync.simulation.exchange import Request, Response

FIXTURES: dict[str, Any] = json.loads(
    Path(__file__).with_name("fixtures.json").read_text(encoding="utf-8")
)
"""The constant part of users, servers, channels and messages, as Discord's documents show them."""

GUILD = "1000000000000000003"
"""The server of the stand-in, unless another one is given."""

_MALFORMED = object()
_API = re.compile(r"/api(?:/v\d+)?(?=/)")
_OWN_KEYS = ("id", "version", "application_id", "guild_id")
_FIRST_ID = 10**18 + 10**6
_CHAT, _MENUS, _ENTRY_POINT = 1, (2, 3), 4
_GROUP, _SUBCOMMAND, _OPTION_TYPES = 2, 1, range(1, 12)
_MOST = {_CHAT: 100, 2: 15, 3: 15, _ENTRY_POINT: 1}  # commands of a type in a scope
_MOST_PARTS, _LONGEST_NAME, _LONGEST_TEXT, _MOST_CHARACTERS = 25, 32, 100, 8000
_MOST_KEPT, _LONGEST_NAMED = 200, 200  # refusals and unknown requests, and characters of one
_INVALID, _NOT_JSON, _UNKNOWN_COMMAND, _TOO_MANY = 50035, 50109, 10063, 30032


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
    lists: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)  # scope, id
    registrations: int = 0  # requests that changed a list
    refused: tuple[Refusal, ...] = ()
    unknown: tuple[str, ...] = ()  # requests that are not known here
    next_id: int = _FIRST_ID

    @property
    def bot(self) -> dict[str, Any]:
        """The bot's user."""
        return {**FIXTURES["bot"], "id": self.application}

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
            scope: [{k: v for k, v in one.items() if k not in _OWN_KEYS} for one in kept.values()]
            for scope, kept in self.lists.items()
            if kept or not scope
        }

    def with_list(self, scope: str, commands: Iterable[Mapping[str, Any]], made: int) -> "State":
        """Return the state after a registration that made some new ids."""
        listed = {command["id"]: command for command in commands}
        return replace(
            self,
            lists={**self.lists, scope: listed},
            registrations=self.registrations + 1,
            next_id=self.next_id + made,
        )


def respond(request: Request, state: State) -> tuple[Response, State]:
    """Return the response to a request, and the state after it."""
    asked = _asked(request)
    for pattern, handler in _CHANGING:
        if matched := pattern.fullmatch(asked):
            call = _Call(request.method, _value(request.body), matched.groupdict(default=""))
            response, after = handler(state, call)
            if request.method != "GET" and response.status >= HTTPStatus.BAD_REQUEST:
                after = refuse(request, state, response)
            return response, after
    for pattern, constant in _ROUTES:
        if matched := pattern.fullmatch(asked):
            call = _Call(request.method, _value(request.body), matched.groupdict(default=""))
            return constant(state, call), state
    unknown = (*state.unknown, asked)[:_MOST_KEPT]
    missing = Response(404, {"message": "404: Not Found", "code": 0})
    return missing, replace(state, unknown=unknown)


class _Call(NamedTuple):
    """A known request: its method, the value of its body, and the parts of its path."""

    method: str
    body: Any
    at: Mapping[str, str]


def _asked(request: Request) -> str:
    path = _API.sub("", request.path, count=1) if _API.match(request.path) else request.path
    return f"{request.method} {path.rstrip('/')}"


def _value(body: bytes) -> Any:  # noqa: ANN401 - any value of JSON
    try:
        return json.loads(body) if body else {}
    except (ValueError, RecursionError):
        return _MALFORMED


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
    asked = _asked(request)
    return request.method != "GET" and any(each.fullmatch(asked) for each, _ in _CHANGING)


def _commands(state: State, call: _Call) -> tuple[Response, State]:
    """Answer a request about a whole list: read it, replace it, or add to it."""
    if call.method == "GET":
        listed = state.lists.get(call.at["guild"], {})
        return Response(200, [_answered(command) for command in listed.values()]), state
    if call.body is _MALFORMED:
        return _malformed(), state
    return _added(state, call) if call.method == "POST" else _replaced(state, call)


def _added(state: State, call: _Call) -> tuple[Response, State]:
    """Add a command to a list, or put it in the place of the one with its name and type."""
    scope = call.at["guild"]
    listed = state.lists.get(scope, {})
    if errors := dict(_command_errors(call.body)):
        return _invalid(errors), state
    made = _made(state, call.body, call.at, 0)
    known = [one for one in listed.values() if _key(one) == _key(made)]
    if not known and (errors := _count_errors([*listed.values(), made])):
        return _invalid(errors), state
    command = {**made, "id": known[0]["id"]} if known else made
    after = state.with_list(scope, {**listed, command["id"]: command}.values(), 1)
    return Response(200 if known else 201, _answered(command)), after


def _replaced(state: State, call: _Call) -> tuple[Response, State]:
    """Replace a whole list; a command that it had before keeps its id."""
    scope, body, at = call.at["guild"], call.body, call.at
    if not isinstance(body, list):
        error = _error("BASE_TYPE_BAD_TYPE", "Only lists are accepted")
        return _invalid({"_errors": [error]}), state
    errors = {
        str(place): found
        for place, each in enumerate(body)
        if (found := dict(_command_errors(each)))
    }
    made_all = [] if errors else [_made(state, each, at, place) for place, each in enumerate(body)]
    errors = errors or _count_errors(made_all) or _duplicates(made_all)
    if errors:
        return _invalid(errors), state
    ids = {_key(command): command["id"] for command in state.lists.get(scope, {}).values()}
    kept = [{**command, "id": ids.get(_key(command), command["id"])} for command in made_all]
    after = state.with_list(scope, kept, len(kept))
    return Response(200, [_answered(one) for one in kept]), after


def _command(state: State, call: _Call) -> tuple[Response, State]:
    """Answer a request about one command: read it, edit it, or delete it."""
    scope, identifier = call.at["guild"], call.at["command"]
    listed = dict(state.lists.get(scope, {}))
    if identifier not in listed:
        unknown = {"message": "Unknown application command", "code": _UNKNOWN_COMMAND}
        return Response(404, unknown), state
    if call.method == "DELETE":
        del listed[identifier]
        return Response(204), state.with_list(scope, listed.values(), 0)
    if call.method == "PATCH":
        if call.body is _MALFORMED:
            return _malformed(), state
        part = call.body if isinstance(call.body, Mapping) else {"name": None}
        after = {**listed[identifier], **part, "id": identifier}
        if errors := dict(_command_errors(after)):
            return _invalid(errors), state
        listed[identifier] = after
        return Response(200, _answered(after)), state.with_list(scope, listed.values(), 0)
    return Response(200, _answered(listed[identifier])), state


def _made(
    state: State, body: Mapping[str, Any], at: Mapping[str, str], place: int
) -> dict[str, Any]:
    """Return a command as Discord would return it, with an id of its own."""
    number = str(state.next_id + place)
    server = {"guild_id": at["guild"]} if at["guild"] else {}
    ids = {"id": number, "application_id": at["application"], "version": number, **server}
    return {"type": _CHAT, "description": "", **body, **ids}


def _answered(command: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command with the key that each of Discord's answers has, if it was not sent."""
    return {"default_member_permissions": None, **command}


def _key(command: Mapping[str, Any]) -> tuple[object, object]:
    return command.get("type", _CHAT), command.get("name")


# The rules for a command, as errors by the keys of the body.

_Errors = Iterator[tuple[str, Mapping[str, Any]]]


def _error(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def _invalid(errors: Mapping[str, Any]) -> Response:
    return Response(400, {"message": "Invalid Form Body", "code": _INVALID, "errors": errors})


def _malformed() -> Response:
    return Response(400, {"message": "The request body contains invalid JSON.", "code": _NOT_JSON})


def _wrong(key: str, code: str, message: str) -> tuple[str, Mapping[str, Any]]:
    return key, {"_errors": [_error(code, message)]}


def _text_errors(value: object, key: str, most: int, least: int = 1) -> _Errors:
    if value is None and least:
        yield _wrong(key, "BASE_TYPE_REQUIRED", "This field is required")
    elif value is not None and not isinstance(value, str):
        yield _wrong(key, "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    elif not least <= len(value or "") <= most:
        message = f"Must be between {least} and {most} in length."
        yield _wrong(key, "BASE_TYPE_BAD_LENGTH", message)


def _is_name(text: str) -> bool:
    """Whether a text is a name of a chat command: letters, digits and `-_'`, in lower case."""
    return text == text.lower() and all(
        sign in "-_'"
        or unicodedata.category(sign)[0] in "LN"
        or unicodedata.name(sign, "").startswith(("DEVANAGARI", "THAI"))
        for sign in text
    )


def _name_errors(value: object) -> _Errors:
    errors = [*_text_errors(value, "name", _LONGEST_NAME)]
    if not errors and not _is_name(str(value)):
        errors = [_wrong("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")]
    yield from errors


def _command_errors(body: object) -> _Errors:
    if not isinstance(body, Mapping):
        yield "_errors", [_error("DICT_TYPE_CONVERT", "Only dictionaries may be used")]  # type: ignore[misc]
        return
    kind = body.get("type", _CHAT)
    if isinstance(kind, bool) or str(kind) not in {"1", "2", "3", "4"}:
        yield _wrong("type", "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3, 4).")
        return
    if int(kind) in _MENUS:
        yield from _text_errors(body.get("name"), "name", _LONGEST_NAME)
        if body.get("description"):
            message = "Context menu commands cannot have description"
            yield _wrong("description", "APPLICATION_COMMAND_INVALID_DESCRIPTION", message)
        return
    yield from _name_errors(body.get("name"))
    yield from _text_errors(body.get("description"), "description", _LONGEST_TEXT)
    yield from _options_errors(body.get("options"), depth=0)
    if _characters(body) > _MOST_CHARACTERS:
        message = f"Command exceeds maximum size ({_MOST_CHARACTERS})"
        yield _wrong("name", "APPLICATION_COMMAND_TOO_LARGE", message)


def _options_errors(options: object, *, depth: int) -> _Errors:
    """Yield the errors of the options of a command (depth 0), of a group or of a sub-command."""
    if options is None:
        return
    if not isinstance(options, list) or len(options) > _MOST_PARTS:
        message = f"Must be a list of at most {_MOST_PARTS}."
        yield _wrong("options", "BASE_TYPE_BAD_LENGTH", message)
        return
    errors = {
        str(place): found
        for place, option in enumerate(options)
        if (found := dict(_option_errors(option, depth)))
    }
    if errors := errors or _order_errors(options):
        yield "options", errors


def _order_errors(options: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the errors of options that are valid one by one: of their names and their order."""
    errors: dict[str, Any] = {}
    names, is_optional = set[str](), False
    for place, option in enumerate(options):
        name, required = option["name"], bool(option.get("required"))
        if name in names:
            message = "Option names must be unique"
            code = "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS"
            errors[str(place)] = dict([_wrong("name", code, message)])
        elif required and is_optional:
            message = "Required options must be placed before non-required options"
            code = "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID"
            errors[str(place)] = dict([_wrong("required", code, message)])
        names.add(name)
        is_optional = is_optional or not required
    return errors


def _option_errors(option: object, depth: int) -> _Errors:
    if not isinstance(option, Mapping):
        yield "_errors", [_error("DICT_TYPE_CONVERT", "Only dictionaries may be used")]  # type: ignore[misc]
        return
    kind = option.get("type")
    if isinstance(kind, bool) or str(kind) not in set(map(str, _OPTION_TYPES)):
        yield _wrong("type", "BASE_TYPE_CHOICES", "Value must be one of (1, ..., 11).")
        return
    yield from _name_errors(option.get("name"))
    yield from _text_errors(option.get("description"), "description", _LONGEST_TEXT)
    deepest = {_SUBCOMMAND: 1, _GROUP: 0}.get(int(str(kind)))  # where such a parent may be
    if deepest is not None and depth > deepest:
        yield _wrong("type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "It is not allowed here")
    elif deepest is not None:
        yield from _options_errors(option.get("options"), depth=1 + deepest)
    choices = option.get("choices")
    if choices and (not isinstance(choices, list) or len(choices) > _MOST_PARTS):
        message = f"Must be a list of at most {_MOST_PARTS}."
        yield _wrong("choices", "BASE_TYPE_BAD_LENGTH", message)


def _characters(part: Mapping[str, Any]) -> int:
    """Return the characters of all names, descriptions and values, in the longest language."""
    count = 0
    for key in ("name", "description"):
        given = part.get(f"{key}_localizations")
        texts = [part.get(key), *(given.values() if isinstance(given, Mapping) else ())]
        count += max((len(text) for text in texts if isinstance(text, str)), default=0)
    count += len(part["value"]) if isinstance(part.get("value"), str) else 0
    for key in ("options", "choices"):
        parts = part.get(key)
        if isinstance(parts, list):
            count += sum(_characters(each) for each in parts if isinstance(each, Mapping))
    return count


def _count_errors(commands: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    for kind, most in _MOST.items():
        if sum(int(command["type"]) == kind for command in commands) > most:
            message = f"Maximum number of application commands reached ({most})"
            return {"_errors": [_error(str(_TOO_MANY), message)]}
    return {}


def _duplicates(commands: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    seen, errors = set[object](), dict[str, Any]()
    for place, command in enumerate(commands):
        if _key(command) in seen:
            code = "APPLICATION_COMMANDS_DUPLICATE_NAME"
            errors[str(place)] = {
                "_errors": [_error(code, "Application command names must be unique")]
            }
        seen.add(_key(command))
    return errors


# The requests that change nothing.

_Handler = Callable[[State, _Call], Response]


def _constant(value: Callable[[State], Any]) -> _Handler:
    return lambda state, _call: Response(200, value(state))


def _gateway(state: State) -> dict[str, Any]:  # noqa: ARG001 - of every constant
    limit = FIXTURES["session_start_limit"]
    return {"url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit}


def _application(state: State) -> dict[str, Any]:
    own = {"id": state.application, "owner": FIXTURES["owner"], "bot": state.bot}
    return {**FIXTURES["application"], **own}


def _application_at(state: State, call: _Call) -> Response:
    own = _application(state)
    name = call.at["application"]
    return Response(200, own if name == "@me" else {**own, "id": name})


def _user_at(state: State, call: _Call) -> Mapping[str, Any]:
    is_bot = call.at["user"] in {"@me", state.application}
    return state.bot if is_bot else {**FIXTURES["owner"], "id": call.at["user"]}


def _user(state: State, call: _Call) -> Response:
    return Response(200, _user_at(state, call))


def _member(state: State, call: _Call) -> Response:
    return Response(200, state.member(_user_at(state, call)))


def _posted(state: State, call: _Call) -> Response:
    content = call.body.get("content") if isinstance(call.body, Mapping) else None
    return Response(200, state.message(str(content or ""), state.bot))


def _done(_state: State, _call: _Call) -> Response:
    return Response(204)


_LIST = r"/applications/(?P<application>[^/]+)(?:/guilds/(?P<guild>[^/]+))?/commands"
_CHANGING = [
    (re.compile(rf"(?:GET|PUT|POST) {_LIST}"), _commands),
    (re.compile(rf"(?:GET|PATCH|DELETE) {_LIST}/(?P<command>(?!permissions$)[^/]+)"), _command),
]
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
