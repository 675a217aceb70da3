"""Telegram's Bot API: the lists of commands by scope and language, for clients and for a bot.

`TELEGRAM` is the service: the token is in the path, and parameters come in the query and in the
body, as JSON or as a form. `respond` is the API that a running bot calls: it takes a call and a
state, answers calls of menus by the service, and has polls and messages as well. Only a long poll
for updates waits: its response says how long it may.

Rules and shapes: core.telegram.org/bots/api, "Making requests", "setMyCommands", "getUpdates".
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple
from urllib.parse import parse_qsl

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from commandsync.simulation import exchange
from commandsync.simulation.discord import FIXTURES, RefusedRegistration
from commandsync.simulation.exchange import (
    DEFAULT,
    DocumentedService,
    Records,
    RefusalError,
    Request,
    Response,
    ServiceState,
    Simulation,
    check_method,
    phrase,
)

_MOST_COMMANDS = 100
_TOO_MANY_BYTES = 7_876  # of the commands; the service does not document it


class _TelegramCommand(BaseModel, extra="allow"):  # newer keys are kept and returned
    command: Annotated[str, Field(pattern="^[a-z0-9_]{1,32}$")]
    description: Annotated[str, Field(min_length=1, max_length=256)]


_COMMANDS = TypeAdapter(list[_TelegramCommand])


def _answer(
    simulation: Simulation, request: Request, state: ServiceState, _now: datetime
) -> tuple[Response, ServiceState]:
    """Call a method; its name may be in upper or lower case."""
    called = re.fullmatch(r"/bot(?P<token>[^/]+)/(?P<method>[^/]+)", request.path)
    if called is None:
        raise RefusalError(404)
    check_method(request, "GET", "POST")
    if called["token"] != simulation.token:
        raise RefusalError(401 if called["token"].startswith(f"{simulation.bot}:") else 404)
    parameters = _parameters(request)
    result: object = True
    match called["method"].lower():
        case "getme":
            account = {"is_bot": True, "first_name": "Lantern", "username": "lantern_bot"}
            result = {"id": int(simulation.bot), **account}
        case "getmycommands":
            result = state.lists.get(_parameters_key(parameters), [])
        case "deletemycommands":
            state = state.with_list([], _parameters_key(parameters))
        case "setmycommands":
            records = _commands(parameters, simulation.answers)
            state = state.with_list(records, _parameters_key(parameters))
        case _:
            raise RefusalError(404)
    return Response(200, {"ok": True, "result": result}), state


def _refused(status: int, reason: str, seconds: int | None) -> object:
    """Return the content of a refusal, as the documents ("Making requests") have it."""
    content = {"ok": False, "error_code": status, "description": reason}
    if seconds is None:
        return content
    content["description"] = f"{phrase(status)}: retry after {seconds}"
    return {**content, "parameters": {"retry_after": seconds}}


def _parameters(request: Request) -> dict[str, Any]:
    """Return the parameters from the query and the body: JSON, or a form with texts of JSON."""
    given: dict[str, Any] = {**request.query}
    try:
        if "json" in request.headers.get("content-type", ""):
            return given | dict(json.loads(request.body or b"{}"))
        given |= dict(parse_qsl(request.body.decode()))
        for name in given.keys() & {"commands", "scope"}:
            given[name] = json.loads(given[name])
    except (TypeError, ValueError, RecursionError) as error:
        raise _bad_request("can't parse the parameters") from error
    return given


def _parameters_key(parameters: Mapping[str, Any]) -> str:
    """Return the key of a list: its scope, and its language where it has one."""
    scope = parameters.get("scope") or {"type": DEFAULT}
    if not isinstance(scope, dict):
        raise _bad_request("can't parse BotCommandScope")
    words = (*scope.values(), parameters.get("language_code"))
    return " ".join(str(word) for word in words if word)


def _commands(parameters: Mapping[str, Any], answers: Mapping[str, str]) -> Records:
    """Return commands as they are stored; one wrong entry refuses all."""
    try:
        valid = _COMMANDS.validate_python(parameters.get("commands"))
    except ValidationError as error:
        raise _bad_request("BOT_COMMAND_INVALID") from error
    commands = [command.model_dump() for command in valid]
    text = json.dumps(commands, ensure_ascii=False, separators=(",", ":"))
    size = len(text.encode("utf-8", "surrogatepass"))
    if len(commands) > _MOST_COMMANDS or size >= _TOO_MANY_BYTES:
        raise _bad_request("BOT_COMMANDS_TOO_MUCH")
    if not commands and answers["empty"] == "refused":
        raise _bad_request("the list of commands is empty")
    return commands


def _bad_request(reason: str) -> RefusalError:
    return RefusalError(400, f"Bad Request: {reason}")


TELEGRAM = DocumentedService(
    name="telegram",
    variable="COMMANDSYNC_TOKEN_TELEGRAM",
    prefix="/bot",
    answer=_answer,
    open={"empty": ("accepted", "refused"), "retry_after": ("body", "header")},
    refused=_refused,
    bot="8120454873",
    token="{bot}:simulated-{secret}",  # noqa: S106 - its form
)


_LONGEST_POLL = 50.0  # seconds
_MOST_KEPT = 200
_NEVER = datetime(2026, 1, 1, tzinfo=UTC)  # no menu depends on the time
_ANSWERS = {question: default for question, (default, *_) in TELEGRAM.open.items()}

_MESSAGES = frozenset({"sendmessage", "editmessagetext", "sendphoto", "senddocument"})
_EFFECTS = "set", "delete", "answer", "sendchat", "close", "logout"
_CONSTANTS: Mapping[str, object] = {
    "getwebhookinfo": {"url": "", "has_custom_certificate": False, "pending_update_count": 0},
    "getmyname": {"name": ""},
    "getmydescription": {"description": ""},
    "getmyshortdescription": {"short_description": ""},
    "getchat": {**FIXTURES["telegram_chat"], "accent_color_id": 0, "max_reaction_count": 0},
}

Menu = tuple[str, str]
"""The scope of a menu (its type, with the ids of a chat or user), and its language, or ""."""


class BotCall(NamedTuple):
    """One call: the bot's id in the path's token, the method, and the parameters."""

    bot: str
    method: str
    given: Mapping[str, Any]


class BotResponse(NamedTuple):
    """A status and a body; `wait` is the time that a poll may wait for an update, in seconds."""

    status: int
    body: object
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class BotState:
    """The menus, and the message that waits for the program."""

    say: str | None = None
    menus: Mapping[Menu, list[dict[str, Any]]] = field(default_factory=dict)
    registrations: int = 0  # calls that changed a menu
    refused: tuple[RefusedRegistration, ...] = ()
    unknown: tuple[str, ...] = ()  # methods that are not known here
    messages: int = 0


def respond(call: BotCall, state: BotState) -> tuple[BotResponse, BotState]:
    """Return the response to a call, and the next state."""
    name, result = call.method.lower(), object()
    if name.endswith("mycommands"):
        return _menus(call, state)
    if name == "getupdates":
        # The first poll gets the owner's message, once; any other waits in vain.
        if state.say is not None and _number(call.given.get("offset")) <= 1:
            after = replace(state, say=None, messages=state.messages + 1)
            update = {"update_id": 1, "message": _message(after, state.say, of_owner=True)}
            return BotResponse(200, {"ok": True, "result": [update]}, wait=1.0), after
        wait = min(max(_number(call.given.get("timeout")), 0.0), _LONGEST_POLL)
        return BotResponse(200, {"ok": True, "result": []}, wait), state
    if name == "getme":
        result = {"id": int(call.bot), **FIXTURES["telegram_bot"]}
    elif name in _MESSAGES:
        state = replace(state, messages=state.messages + 1)
        result = _message(state, str(call.given.get("text", "")), of_owner=False)
    elif name.startswith(_EFFECTS):
        result = True
    elif name in _CONSTANTS:
        result = _CONSTANTS[name]
    else:
        unknown = (*state.unknown, f"POST /bot.../{call.method}")[:_MOST_KEPT]
        body = {"ok": False, "error_code": 404, "description": "Not Found"}
        return BotResponse(404, body), replace(state, unknown=unknown)
    return BotResponse(200, {"ok": True, "result": result}), state


def _menus(call: BotCall, state: BotState) -> tuple[BotResponse, BotState]:
    """Answer about a menu as the simulated service does, and keep its scope and language."""
    menu = _menu(call.given)
    given = {key: _value(value) for key, value in call.given.items()}
    shown = exchange.ServiceState(
        lists={" ".join(filter(None, menu)): [*state.menus.get(menu, ())]}
    )
    scope = {"type": menu[0]}  # the whole scope, as one word
    simulated = exchange.Simulation(
        service=TELEGRAM, answers=_ANSWERS, bot=call.bot, token=f"{call.bot}:recorded"
    )
    request = exchange.Request(
        method="POST",
        path=f"/bot{simulated.token}/{call.method}",
        headers={"content-type": "application/json"},
        body=json.dumps({**given, "scope": scope, "language_code": menu[1]}).encode(),
    )
    response, after = simulated.respond(request, shown, now=_NEVER)
    if response.status != 200:  # noqa: PLR2004 - the only other one
        body = response.content if isinstance(response.content, Mapping) else {}
        refusal = RefusedRegistration(
            call.method, response.status, str(body.get("description", ""))
        )
        refused = (*state.refused, refusal)[:_MOST_KEPT]
        return BotResponse(response.status, response.content), replace(state, refused=refused)
    if after.writes:
        menus = {**state.menus, menu: after.writes[-1][1]}
        if call.method.lower().startswith("delete"):
            del menus[menu]
        state = replace(state, menus=menus, registrations=state.registrations + 1)
    return BotResponse(200, response.content), state


def _number(given: object) -> float:
    with suppress(ValueError, OverflowError):
        return float(str(given or 0))
    return 0.0


def _message(state: BotState, text: str, *, of_owner: bool) -> dict[str, Any]:
    owner = FIXTURES["telegram_owner"]
    command = [{"type": "bot_command", "offset": 0, "length": len(text.partition(" ")[0])}]
    return {
        "message_id": state.messages,
        "date": 1_767_225_600,
        "chat": FIXTURES["telegram_chat"],
        "text": text,
        **({"from": owner} if of_owner else {}),
        **({"entities": command} if text.startswith("/") else {}),
    }


def _value(given: object) -> Any:  # noqa: ANN401 - any value of JSON
    """Return a parameter as a value: in a form it is a string of JSON."""
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            return json.loads(given)
    return given


def _menu(given: Mapping[str, Any]) -> Menu:
    scope = _value(given.get("scope"))
    scope = scope if isinstance(scope, dict) else {}
    parts = [str(scope.get("type", "default"))]
    parts += [str(scope[key]) for key in ("chat_id", "user_id") if key in scope]
    return ":".join(parts), str(given.get("language_code") or "")
