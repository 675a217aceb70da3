"""The stand-in for Discord's REST interface: it keeps the commands that a program registers.

`Discord.answer` takes a request and returns its answer, both as values; `standins.py` is the web
server around it. Lists are kept by scope, each empty at the start: `""` for the global one, else
the server's id. The ids that are made here (of commands, of the owner, of the server) serve the
run only: `registered` leaves them out, so that they never reach a manifest.

Rules and shapes: Discord's documentation of the API version 10, "Application Commands", "Gateway".
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

FIXTURES: dict[str, Any] = json.loads(
    Path(__file__).with_name("fixtures.json").read_text(encoding="utf-8")
)
"""The constant part of users, servers, channels and messages, as Discord's documents show them."""

GUILD = "1000000000000000003"
"""The server of the stand-in, unless `--guild` names one."""

_OWN_KEYS = ("id", "version", "application_id", "guild_id")
_UNKNOWN_COMMAND = 10063
_NOT_FOUND = (404, {"message": "404: Not Found", "code": 0})
_INVALID = (400, {"message": "Invalid Form Body", "code": 50035})
_UNKNOWN = (404, {"message": "Unknown application command", "code": _UNKNOWN_COMMAND})

Answer = tuple[int, Any]
"""A status and the value of the body; None for no body."""


class Asked(NamedTuple):
    """One request: its method, its path below `/api/v10`, and the value of its body."""

    method: str
    path: str
    body: Any = None


@dataclass(slots=True)
class Discord:
    """The state of the stand-in: the lists of commands, and who the bot is."""

    application: str  # the application's id
    guild: str = GUILD
    on_change: Callable[[], None] = lambda: None  # called after each registration
    lists: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)  # by scope and id
    unknown: list[str] = field(default_factory=list)  # requests that the stand-in does not know

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
        identifier = _new_id()
        return {**FIXTURES["message"], "id": identifier, "content": content, "author": dict(author)}

    def registered(self) -> dict[str, list[dict[str, Any]]]:
        """Return the commands by scope, without any id of the stand-in; "" is the global scope."""
        return {
            scope: [{k: v for k, v in command.items() if k not in _OWN_KEYS} for command in kept]
            for scope, commands in self.lists.items()
            if (kept := list(deepcopy(commands).values())) or not scope
        }

    def answer(self, asked: Asked) -> Answer:
        """Return the answer to a request."""
        for pattern, handler in _ROUTES:
            if matched := pattern.fullmatch(f"{asked.method} {asked.path}"):
                return handler(self, asked, matched.groupdict())
        self.unknown.append(f"{asked.method} {asked.path}")
        return _NOT_FOUND

    def commands(self, asked: Asked, at: Mapping[str, str]) -> Answer:
        """Answer a request about a whole list: read it, replace it, or add to it."""
        scope = at.get("guild") or ""
        listed = self.lists.setdefault(scope, {})
        if not _is_valid(asked):
            return _INVALID
        if asked.method == "GET":
            return 200, [_answered(command) for command in listed.values()]
        if asked.method == "POST":
            return self._upsert(listed, self._made(asked.body, at))
        return self._replace(scope, [self._made(body, at) for body in asked.body or []])

    def _replace(self, scope: str, made: Sequence[dict[str, Any]]) -> Answer:
        """Replace a list; a command that it had before keeps its id."""
        known = {_key(command): command["id"] for command in self.lists[scope].values()}
        kept = [{**command, "id": known.get(_key(command), command["id"])} for command in made]
        self.lists[scope] = {command["id"]: command for command in kept}
        self.on_change()
        return 200, [_answered(command) for command in kept]

    def _upsert(self, listed: dict[str, dict[str, Any]], command: dict[str, Any]) -> Answer:
        """Add a command to a list, or put it in the place of the one with its name and type."""
        same = [identifier for identifier, kept in listed.items() if _key(kept) == _key(command)]
        for identifier in same:
            command = {**command, "id": identifier}
        listed[command["id"]] = command
        self.on_change()
        return (200 if same else 201), _answered(command)

    def command(self, asked: Asked, at: Mapping[str, str]) -> Answer:
        """Answer a request about one command: read it, edit it, or delete it."""
        listed = self.lists.setdefault(at.get("guild") or "", {})
        identifier = at["command"]
        if identifier not in listed:
            return _UNKNOWN
        if not _is_valid(asked):
            return _INVALID
        if asked.method == "PATCH":
            listed[identifier] = {**listed[identifier], **(asked.body or {}), "id": identifier}
            self.on_change()
        if asked.method == "DELETE":
            del listed[identifier]
            self.on_change()
            return 204, None
        return 200, _answered(listed[identifier])

    def _made(self, body: Mapping[str, Any], at: Mapping[str, str]) -> dict[str, Any]:
        """Return a command as Discord would return it, with an id of its own."""
        place = {"guild_id": at["guild"]} if at.get("guild") else {}
        ids = {"id": _new_id(), "application_id": at["application"], "version": _new_id(), **place}
        return {"type": 1, "description": "", **body, **ids}


def _is_valid(asked: Asked) -> bool:
    """Whether the body of a request is a list of commands, a command, or a part of one."""
    parts = {"PUT": asked.body or [], "GET": [], "DELETE": []}.get(asked.method, [asked.body])
    name = "" if asked.method == "PATCH" else None  # a part may leave it out
    return isinstance(parts, list) and all(
        isinstance(part, Mapping) and isinstance(part.get("name", name), str) for part in parts
    )


def _answered(command: Mapping[str, Any]) -> dict[str, Any]:
    """Return a command with the key that each of Discord's answers has, if it was not sent."""
    return {"default_member_permissions": None, **command}


def _key(command: Mapping[str, Any]) -> tuple[object, object]:
    return command.get("type", 1), command.get("name")


def _new_id() -> str:
    return str(10**18 + secrets.randbelow(10**17))


def _constant(value: Callable[[Discord], Any]) -> Callable[[Discord, Asked, Any], Answer]:
    return lambda discord, _asked, _at: (200, value(discord))


def _gateway(discord: Discord) -> dict[str, Any]:  # noqa: ARG001 - of every constant
    limit = FIXTURES["session_start_limit"]
    return {"url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit}


def _application(discord: Discord) -> dict[str, Any]:
    owner = FIXTURES["owner"]
    return {
        **FIXTURES["application"],
        "id": discord.application,
        "owner": owner,
        "bot": discord.bot,
    }


def _application_at(discord: Discord, _asked: Asked, at: Mapping[str, str]) -> Answer:
    own = _application(discord)
    return 200, own if at["application"] == "@me" else {**own, "id": at["application"]}


def _user(discord: Discord, _asked: Asked, at: Mapping[str, str]) -> Answer:
    is_bot = at["user"] in {"@me", discord.application}
    return 200, discord.bot if is_bot else {**FIXTURES["owner"], "id": at["user"]}


def _member(discord: Discord, _asked: Asked, at: Mapping[str, str]) -> Answer:
    user = _user(discord, _asked, at)[1]
    return 200, discord.member(user)


def _posted(discord: Discord, asked: Asked, _at: Mapping[str, str]) -> Answer:
    content = asked.body.get("content") if isinstance(asked.body, dict) else None
    return 200, discord.message(content or "", discord.bot)


def _done(_discord: Discord, _asked: Asked, _at: Mapping[str, str]) -> Answer:
    return 204, None


_LIST = r"/applications/(?P<application>\w+)(?:/guilds/(?P<guild>\w+))?/commands"
_ROUTES = [
    (re.compile(pattern.replace("{any}", r"[^/]+")), handler)
    for pattern, handler in (
        (rf"(?:GET|PUT|POST) {_LIST}", Discord.commands),
        (rf"(?:GET|PUT) {_LIST}(?:/{{any}})?/permissions", _constant(lambda _: [])),
        (rf"(?:GET|PATCH|DELETE) {_LIST}/(?P<command>\w+)", Discord.command),
        (r"GET /gateway(?:/bot)?", _constant(_gateway)),
        (r"GET /oauth2/applications/@me", _constant(_application)),
        (r"(?:GET|PATCH) /applications/(?P<application>@me|\d+)", _application_at),
        (r"GET /applications/{any}/emojis", _constant(lambda _: {"items": []})),
        (r"(?:GET|PUT) /applications/{any}/role-connections/metadata", _constant(lambda _: [])),
        (r"GET /applications/{any}/(?:skus|entitlements)", _constant(lambda _: [])),
        (r"GET /soundboard-default-sounds", _constant(lambda _: [])),
        (r"GET /sticker-packs", _constant(lambda _: {"sticker_packs": []})),
        (r"GET /voice/regions", _constant(lambda _: [])),
        (r"GET /users/@me/guilds", _constant(lambda discord: [discord.guild_object])),
        (r"POST /users/@me/channels", _constant(lambda discord: {**discord.channel, "type": 1})),
        (r"(?:GET|PATCH) /users/(?P<user>@me|\d+)", _user),
        (r"GET /guilds/{any}(?:/preview)?", _constant(lambda discord: discord.guild_object)),
        (r"GET /guilds/{any}/channels", _constant(lambda discord: [discord.channel])),
        (
            r"GET /guilds/{any}/roles",
            _constant(lambda discord: discord.guild_object["roles"]),
        ),
        (
            r"GET /guilds/{any}/members(?:/search)?",
            _constant(lambda discord: [discord.member(FIXTURES["owner"])]),
        ),
        (r"(?:GET|PATCH) /guilds/{any}/members/(?P<user>@me|\d+)", _member),
        (r"GET /guilds/{any}/{any}", _constant(lambda _: [])),
        (r"GET /channels/{any}", _constant(lambda discord: discord.channel)),
        (r"GET /channels/{any}/(?:messages|pins)", _constant(lambda _: [])),
        (r"(?:POST|PATCH|GET) /channels/{any}/messages(?:/{any})?", _posted),
        (r"(?:PUT|DELETE) /channels/.+", _done),
        (r"POST /channels/{any}/typing", _done),
        (r"POST /interactions/{any}/{any}/callback", _done),
        (r"(?:GET|POST|PATCH) /webhooks/.+", _posted),
    )
]
"""The known requests; the first that matches counts, and any other is 404 and named."""
