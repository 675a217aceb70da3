"""What the frameworks themselves say of a bot's commands, with no network.

discord.py loads a bot's code. python-telegram-bot and aiogram register the commands of the bots in
the fixtures; where both are installed, `python tests/support/offline.py` writes the files again.
"""

import asyncio
import json
import runpy
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import discord
from discord import app_commands
from discord.ext import commands

from commandsync.sources.entry import Parameter, SourceReading, slash_syntax

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


if __name__ == "__main__":
    for package, made in (("python-telegram-bot", telegram), ("aiogram", aiogram)):
        output = {"version": version(package), **made()}
        (BOTS / f"{made.__name__}.json").write_text(json.dumps(output, indent=1) + "\n")
