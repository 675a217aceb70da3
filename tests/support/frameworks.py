"""The frameworks of bots, with no network: what they say of commands, and Discord as they see it.

discord.py loads a bot's code. python-telegram-bot and aiogram register the commands of the bots in
the fixtures; where both are installed, `python tests/support/frameworks.py` writes the files again.
`Chat` is as much of Discord as a bot sees, its gateway and a few calls of its REST API, on
loopback: the library is the real one, and only where it looks for Discord is changed.
"""

import asyncio
import itertools
import json
import runpy
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self
from unittest.mock import patch

import discord
from aiohttp import WSMsgType, web
from discord import app_commands
from discord.ext import commands

from commandsync.sources.entry import Parameter, SourceReading, slash_syntax
from tests.support.clients import LoopThread

NO_DESCRIPTION = "…"
AnyCommand = app_commands.Command[Any, ..., Any]


class Row(NamedTuple):
    """A command as users see it."""

    name: str
    description: str
    syntax: str
    category: str | None
    hidden: bool


def loaded(code: str, name: str = "offline_bot") -> list[Row]:
    """Run a bot's code, await its `setup(bot)`, and return its commands."""
    module = ModuleType(name)
    sys.modules[name] = module  # where discord.py evaluates annotations
    exec(compile(code, f"{name}.py", "exec"), module.__dict__)  # noqa: S102 - code of the tests
    try:
        return asyncio.run(_rows(module))
    finally:
        del sys.modules[name]


def rows(reading: SourceReading) -> list[Row]:
    """Return the commands of a reading."""
    return sorted(
        Row(entry.name, entry.description, entry.syntax, entry.category, "hidden" in entry.traits)
        for entry in reading.entries
    )


async def _rows(module: ModuleType) -> list[Row]:
    bot = getattr(module, "bot", None) or commands.Bot(
        "!", intents=discord.Intents.default(), help_command=None
    )
    if hasattr(module, "setup"):
        await module.setup(bot)
    return rows_of(bot)


def rows_of(bot: commands.Bot) -> list[Row]:
    """Return the commands that a bot has."""
    return sorted([*_prefix(bot), *_slash(bot), *_menus(bot)])


def _prefix(bot: commands.Bot) -> Iterator[Row]:
    for command in bot.walk_commands():
        whole = command.qualified_name
        if isinstance(command, commands.HybridCommand) and command.app_command:
            continue
        if isinstance(command, commands.HybridGroup) and command.fallback:
            continue
        syntax = "{prefix}" + f"{whole} {command.signature}".rstrip().replace(
            "{prefix}", "{{prefix}}"
        )
        texts = [command.short_doc, command.description]
        description = next(filter(None, texts), NO_DESCRIPTION)
        parents = [parent.name for parent in reversed(command.parents)]
        category = command.cog_name or (parents[0] if parents else None)
        yield Row(whole, description, syntax, category, _hidden(command))


def _hidden(command: commands.Command[Any, ..., Any]) -> bool:
    """Tell whether a command is hidden, or is in a hidden group."""
    return any(part.hidden or not part.enabled for part in (command, *command.parents))


def _slash(bot: commands.Bot) -> Iterator[Row]:
    for command in bot.tree.walk_commands():
        if isinstance(command, app_commands.Command):
            described = command.to_dict(bot.tree)
            parameters = [
                Parameter(
                    name=option["name"],
                    required=option.get("required", False),
                    choices=tuple(choice["name"] for choice in option.get("choices", ())),
                )
                for option in described.get("options", ())
            ]
            syntax = slash_syntax(command.qualified_name, parameters)
            wrapped = getattr(command, "wrapped", None)
            yield Row(
                command.qualified_name,
                str(described["description"]) or NO_DESCRIPTION,
                syntax,
                _category(command),
                wrapped is not None and _hidden(wrapped),
            )


def _category(command: AnyCommand) -> str | None:
    binding = command.binding
    if isinstance(binding, commands.Cog):
        return binding.qualified_name
    wrapped = getattr(command, "wrapped", None)
    if wrapped is not None and wrapped.cog_name:
        return str(wrapped.cog_name)
    return command.root_parent.name if command.root_parent else None


def _menus(bot: commands.Bot) -> Iterator[Row]:
    for kind in (discord.AppCommandType.user, discord.AppCommandType.message):
        for menu in bot.tree.get_commands(type=kind):
            nothing = f"In the menu of a {kind.name}, under Apps."
            description = (menu.callback.__doc__ or nothing).strip()
            binding = getattr(menu.callback, "__self__", None)
            cog = binding.qualified_name if isinstance(binding, commands.Cog) else None
            yield Row(menu.name, description, menu.name, cog, hidden=False)


BOTS = Path(__file__).parents[1] / "fixtures" / "bots"


def of_telegram(handlers: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield each command with its prefix and the docstring of its function."""
    for each in handlers:
        if type(each).__name__ == "CommandHandler":
            yield from ([name, "/", each.callback.__doc__] for name in sorted(each.commands))
        elif type(each).__name__ == "ConversationHandler":
            states = [handler for state in each.states.values() for handler in state]
            yield from of_telegram([*each.entry_points, *states, *each.fallbacks])


def of_aiogram(filters: Iterable[Any], doc: str | None) -> Iterator[list[Any]]:
    for each in filters:
        yield from ([name, each.prefix, doc] for name in getattr(each, "commands", ()))
        yield from of_aiogram([part.callback for part in getattr(each, "targets", ())], doc)


def telegram() -> dict[str, Any]:
    app = runpy.run_path(str(BOTS / "telegram.txt"))["app"]
    sent: list[Any] = []

    async def caught(*_: object, request_data: Any, **__: object) -> tuple[int, bytes]:  # noqa: ANN401 - of the framework
        sent.extend(request_data.parameters["commands"])
        return 200, b'{"ok": true, "result": true}'

    with patch("telegram.request.HTTPXRequest.do_request", caught):
        asyncio.run(app.post_init(app))
    handlers = [each for group in sorted(app.handlers) for each in app.handlers[group]]
    return {"commands": [*of_telegram(handlers)], "menu": sent}


def aiogram() -> dict[str, Any]:
    dispatcher = runpy.run_path(str(BOTS / "aiogram.txt"))["dp"]
    sent: list[Any] = []

    async def caught(_: object, __: object, method: Any, **___: object) -> bool:  # noqa: ANN401 - of the framework
        sent.extend(each.model_dump(exclude_unset=True) for each in method.commands)
        return True

    with patch("aiogram.client.session.aiohttp.AiohttpSession.make_request", caught):
        asyncio.run(dispatcher.emit_startup(bot=import_module("aiogram").Bot("1:a")))
    observers = [each for part in dispatcher.chain_tail for each in part.observers.values()]
    found = (
        row
        for handler in (each for observer in observers for each in observer.handlers)
        for row in of_aiogram(
            [part.callback for part in handler.filters or ()], handler.callback.__doc__
        )
    )
    return {"commands": [*found], "menu": sent}


Record = dict[str, Any]

BOT: Record = {"id": "900", "username": "Helper", "discriminator": "0", "avatar": None, "bot": True}
CHANNEL = 381870553235193857
_GUILD = "700"
_IDENTIFY, _HEARTBEAT, _HELLO, _ACKNOWLEDGED = 2, 1, 10, 11
_NOTHING: Record = {"s": None, "t": None, "d": None}


@dataclass
class Chat:
    """The server; use it as a context manager.

    Attributes:
        said: What the bot said: to a channel, or in answer to an interaction.
        port: Where it listens.
    """

    said: list[str] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Self:
        self._thread = LoopThread()
        self._numbers = itertools.count(1)
        self._online: asyncio.Queue[web.WebSocketResponse] = asyncio.Queue()
        self._heard = asyncio.Event()
        self._thread.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(self._runner.cleanup())
        self._thread.close()

    @property
    def rest(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v10"

    @property
    def gateway(self) -> str:
        return f"ws://127.0.0.1:{self.port}/"

    def write(self, content: str, *, user: int) -> None:
        """Let a user write into the channel, once the bot is online."""
        self._thread.run(self._dispatch("MESSAGE_CREATE", _message(_user(user), content)))

    def use(self, command: str, *, user: int) -> None:
        """Let a user use a slash command, once the bot is online."""
        self._thread.run(self._dispatch("INTERACTION_CREATE", _interaction(user, command)))

    def wait_until_said(self, count: int) -> list[str]:
        """Return what was said, once it is so much."""
        self._thread.run(self._wait(count))
        return self.said

    async def _wait(self, count: int) -> None:
        while len(self.said) < count:
            self._heard.clear()
            await self._heard.wait()

    async def _start(self) -> None:
        app = web.Application()
        api = "/api/v10"
        messages = f"{api}/channels/{{channel}}/messages"
        app.router.add_get("/", self._connect)
        app.router.add_get(f"{api}/users/@me", _replies(BOT))
        about: Record = {
            "id": BOT["id"],
            "name": "Helper",
            "description": "",
            "icon": None,
            "flags": 0,
        }
        about |= {"bot_public": True, "bot_require_code_grant": False, "verify_key": "k"}
        about |= {"owner": _user(1), "summary": "", "rpc_origins": []}
        app.router.add_get(f"{api}/oauth2/applications/@me", _replies(about))
        app.router.add_post(messages, self._posted)
        app.router.add_post(f"{api}/interactions/{{id}}/{{token}}/callback", self._answered)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]

    async def _connect(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json(_NOTHING | {"op": _HELLO, "d": {"heartbeat_interval": 45000}})
        async for message in socket:
            said = json.loads(message.data) if message.type is WSMsgType.TEXT else {}
            if said.get("op") == _HEARTBEAT:
                await socket.send_json(_NOTHING | {"op": _ACKNOWLEDGED})
            if said.get("op") == _IDENTIFY:
                await self._tell(socket, "READY", self._ready())
                await self._tell(socket, "GUILD_CREATE", _guild())
                self._online.put_nowait(socket)
        return socket

    async def _dispatch(self, name: str, data: Record) -> None:
        socket = await self._online.get()
        self._online.put_nowait(socket)
        await self._tell(socket, name, data)

    async def _tell(self, socket: web.WebSocketResponse, name: str, data: Record) -> None:
        await socket.send_json({"op": 0, "s": next(self._numbers), "t": name, "d": data})

    def _ready(self) -> Record:
        return {
            "v": 10,
            "user": BOT,
            "guilds": [{"id": _GUILD, "unavailable": True}],
            "session_id": "s1",
            "resume_gateway_url": self.gateway,
            "application": {"id": BOT["id"], "flags": 0},
        }

    async def _posted(self, request: web.Request) -> web.Response:
        message = _message(BOT, (await request.json())["content"])
        self._say(message["content"])
        await self._dispatch("MESSAGE_CREATE", message)
        return _reply(message)

    async def _answered(self, request: web.Request) -> web.Response:
        self._say((await request.json())["data"]["content"])
        where = {"id": "5", "type": 2}
        said = _message(BOT, self.said[-1])
        return _reply({"interaction": where, "resource": {"type": 4, "message": said}})

    def _say(self, content: str) -> None:
        self.said.append(content)
        self._heard.set()


def _reply(content: Record) -> web.Response:
    # without a charset, as Discord: libraries compare the whole header
    headers = {"Content-Type": "application/json"}
    return web.Response(body=json.dumps(content).encode(), headers=headers)


def _replies(content: Record) -> Any:  # noqa: ANN401 - a handler of aiohttp's
    async def handle(_: web.Request) -> web.Response:
        return _reply(content)

    return handle


def _user(number: object) -> Record:
    return {"id": str(number), "username": f"u{number}", "discriminator": "0", "avatar": None}


def _member(user: Record | None = None) -> Record:
    joined = {"roles": [], "joined_at": "2021-01-01T00:00:00+00:00", "deaf": False, "mute": False}
    return joined | {"flags": 0, **({"user": user} if user else {})}


def _channel() -> Record:
    return {
        "id": str(CHANNEL),
        "type": 0,
        "name": "general",
        "position": 0,
        "permission_overwrites": [],
        "guild_id": _GUILD,
    }


def _guild() -> Record:
    everyone = {"id": _GUILD, "name": "@everyone", "permissions": str(2**50 - 1), "position": 0}
    colors = {"primary_color": 0, "secondary_color": None, "tertiary_color": None}
    plain = {
        "color": 0,
        "colors": colors,
        "hoist": False,
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }
    return {
        "id": _GUILD,
        "name": "The guild",
        "owner_id": "1",
        "roles": [everyone | plain],
        "emojis": [],
        "features": [],
        "channels": [_channel()],
        "members": [_member(BOT)],
        "member_count": 1,
        "large": False,
        "unavailable": False,
    }


def _message(author: Record, content: str) -> Record:
    return {
        "id": "800",
        "channel_id": str(CHANNEL),
        "guild_id": _GUILD,
        "author": author,
        "member": _member(),
        "content": content,
        "timestamp": "2021-02-03T04:05:06.789000+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "pinned": False,
        "type": 0,
    }


def _interaction(user: object, command: str) -> Record:
    return {
        "id": "5",
        "application_id": BOT["id"],
        "type": 2,
        "token": "interaction-token",
        "version": 1,
        "locale": "en-GB",
        "guild_id": _GUILD,
        "channel_id": str(CHANNEL),
        "channel": _channel(),
        "member": _member(_user(user)) | {"permissions": "0"},
        "data": {"id": "6", "name": command, "type": 1},
        "entitlements": [],
        "attachment_size_limit": 1024,
    }


if __name__ == "__main__":
    for package, made in (("python-telegram-bot", telegram), ("aiogram", aiogram)):
        output = {"version": version(package), **made()}
        (BOTS / f"{made.__name__}.json").write_text(json.dumps(output, indent=1) + "\n")
