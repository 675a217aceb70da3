"""Handlers of Telegram's frameworks read as the frameworks register them."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.sources.python import read

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=9)
PTB_HEAD = """\
from telegram import BotCommand, Update
from telegram.ext import Application, CommandHandler
import telegram.ext as ext

app = Application.builder().token("1:a").build()
"""
AIOGRAM_HEAD = """\
from aiogram import F, Router, filters
from aiogram.filters import Command, CommandStart
from aiogram.types import BotCommand

router = Router()
"""
PTB = (
    "app.add_handler(CommandHandler({one}, run{n}))",
    "app.add_handler(CommandHandler({every}, callback=run{n}))",
    "NAMES{n} = {every}\napp.add_handler(ext.CommandHandler(command=NAMES{n}, callback=run{n}))",
)
AIOGRAM = (
    "router.message.register(run{n}, Command({one}))",
    "router.message.register(run{n}, filters.Command(commands={every}), F.text)",
    "router.message.register(run{n}, Command(BotCommand(command={one}, description='')))",
)


class Handler(NamedTuple):
    names: list[str]
    text: str
    form: int


class Bot(NamedTuple):
    handlers: list[Handler]
    texts: dict[str, str]  # of names, for the menu

    def code(self, head: str, forms: tuple[str, ...]) -> str:
        lines = [head]
        for n, (names, text, form) in enumerate(self.handlers):
            doc = f"    {json.dumps(text, ensure_ascii=False)}\n" if text else ""
            lines.append(f"async def run{n}(update, context=None):\n{doc}    return {n}\n")
            lines.append(forms[form].format(one=json.dumps(names[0]), every=names, n=n))
        menu = [f"BotCommand({name!r}, description={text!r})" for name, text in self.texts.items()]
        lines.append(f"async def begin(bot):\n    await bot.set_my_commands([{', '.join(menu)}])\n")
        return "\n".join(lines)

    def commands(self, forms: tuple[str, ...]) -> dict[str, str]:
        """Return the names with their descriptions; the first handler of a name counts."""
        found: dict[str, str] = {}
        for names, text, form in self.handlers:
            for name in names if "{every}" in forms[form] else names[:1]:
                found.setdefault(name, text or "…")
        return {**found, **self.texts}


HANDLERS = st.builds(
    Handler, st.lists(NAMES, min_size=1, max_size=3), WORDS | st.just(""), st.integers(0, 2)
)
BOTS = st.builds(Bot, st.lists(HANDLERS, max_size=4), st.dictionaries(NAMES, WORDS, max_size=3))


def registered_at_ptb(code: str) -> set[str]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - a bot of this test
    return {name for each in names["app"].handlers.get(0, ()) for name in each.commands}


def registered_at_aiogram(code: str) -> set[str]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - as above
    handlers = names["router"].message.handlers
    filters = [part.callback for handler in handlers for part in handler.filters]
    return {name for each in filters for name in getattr(each, "commands", ())}


FRAMEWORKS = [
    ("telegram", PTB_HEAD, PTB, registered_at_ptb),
    ("aiogram", AIOGRAM_HEAD, AIOGRAM, registered_at_aiogram),
]


@pytest.mark.parametrize(
    ("package", "head", "forms", "registered"), FRAMEWORKS, ids=["python-telegram-bot", "aiogram"]
)
@given(bot=BOTS)
def test_handlers_read_as_they_are_registered(
    package: str,
    head: str,
    forms: tuple[str, ...],
    registered: Callable[[str], set[str]],
    bot: Bot,
    tmp_path: Path,
) -> None:
    code = bot.code(head, forms)
    file = tmp_path / "bot.py"
    file.write_text(code, encoding="utf-8")

    reading = read(str(file))

    commands = {entry.name: entry.description for entry in reading.entries}
    assert commands == bot.commands(forms)
    assert [entry.syntax for entry in reading.entries] == [f"/{name}" for name in commands]
    assert reading.notes == ()
    if importlib.util.find_spec(package):  # where the framework is installed
        assert commands.keys() == registered(code) | bot.texts.keys()


BOT = """\
from aiogram import Router
from aiogram.filters import Command, CommandStart
from telegram.ext import CommandHandler, PrefixHandler

MENU = [("stats", "Numbers."), ("Start", "Begins.")]

@router.message(CommandStart())
async def start(message):
    \"\"\"Says hello.

    More.
    \"\"\"

@router.message(Command("a", prefixes()))
async def a(message): ...

def main(app, name):
    app.add_handler(CommandHandler(name, start))
    app.add_handler(CommandHandler("UPPER", unknown))
    app.add_handler(other.CommandHandler("other", start))
    bot.set_my_commands(MENU)
    bot.set_my_commands(menu())
"""


def test_what_is_computed_is_named_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(BOT, encoding="utf-8")

    reading = read(str(file))

    assert {entry.name: entry.description for entry in reading.entries} == {
        "start": "Says hello.",
        "a": "…",
        "upper": "…",
        "stats": "Numbers.",
        "Start": "Begins.",
    }
    assert [(note.message, str(note.location).rpartition("/")[2]) for note in reading.notes] == [
        ("the name of this command is computed at run time", "bot.py:14:30"),
        ("the name of this command is computed at run time", "bot.py:18:36"),
    ]
