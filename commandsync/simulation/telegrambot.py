"""Telegram's Bot API as a running bot sees it: the menus of `botapi.py`, polls and messages.

`respond` takes a call and a state, and returns the response and the next state. Only a long poll
for updates waits: its response says how long it may.

Rules and shapes: core.telegram.org/bots/api, "Making requests", "setMyCommands", "getUpdates".
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from commandsync.simulation import exchange
from commandsync.simulation.botapi import TELEGRAM
from commandsync.simulation.discord import FIXTURES, Refusal

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


class Call(NamedTuple):
    """One call: the bot's id in the path's token, the method, and the parameters."""

    bot: str
    method: str
    given: Mapping[str, Any]


class Response(NamedTuple):
    """A status and a body; `wait` is the time that a poll may wait for an update, in seconds."""

    status: int
    body: object
    wait: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """The menus, and the message that waits for the program."""

    say: str | None = None
    menus: Mapping[Menu, list[dict[str, Any]]] = field(default_factory=dict)
    registrations: int = 0  # calls that changed a menu
    refused: tuple[Refusal, ...] = ()
    unknown: tuple[str, ...] = ()  # methods that are not known here
    messages: int = 0


def respond(call: Call, state: State) -> tuple[Response, State]:
    """Return the response to a call, and the next state."""
    name, result = call.method.lower(), object()
    if name.endswith("mycommands"):
        return _menus(call, state)
    if name == "getupdates":
        return _updates(state, call.given)
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
        return Response(404, body), replace(state, unknown=unknown)
    return Response(200, {"ok": True, "result": result}), state


def _menus(call: Call, state: State) -> tuple[Response, State]:
    """Answer about a menu as the simulated service does, and keep its scope and language."""
    menu = _menu(call.given)
    given = {key: _value(value) for key, value in call.given.items()}
    shown = exchange.State(lists={_key(menu): [*state.menus.get(menu, ())]})
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
        refusal = Refusal(call.method, response.status, str(body.get("description", "")))
        refused = (*state.refused, refusal)[:_MOST_KEPT]
        return Response(response.status, response.content), replace(state, refused=refused)
    if after.writes:
        menus = {**state.menus, menu: after.writes[-1][1]}
        if call.method.lower().startswith("delete"):
            del menus[menu]
        state = replace(state, menus=menus, registrations=state.registrations + 1)
    return Response(200, response.content), state


def _key(menu: Menu) -> str:
    return " ".join(filter(None, menu))


def _updates(state: State, given: Mapping[str, Any]) -> tuple[Response, State]:
    """Return the owner's message once, to the first poll; any other waits in vain."""
    if state.say is not None and _number(given.get("offset")) <= 1:
        after = replace(state, say=None, messages=state.messages + 1)
        update = {"update_id": 1, "message": _message(after, state.say, of_owner=True)}
        return Response(200, {"ok": True, "result": [update]}, wait=1.0), after
    wait = min(max(_number(given.get("timeout")), 0.0), _LONGEST_POLL)
    return Response(200, {"ok": True, "result": []}, wait), state


def _number(given: object) -> float:
    with suppress(ValueError, OverflowError):
        return float(str(given or 0))
    return 0.0


def _message(state: State, text: str, *, of_owner: bool) -> dict[str, Any]:
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
