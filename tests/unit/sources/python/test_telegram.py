"""Handlers of Telegram's frameworks read as the frameworks register them."""

import json
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.sources.python import read
from tests.support.botcode import COMPUTED_NAME, notes_of
from tests.support.offline import BOTS as RECORDED

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


@pytest.mark.parametrize(
    ("head", "forms"), [(PTB_HEAD, PTB), (AIOGRAM_HEAD, AIOGRAM)], ids=["telegram", "aiogram"]
)
@given(bot=BOTS)
@example(bot=Bot([Handler(["a"], "", 2)], {"a": "0"}))  # whose first text is empty
def test_handlers_read_as_they_are_registered(
    head: str, forms: tuple[str, ...], bot: Bot, tmp_path: Path
) -> None:
    file = tmp_path / "bot.py"
    file.write_text(bot.code(head, forms), encoding="utf-8")

    reading = read(str(file))

    commands = {entry.name: entry.description for entry in reading.entries}
    assert commands == bot.commands(forms)
    assert [entry.syntax for entry in reading.entries] == [f"/{name}" for name in commands]
    assert reading.notes == ()


@pytest.mark.parametrize("name", ["telegram", "aiogram"])
def test_code_reads_as_its_framework_registers_it(name: str, tmp_path: Path) -> None:
    """The output is what the framework had registered, and had sent to Telegram."""
    output = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    file = tmp_path / "bot.py"
    file.write_bytes((RECORDED / f"{name}.txt").read_bytes())

    registered: dict[str, tuple[str, str]] = {}
    for command, prefix, doc in output["commands"]:
        start = "/" if "/" in prefix else prefix
        text = " ".join(cleandoc(doc or "…").partition("\n\n")[0].split())
        registered.setdefault(command, (f"{start}{command}", text))
    for text in reversed(output["menu"]):  # the first text of a command counts
        syntax, _ = registered.get(text["command"], (f"/{text['command']}", ""))
        registered[text["command"]] = (syntax, text["description"])
    reading = read(str(file))

    assert {
        entry.name: (entry.syntax, entry.description) for entry in reading.entries
    } == registered
    assert reading.notes == ()


BOT = """\
from aiogram import Router
from aiogram.filters import Command, CommandStart
from aiogram.types import BotCommand
from telegram.ext import CommandHandler, PrefixHandler

LOOP = [*LOOP, "known"]
ROUND = BotCommand(ROUND, "Round.")
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
    app.add_handler(CommandHandler(LOOP, start))
    app.add_handler(CommandHandler(ROUND, start))
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
        "known": "Says hello.",
        "stats": "Numbers.",
        "Start": "Begins.",
    }
    assert notes_of(reading) == [
        f"bot.py:{place} {COMPUTED_NAME}" for place in ("6:9", "7:9", "17:30", "21:36")
    ]
