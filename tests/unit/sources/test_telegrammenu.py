"""The menus of Telegram: documented forms of code, and what a manifest can have of other menus."""

import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import Menu
from commandsync.sources.reading import read
from commandsync.sources.telegrammenu import SCOPES, localized, offers
from tests.support.runner import ROOT

HEADS = {
    "python-telegram-bot": "from telegram.ext import *\nfrom telegram import BotCommand\n"
    "from telegram.ext import CommandHandler, MessageHandler, PrefixHandler, filters",
    "aiogram": "from aiogram import F\nfrom aiogram.filters import Command, CommandStart, or_f",
    "telebot": "import telebot\nfrom telebot.types import BotCommand",
    "Pyrogram": "from pyrogram import filters\nfrom pyrogram.handlers import MessageHandler\n"
    "from pyrogram.types import BotCommand",
    "Telethon": "from telethon import events",
    "grammY": 'import { Bot } from "grammy";',
    "Telegraf": 'const { Telegraf } = require("telegraf");',
    "node-telegram-bot-api": 'const Bot = require("node-telegram-bot-api");',
}
PYTHON = [*HEADS][:5]
ROW = re.compile(rf"^\| ((?:{'|'.join(HEADS)})[^|]*) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = [
    (name, code, shown)
    for names, code, shown in ROW.findall((ROOT / "docs" / "import.md").read_text(encoding="utf-8"))
    for name in names.split(", ")
]


@pytest.mark.parametrize(("name", "code", "shown"), ROWS, ids=[" ".join(row[:2]) for row in ROWS])
def test_a_documented_form_is_read(name: str, code: str, shown: str, tmp_path: Path) -> None:
    lines = [HEADS[name]]
    for number, line in enumerate(re.findall("`([^`]+)`", code)):
        handler = f"\nasync def f{number}(message): ..." if line.startswith("@") else ""
        lines.append(line + handler)
    file = tmp_path / ("bot.py" if name in PYTHON else "bot.ts")
    file.write_text("\n".join(lines), encoding="utf-8")

    reading = read(str(file))

    assert [entry.syntax for entry in reading.entries] == re.findall("`(.+?)`", shown)
    assert reading.unread == ()


def test_each_library_has_documented_forms() -> None:
    assert {name for name, _, _ in ROWS} == {*HEADS}


WORDS = st.text(st.characters(categories=["L", "N", "P", "S"], codec="utf-8"), min_size=1)
TEXTS = st.dictionaries(
    st.from_regex("[a-z][a-z0-9_]{0,9}", fullmatch=True),
    WORDS,
    min_size=1,
    max_size=30,
)
LANGUAGES = st.sampled_from(["de", "fr", "ru"])


@given(
    texts=TEXTS,
    scopes=st.sets(st.sampled_from(SCOPES[1:])),
    languages=st.dictionaries(LANGUAGES, WORDS),
    declared=st.sets(LANGUAGES),
)
def test_what_an_offer_says_can_be_written(
    texts: dict[str, str], scopes: set[str], languages: dict[str, str], declared: set[str]
) -> None:
    menus = [Menu(Audience(scope), texts) for scope in sorted(scopes)]
    menus += [
        Menu(Audience("default", each), dict.fromkeys(texts, languages[each])) for each in languages
    ]
    known = {Audience("default"), *(Audience("default", language) for language in declared)}
    notices = [*offers(menus, known, texts)]
    new = {*languages} - declared

    assert len(notices) == bool(scopes or new)
    for notice in notices:
        head, *files = re.split(r"; write into (\S+):  ", str(notice.hint))
        parts = head.partition(":  ")[2].split("  and  ")
        keys = {key: part for text in parts for key, part in yaml.safe_load(text).items()}
        assert {*keys.get("scopes", ())} - {"default"} == scopes
        assert keys.get("languages", {}) == {each: f"commands.{each}.yaml" for each in new}
        assert files[::2] == sorted(keys.get("languages", {}).values())
        for name, written in zip(files[::2], map(json.loads, files[1::2]), strict=True):
            assert written == dict.fromkeys(texts, languages[name.split(".")[1]])


def test_a_menu_that_no_manifest_can_have_is_named() -> None:
    menus = [
        Menu(Audience("chat"), {"a": "A."}),
        Menu(Audience("all_chat_administrators"), {"a": "A.", "ban": "B."}),
        Menu(Audience("all_group_chats"), {}),
    ]
    (notice,) = offers(menus, [], {"a"})

    assert "not imported: telegram (chat), telegram (all_chat_administrators)" in notice.message
    assert "leave these in the code" in str(notice.hint)


def test_languages_of_discord_are_menus() -> None:
    node = {"name": "ban", "description_localizations": {"de": "Sperrt.", "es-ES": "Bloquea."}}
    other = {"name": "kick", "description_localizations": {"de": "Wirft."}}

    assert [*localized([node, other, {"name": "a"}])] == [
        Menu(Audience("default", "de"), {"ban": "Sperrt.", "kick": "Wirft."}),
        Menu(Audience("default", "es"), {"ban": "Bloquea."}),
    ]


SCRIPT = """\
import {{ Bot }} from "grammy";
const bot = new Bot("");
bot.command(["a", name()], (ctx) => {{}});
bot.api.setMyCommands({listed});
bot.api.setMyCommands([{{ command: "b", description: "B." }}], {{ scope: scope() }});
bot.api.raw.setMyCommands(
  {{ commands: [{{ command: "a", description: "x" }}], language_code: "de" }});
if (process.env.A) bot.api.setMyCommands([{{ command: "c", description: "C." }}],
  {{ scope: {{ type: "all_private_chats" }} }});
"""
COMMAND_LINE = 'import { program } from "commander";\nprogram.command("serve").action(() => {});\n'


@pytest.mark.parametrize(
    ("listed", "syntaxes", "unread"),
    [
        ('[{ command: "a", description: "A." }]', ["/a"], []),
        ('[{ command: "a", description: t() }]', ["/a"], []),
        ("menu()", ["/a"], ["3:19 the name", "4:1 the menu"]),
        ('[{ command: x(), description: "A." }]', ["/a"], ["3:19 the name", "4:24 the name"]),
        ("[]", ["/c"], []),
    ],
)
def test_the_menu_of_a_script_counts_if_it_is_read(
    listed: str, syntaxes: list[str], unread: list[str], tmp_path: Path
) -> None:
    (tmp_path / "bot.ts").write_text(SCRIPT.format(listed=listed), encoding="utf-8")
    (tmp_path / "cli.ts").write_text(COMMAND_LINE, encoding="utf-8")

    reading = read(str(tmp_path))

    assert [entry.syntax for entry in reading.entries] == syntaxes
    assert [
        f"{part.place.line}:{part.place.column} {part.reason.partition(' of ')[0]}"[: len(want)]
        for part, want in zip(reading.unread, unread, strict=True)
    ] == unread
    assert {menu.audience for menu in reading.menus} > {Audience("computed")}
