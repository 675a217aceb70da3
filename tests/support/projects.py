"""Bots' projects as their authors have them: dependencies, and a file for each command."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.support.home import Home

Code = Callable[[Sequence[str]], dict[str, str]]  # of the names of commands: texts by their files


def _discord_js(names: Sequence[str]) -> dict[str, str]:
    builder = 'new SlashCommandBuilder().setName("{0}").setDescription("Does {0}.")'
    head = 'const { SlashCommandBuilder } = require("discord.js");\n'
    file = head.replace("{", "{{").replace("}", "}}") + "module.exports = {{ data: {1} }};\n"
    return {
        f"src/commands/{name}.js": file.format(name, builder.format(name)) for name in names
    } | {"deploy-commands.js": "// registers them\n"}


def _discord_py(names: Sequence[str]) -> dict[str, str]:
    function = '@bot.tree.command()\nasync def {0}(interaction):\n    """Does {0}."""\n'
    head = (
        'import discord\nfrom discord.ext import commands\nbot = commands.Bot(command_prefix="?")\n'
    )
    return {"bot.py": head + "\n".join(function.format(name) for name in names)}


def _grammy(names: Sequence[str]) -> dict[str, str]:
    listed = ",\n".join(f'  {{ command: "{name}", description: "Does {name}." }}' for name in names)
    head = 'import { Bot } from "grammy";\nconst bot = new Bot(process.env.BOT_TOKEN);\n'
    return {"src/bot.js": f"{head}bot.api.setMyCommands([\n{listed},\n]);\n"}


def _aiogram(names: Sequence[str]) -> dict[str, str]:
    listed = ", ".join(
        f'BotCommand(command="{name}", description="Does {name}.")' for name in names
    )
    head = "from aiogram import Bot\nfrom aiogram.types import BotCommand\n"
    return {"main.py": f"{head}async def begin(bot):\n    await bot.set_my_commands([{listed}])\n"}


def _telebot(names: Sequence[str]) -> dict[str, str]:
    handler = '@bot.message_handler(commands=["{0}"])\ndef {0}(message):\n    """Does {0}."""\n'
    head = 'import telebot\nbot = telebot.TeleBot("1:a")\n'
    return {"bot.py": head + "\n".join(handler.format(name) for name in names)}


def _expressions(names: Sequence[str]) -> dict[str, str]:
    head = (
        'const TelegramBot = require("node-telegram-bot-api");\nconst bot = new TelegramBot("");\n'
    )
    return {
        "src/bot.js": head
        + "".join(f"bot.onText(/\\/{name}/, (message) => 1);\n" for name in names)
    }


@dataclass(frozen=True)
class Kind:
    """A kind of project: its platform, its list of dependencies and its code."""

    platform: str
    dependencies: Mapping[str, str]
    code: Code
    source: str  # where the commands are

    @property
    def service(self) -> str:
        return "telegram" if self.platform == "telegram" else "top.gg"

    def write(self, home: Home, names: Sequence[str]) -> None:
        for file, text in {**self.dependencies, **self.code(names)}.items():
            (home.path / file).parent.mkdir(parents=True, exist_ok=True)
            home.write(text, file)


def _package(name: str) -> dict[str, str]:
    return {"package.json": json.dumps({"name": "bot", "dependencies": {name: "^1.0.0"}})}


PROJECTS = {
    "discord.js": Kind("discord", _package("discord.js"), _discord_js, "src"),
    "discord.py": Kind("discord", {"requirements.txt": "discord.py>=2.4\n"}, _discord_py, "."),
    "aiogram": Kind(
        "telegram",
        {"pyproject.toml": '[project]\nname = "bot"\ndependencies = ["aiogram>=3"]\n'},
        _aiogram,
        ".",
    ),
    "grammY": Kind("telegram", _package("grammy"), _grammy, "src"),
    "telebot": Kind("telegram", {"requirements.txt": "pyTelegramBotAPI\n"}, _telebot, "."),
}

UNREAD = Kind("telegram", _package("node-telegram-bot-api"), _expressions, "src")
"""One whose code is not read: it has to be recorded."""
