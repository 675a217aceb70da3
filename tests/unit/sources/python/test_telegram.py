"""Handlers of Telegram's frameworks read as the frameworks register them."""

import json
from inspect import cleandoc
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from commandsync.records.snapshot import Audience
from commandsync.sources.python import read
from commandsync.sources.telegrammenu import COMPUTED_MENU, NO_TEXT, NOT_IN_MENU
from tests.support.botcode import COMPUTED_NAME, notes_of
from tests.support.frameworks import BOTS as RECORDED

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)
WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=9)


class Library(NamedTuple):
    """How a bot is written: its imports, three forms of handlers, and the call for a menu."""

    head: str
    forms: tuple[str, str, str]
    menu: str = "set_my_commands"


LIBRARIES = {
    "telegram": Library(
        "from telegram import *\nfrom telegram import BotCommand, BotCommandScopeChat\n"
        "from telegram import BotCommandScopeDefault, BotCommandScopeAllPrivateChats\n"
        "from telegram.ext import Application, CommandHandler\nimport telegram.ext as ext\n"
        "app = Application.builder().token('1:a').build()\n",
        (
            "app.add_handler(CommandHandler({one}, run{n}))",
            "app.add_handler(CommandHandler({every}, callback=run{n}))",
            "LIST{n} = {every}\napp.add_handler(ext.CommandHandler(LIST{n}, callback=run{n}))",
        ),
    ),
    "aiogram": Library(
        "from aiogram import F, Router, filters\nfrom aiogram.filters import Command\n"
        "from aiogram.types import BotCommand, BotCommandScopeDefault, BotCommandScopeChat\n"
        "from aiogram.types import BotCommandScopeAllPrivateChats\nrouter = Router()\n",
        (
            "router.message.register(run{n}, Command({one}))",
            "router.message.register(run{n}, filters.Command(commands={every}), F.text)",
            "router.message.register(run{n}, Command(BotCommand(command={one}, description='')))",
        ),
    ),
    "telebot": Library(
        "import telebot\nfrom telebot.types import BotCommand, BotCommandScopeDefault\n"
        "from telebot.types import BotCommandScopeAllPrivateChats, BotCommandScopeChat\n"
        "bot = telebot.TeleBot('1:a')\n",
        (
            "bot.register_message_handler(run{n}, commands=[{one}])",
            "@bot.message_handler(commands={every}, func=lambda message: True)\n{again}",
            "bot.register_message_handler(callback=run{n}, commands={every})",
        ),
    ),
    "pyrogram": Library(
        "from pyrogram import Client, filters\nfrom pyrogram.handlers import MessageHandler\n"
        "from pyrogram.types import BotCommand, BotCommandScopeDefault, BotCommandScopeChat\n"
        "from pyrogram.types import BotCommandScopeAllPrivateChats\napp = Client('a')\n",
        (
            "app.add_handler(MessageHandler(run{n}, filters.command({one})))",
            "@Client.on_message((filters.command({every}) & ~filters.me) & filters.text)\n{again}",
            "@app.on_message(filters.me | filters.command({every}, prefixes=['/', '!']))\n{again}",
        ),
        menu="set_bot_commands",
    ),
}
LISTS = (
    "[BotCommand(name, description=text) for name, text in {pairs}]",
    "[BotCommand(*pair) for pair in {pairs}]",
    "[BotCommand(command=name, description=text) for name, text in {texts}.items()]",
    "{pairs}",
    "[{each}]",
)
OTHER_SCOPES = {
    "all_private_chats": "BotCommandScopeAllPrivateChats()",
    "chat": "BotCommandScopeChat(7)",
}


class Handler(NamedTuple):
    names: list[str]
    text: str
    form: int


class SetMenu(NamedTuple):
    """A call that sets a menu; the menu is written in one of several forms."""

    texts: dict[str, str]
    audience: Audience
    form: int

    def code(self, call: str) -> str:
        pairs = [*self.texts.items()]
        each = ", ".join(f"BotCommand({name!r}, {text!r})" for name, text in pairs)
        listed = LISTS[self.form].format(pairs=pairs, texts=self.texts, each=each)
        scope, language = self.audience
        scoped = OTHER_SCOPES.get(scope, "BotCommandScopeDefault()" if self.form % 2 else "None")
        given = f"MENU, {scoped}" + (f", language_code={language!r}" if language else "")
        return f"async def begin(bot):\n    MENU = {listed}\n    await bot.{call}({given})\n"


class Bot(NamedTuple):
    handlers: list[Handler]
    menus: list[SetMenu]

    def code(self, library: Library) -> str:
        lines = [library.head]
        for n, (names, text, form) in enumerate(self.handlers):
            doc = f"    {json.dumps(text, ensure_ascii=False)}\n" if text else ""
            run = f"async def run{n}(update, context=None):\n{doc}    return {n}\n"
            words = {"one": json.dumps(names[0]), "every": names, "n": n, "again": run}
            lines += [run, library.forms[form].format(**words)]
        return "\n".join([*lines, *(menu.code(library.menu) for menu in self.menus)])

    def handled(self, library: Library) -> dict[str, str]:
        """Return the names with a handler, with their descriptions; the first of a name counts."""
        found: dict[str, str] = {}
        for names, text, form in self.handlers:
            for name in names if "{every}" in library.forms[form] else names[:1]:
                found.setdefault(name, text or "…")
        return found

    def menu(self) -> dict[str, str]:
        """Return the menu that is public."""
        menus = {menu.audience: menu.texts for menu in self.menus if menu.texts}
        if self.handlers or len(menus) > 1:
            menus.pop(Audience("chat"), None)
        usual = menus.get(Audience("default")) or menus.get(Audience("all_private_chats"))
        return usual or next(iter(menus.values()), {})


HANDLERS = st.builds(
    Handler, st.lists(NAMES, min_size=1, max_size=3), WORDS | st.just(""), st.integers(0, 2)
)
AUDIENCES = [
    *(Audience("default"), Audience("all_private_chats"), Audience("default", "de")),
    *(Audience("all_private_chats", "de"), Audience("chat")),
]
TEXTS = st.dictionaries(NAMES, WORDS, max_size=3)
MENUS = st.lists(
    st.builds(SetMenu, TEXTS, st.sampled_from(AUDIENCES), st.integers(0, len(LISTS) - 1)),
    max_size=3,
    unique_by=lambda menu: menu.audience,
)
BOTS = st.builds(Bot, st.lists(HANDLERS, max_size=4), MENUS)


@pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
@given(bot=BOTS)
@example(bot=Bot([Handler(["a"], "", 2)], [SetMenu({"a": "0"}, Audience("default"), 4)]))
def test_a_menu_says_which_ones_are_public(library: Library, bot: Bot, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(bot.code(library), encoding="utf-8")

    reading = read(str(file))

    handled, menu = bot.handled(library), bot.menu()
    commands = {entry.name: entry.description for entry in reading.entries}
    declared = {*handled}.union(*(each.texts for each in bot.menus))
    assert commands == (menu or handled)
    assert [entry.syntax for entry in reading.entries] == [f"/{name}" for name in commands]
    assert [part.entry.name for part in reading.excluded if part.entry.name in commands] == []
    assert commands.keys() | {part.entry.name for part in reading.excluded} == declared
    assert {part.reason for part in reading.excluded} <= {NOT_IN_MENU}
    assert len(reading.notes) == [*commands.values()].count("…")
    others = {each.audience: dict(each.texts) for each in reading.menus if each.texts}
    assert others == {m.audience: m.texts for m in bot.menus if m.texts and m.texts is not menu}
    assert reading.unread == ()


@pytest.mark.parametrize("name", ["telegram", "aiogram"])
def test_code_reads_as_its_framework_registers_it(name: str, tmp_path: Path) -> None:
    """The output is what the framework had registered, and had sent to Telegram."""
    output = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    file = tmp_path / "bot.py"
    file.write_bytes((RECORDED / f"{name}.txt").read_bytes())

    registered: dict[str, tuple[str, str]] = {}
    german = output["menu"].pop()
    for command, prefix, doc in output["commands"]:
        start = "/" if "/" in prefix else prefix
        text = " ".join(cleandoc(doc or "…").partition("\n\n")[0].split())
        registered.setdefault(command, (f"{start}{command}", text))
    if name == "telegram":  # the recording has the commands of CommandHandler only
        registered["old"] = ("!old", "Says hello.")
    for text in output["menu"]:
        syntax, _ = registered.get(text["command"], (f"/{text['command']}", ""))
        registered[text["command"]] = (syntax, text["description"])
    reading = read(str(file))

    left_out = [part.entry for part in reading.excluded if part.reason == NOT_IN_MENU]
    assert {
        entry.name: (entry.syntax, entry.description) for entry in [*reading.entries, *left_out]
    } == registered
    assert {entry.name for entry in reading.entries} == {each["command"] for each in output["menu"]}
    texts = {german["command"]: german["description"]}
    assert reading.menus == ((Audience("default", "de"), texts),)
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
        f"bot.py:6:9 {COMPUTED_NAME}",
        f"bot.py:7:9 {COMPUTED_NAME}",
        f"bot.py:17:17 {NO_TEXT.format('a')}",
        f"bot.py:17:30 {COMPUTED_NAME}",
        f"bot.py:21:36 {COMPUTED_NAME}",
        f"bot.py:22:21 {NO_TEXT.format('upper')}",
        f"bot.py:27:25 {COMPUTED_MENU}",
    ]


WITH_MENU = f"{BOT.replace('menu()', 'MENU')}\n"


def test_what_is_computed_beside_a_menu_is_not_public(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(WITH_MENU, encoding="utf-8")

    reading = read(str(file))

    assert {entry.name: entry.description for entry in reading.entries} == {
        "stats": "Numbers.",
        "Start": "Begins.",
    }
    assert notes_of(reading) == []


TELETHON = {  # the pattern of an event: the syntax, or the reason why it is not read
    '"/start"': "/start",
    'r"^/start$"': "/start",
    're.compile(r"\\/start\\b")': "/start",
    "START": "/start",
    'r"^/ban (\\w+)"': "are a pattern",
    'r"(?i)^[/!]ban"': "are a pattern",
    'r"\\.ping"': "are a pattern",
    're.compile("!ping( .*)?")': "are a pattern",
    "settings.PATTERN": "are computed",
    '"(?i)hello"': "",
    '".*@example.*"': "",
}


@pytest.mark.parametrize(("pattern", "expected"), TELETHON.items())
@pytest.mark.parametrize(
    "handler",
    [
        "@client.on(events.NewMessage(pattern=PATTERN))\nasync def run(event): ...",
        "@events.register(events.NewMessage(pattern=PATTERN))\nasync def run(event): ...",
        "client.add_event_handler(run, events.NewMessage(chats=1, pattern=PATTERN))",
    ],
    ids=["a decorator", "a registration", "a call"],
)
def test_a_pattern_of_telethon_is_a_command_or_not_read(
    handler: str, pattern: str, expected: str, tmp_path: Path
) -> None:
    head = "import re\nfrom telethon import TelegramClient, events\nSTART = '/start'\n"
    head += "client = TelegramClient('a', 1, 'b')\n"
    (tmp_path / "bot.py").write_text(head + handler.replace("PATTERN", pattern), encoding="utf-8")

    reading = read(str(tmp_path))

    assert [entry.syntax for entry in reading.entries] == [expected] * expected.startswith("/")
    assert [expected in part.reason for part in reading.unread] == [True] * ("are" in expected)


@pytest.mark.parametrize(
    "handler",
    [
        "@client.on(events.NewMessage)",
        "@client.on(events.NewMessage(incoming=True, func=lambda event: event.is_private))",
        '@client.on(events.CallbackQuery(pattern=b"/page"))',
        "@client.on(events.ChatAction())",
    ],
)
def test_other_handlers_of_telethon_declare_no_command(handler: str, tmp_path: Path) -> None:
    head = "from telethon import TelegramClient, events\nclient = TelegramClient('a', 1, 'b')\n"
    code = f"{head}{handler}\nasync def run(event): ...\n"
    (tmp_path / "bot.py").write_text(code, encoding="utf-8")

    reading = read(str(tmp_path))

    assert (reading.entries, reading.unread) == ((), ())


def test_a_decorator_of_the_bot_with_a_pattern_of_commands_is_not_read(tmp_path: Path) -> None:
    code = "from telethon import events\nfrom .core import register\n"
    code += '@register(pattern=r"^\\.ping$")\nasync def ping(event): ...\n'
    code += '@register(pattern="hello")\nasync def hello(event): ...\n'
    (tmp_path / "bot.py").write_text(code, encoding="utf-8")

    reading = read(str(tmp_path))

    assert reading.entries == ()
    assert [part.place.line for part in reading.unread] == [3]


@pytest.mark.parametrize("given", ["fill(MENU, app)", "app.more(commands=MENU)", "MENU.sort()"])
def test_a_menu_that_a_function_gets_is_not_read_and_leaves_nobody_out(
    given: str, tmp_path: Path
) -> None:
    code = (
        "from telegram import BotCommand\nfrom telegram.ext import Application, CommandHandler\n"
        "MENU = [BotCommand('start', 'Starts.')]\nasync def init(app):\n    GIVEN\n"
        "    await app.bot.set_my_commands(MENU)\n"
        "app = Application.builder().token('1:a').build()\n"
        "app.add_handler(CommandHandler('start', start))\n"
        "app.add_handler(CommandHandler('ban', ban))\n"
    )
    (tmp_path / "bot.py").write_text(code.replace("GIVEN", given), encoding="utf-8")

    reading = read(str(tmp_path))

    is_sorted = given == "MENU.sort()"  # which adds nothing
    assert [entry.syntax for entry in reading.entries] == ["/start"] + ["/ban"] * (not is_sorted)
    assert [part.entry.name for part in reading.excluded] == ["ban"] * is_sorted
    assert [part.reason for part in reading.unread] == [COMPUTED_MENU] * (not is_sorted)
