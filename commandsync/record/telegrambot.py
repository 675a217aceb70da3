"""The stand-in for Telegram's Bot API: it keeps each menu that a program sets.

A menu belongs to a scope and a language. `Telegram.answer` takes a method and its parameters and
returns the answer; a long poll for updates is the only one that waits.

Rules and shapes: core.telegram.org/bots/api, "Making requests", "setMyCommands", "getUpdates".
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from commandsync.record.discordrest import FIXTURES

_LONGEST_POLL = 50.0  # seconds
_SAID_AFTER = 1.0  # seconds after the first poll
_NOT_FOUND = 404, {"ok": False, "error_code": 404, "description": "Not Found"}
_INVALID = "Bad Request: BOT_COMMAND_INVALID"
_REFUSED = 400, {"ok": False, "error_code": 400, "description": _INVALID}

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


@dataclass(slots=True)
class Telegram:
    """The state of the stand-in: the menus, and the messages that wait for the program."""

    say: str | None = None
    on_change: Callable[[], None] = lambda: None  # called after each registration
    menus: dict[Menu, list[dict[str, Any]]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)  # methods that the stand-in does not know
    _messages: int = 0

    async def answer(self, bot: str, method: str, given: Mapping[str, Any]) -> tuple[int, Any]:
        """Return the status and the answer to a call; `bot` is the id in the path's token."""
        name = method.lower()
        if name == "getupdates":
            return 200, _good(await self._updates(given))
        if name == "setmycommands" and not _are_commands(given):
            return _REFUSED
        known = self._known(bot, name, given)
        if known is None:
            self.unknown.append(f"POST /bot.../{method}")
            return _NOT_FOUND
        return 200, _good(known)

    def _known(self, bot: str, name: str, given: Mapping[str, Any]) -> object:
        """Return the result of a call, or None for an unknown one."""
        menu = _menu(given)
        if name == "setmycommands":
            self.menus[menu] = _value(given["commands"])
        elif name == "deletemycommands":
            self.menus.pop(menu, None)
        elif name == "getmycommands":
            return self.menus.get(menu, [])
        elif name == "getme":
            return {"id": int(bot), **FIXTURES["telegram_bot"]}
        elif name in _MESSAGES:
            return self._message(str(given.get("text", "")), of_owner=False)
        elif not name.startswith(_EFFECTS):
            return _CONSTANTS.get(name)
        if name.endswith("mycommands"):
            self.on_change()
        return True

    async def _updates(self, given: Mapping[str, Any]) -> list[dict[str, Any]]:
        offset = int(given.get("offset") or 0)
        if self.say is not None and offset <= 1:
            await asyncio.sleep(_SAID_AFTER)
            text, self.say = self.say, None
            return [{"update_id": 1, "message": self._message(text, of_owner=True)}]
        await asyncio.sleep(min(float(given.get("timeout") or 0), _LONGEST_POLL))
        return []

    def _message(self, text: str, *, of_owner: bool) -> dict[str, Any]:
        self._messages += 1
        owner = FIXTURES["telegram_owner"]
        command = [{"type": "bot_command", "offset": 0, "length": len(text.partition(" ")[0])}]
        return {
            "message_id": self._messages,
            "date": 1_767_225_600,
            "chat": FIXTURES["telegram_chat"],
            "text": text,
            **({"from": owner} if of_owner else {}),
            **({"entities": command} if text.startswith("/") else {}),
        }


def _good(result: object) -> dict[str, object]:
    return {"ok": True, "result": result}


def _value(given: object) -> Any:  # noqa: ANN401 - any value of JSON
    """Return a parameter as a value: in a form it is a string of JSON."""
    return json.loads(given) if isinstance(given, str) else given


def _are_commands(given: Mapping[str, Any]) -> bool:
    """Whether a call has a list of commands, each with a name and a description."""
    with suppress(ValueError):
        listed, keys = _value(given.get("commands")), ("command", "description")
        return isinstance(listed, list) and all(
            isinstance(part, dict) and all(isinstance(part.get(key), str) for key in keys)
            for part in listed
        )
    return False


def _menu(given: Mapping[str, Any]) -> Menu:
    scope = _value(given.get("scope") or "{}") or {}
    parts = [str(scope.get("type", "default"))]
    parts += [str(scope[key]) for key in ("chat_id", "user_id") if key in scope]
    return ":".join(parts), str(given.get("language_code") or "")
