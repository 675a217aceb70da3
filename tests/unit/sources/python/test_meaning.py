"""Names in a bot's code, across its files and however they are imported."""

import sys
from pathlib import Path

import pytest

from tests.support.botcode import COMMANDS, COMPUTED_NAME, ReadingOf, notes_of

IMPORTS = {
    "the module": "import discord\n@discord.ext.commands.command()",
    "the module by another name": "import discord.ext.commands as cmd\n@cmd.command()",
    "the function": "from discord.ext.commands import command\n@command()",
    "the function by another name": "from discord.ext.commands import command as c\n@c()",
    "everything": "from discord.ext.commands import *\n@command()",
    "a fork": "from nextcord.ext import commands as c\n@c.command()",
    "one of two frameworks": (
        "try:\n    from disnake.ext import commands\nexcept ImportError:\n"
        "    from discord.ext import commands\n@commands.command()"
    ),
    "another name in the code": COMMANDS + "make = commands.command\n@make()",
    "without a call": "from discord.ext import commands\n@commands.command",
    "Red": "from redbot.core import commands\n@commands.command()",
    "a bot": "from discord.ext import commands\nbot = commands.Bot('!')\n@bot.command()",
    "a bot's own class": (
        "from discord.ext import commands\nclass Mine(commands.Bot): ...\nbot = Mine()\n"
        "@bot.command()"
    ),
    "a bot that an extension gets": (
        "from discord.ext import commands\nasync def setup(it):\n    @it.command()"
    ),
}


@pytest.mark.parametrize("start", IMPORTS.values(), ids=IMPORTS)
def test_a_decorator_is_known_however_it_is_imported(start: str, reading_of: ReadingOf) -> None:
    indent = "    " * ("    @" in start)
    code = f"{start}\n{indent}async def ping(ctx, times: int = 1): 'Pong'\n"
    reading = reading_of(code)

    assert [entry.syntax for entry in reading.entries] == ["{prefix}ping [times=1]"]


TREES = {
    "of a bot": "from discord.ext import commands\nbot = commands.Bot('!')\n@bot.tree.command()",
    "of a client": COMMANDS + "tree = discord.app_commands.CommandTree(client)\n@tree.command()",
    "of an own class": (
        "from discord import app_commands\nclass Mine(app_commands.CommandTree): ...\n"
        "commands_of = Mine(client)\n@commands_of.command()"
    ),
    "of a parameter": "import discord\ndef register(it):\n    @it.tree.command()",
    "by a parameter": (
        "import discord\ndef setup(it: discord.app_commands.CommandTree):\n    @it.command()"
    ),
}


@pytest.mark.parametrize("start", TREES.values(), ids=TREES)
def test_a_command_of_a_tree_is_a_slash_command(start: str, reading_of: ReadingOf) -> None:
    indent = "    " * ("    @" in start)
    code = f"{start}\n{indent}async def ping(interaction, mode: str): 'Pong'\n"

    assert [entry.syntax for entry in reading_of(code).entries] == ["/ping <mode>"]


ELSEWHERE = {
    "a bot": "from core import bot\n@bot.command()",
    "a tree": "from core import client\n@client.tree.command()",
    "a decorator": "from core import command\n@command()",
    "an instance": "from core import Bot\nbot = Bot()\n@bot.command()",
    "a group": "from core import admin\n@admin.subcommand()",
}


@pytest.mark.parametrize("start", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_command_of_an_object_outside_the_source_is_not_read(
    start: str, reading_of: ReadingOf
) -> None:
    reading = reading_of(f"{start}\nasync def ping(interaction): 'Pong'\n")
    [unread] = reading.unread

    assert reading.entries == ()
    assert (unread.name, "is not in the source" in unread.reason) == ("ping", True)


def test_an_unknown_bots_commands_are_called_as_the_others_of_the_source(
    reading_of: ReadingOf,
) -> None:
    code = COMMANDS + "def register(it):\n    @it.command()\n    async def ping(ctx): 'Pong'\n"
    slash = "@discord.app_commands.command()\nasync def roll(ctx): 'Rolls'\n"

    assert [entry.syntax for entry in reading_of(code).entries] == ["{prefix}ping"]
    assert [entry.syntax for entry in reading_of(code + slash).entries] == ["/ping", "/roll"]


OTHERS = {
    "of a command line": "import click\n@click.command()\ndef ping(ctx): ...",
    "in a group of a command line": (
        "import click\n@click.group()\ndef main(): ...\n@main.command()\ndef ping(ctx): ..."
    ),
    "of an application": "import typer\napp = typer.Typer()\n@app.command()\ndef ping(ctx): ...",
    "without a context": "from core import app\n@app.command()\nasync def ping(): ...",
    "in a group that is added": "import click\ncli = click.Group()\ncli.add_command(x)",
    "of no name": COMMANDS + "@decorators[0]\nasync def ping(ctx): 0",
    "of another name": COMMANDS + "@commands.check(x)\nasync def ping(ctx): 0",
}


@pytest.mark.parametrize("code", OTHERS.values(), ids=OTHERS)
def test_a_command_of_something_else_is_not_read(code: str, reading_of: ReadingOf) -> None:
    reading = reading_of(code + "\n")

    assert (reading.entries, reading.notes) == ((), ())


def test_names_are_found_in_the_other_files_of_a_bot(reading_of: ReadingOf) -> None:
    reading = reading_of(
        {
            "main.py": "from cogs.base import tags\nfrom cogs import base\n"
            "@tags.command()\nasync def add(ctx): 'Adds'\n"
            "@base.tags.command()\nasync def remove(ctx): 'Removes'\n",
            "cogs/__init__.py": "from .base import Base as Renamed\n",
            "cogs/base.py": COMMANDS
            + "class Base(commands.Cog, name='Base'): ...\n"
            + "@commands.group()\nasync def tags(ctx): 'Tags'\n",
            "cogs/fun.py": COMMANDS
            + "from . import Renamed\nfrom .. import texts\n"
            + "from ..texts import *\nfrom ..choices import Mode\n"
            + "class Fun(Renamed):\n"
            + "    @commands.command(NAME)\n"
            + "    async def roll(self, ctx, mode: Mode, count=texts.COUNT): 'Rolls'\n"
            + "    @discord.app_commands.command()\n"
            + "    async def pick(self, interaction, fruit: Fruit, mode: Mode | None): 'Picks'\n",
            "texts.py": "NAME = 'roll-' + SIDES\nSIDES = 'd6'\nCOUNT = 2\n"
            "from enum import Enum as E\nclass Fruit(E):\n    apple = 1\n    pear = 2\n"
            "    pomme = 1\n    _other = 3\n",
            "choices.py": "import typing as t\nMode = t.Literal['on', 'off']\n",
        },
        inside="my.bot",
    )

    assert notes_of(reading) == []
    assert {entry.syntax: entry.category for entry in reading.entries} == {
        '{prefix}roll-d6 <"on"|"off"> [count=2]': "Fun",
        "/pick <fruit> [on|off]": "Fun",
        "{prefix}tags": None,
        "{prefix}tags add": "tags",
        "{prefix}tags remove": "tags",
    }


def test_of_two_modules_of_a_name_the_nearer_one_is_meant(reading_of: ReadingOf) -> None:
    bot = COMMANDS + "from texts import NAME\n@commands.command(NAME)\nasync def x(ctx): 'X'\n"
    reading = reading_of(
        {
            "one/bot.py": bot,
            "one/texts.py": "NAME = 'first'",
            "two/bot.py": bot,
            "two/texts.py": "NAME = 'second'",
        },
    )

    assert [entry.name for entry in reading.entries] == ["first", "second"]


def test_a_name_means_what_it_is_bound_to_above(reading_of: ReadingOf) -> None:
    reading = reading_of(
        COMMANDS
        + "NAME = 'a'\n@commands.command(name=NAME)\nasync def one(ctx): '1'\n"
        + "NAME = 'b'\nNAME: str\n@commands.command(name=NAME)\nasync def two(ctx): '2'\n"
        + "def setup(bot, NAME='c'):\n"
        + "    NAME = 'd'\n    @bot.command(name=NAME)\n    async def three(ctx): '3'\n",
    )

    assert [entry.name for entry in reading.entries] == ["a", "b", "d"]


def test_packages_without_an_init_file_are_packages(reading_of: ReadingOf, tmp_path: Path) -> None:
    reading = reading_of(
        {
            "bot.py": COMMANDS
            + "import texts.names\nimport texts.missing\n"
            + "class Fun(commands.Cog[commands.Bot]):\n"
            + "    @commands.command(texts.names.PING)\n    async def a(self, ctx): 'A'\n"
            + "    @commands.command(texts.missing.PING)\n    async def b(self, ctx): 'B'\n"
            + "    @commands.command(texts.broken.PING)\n    async def c(self, ctx): 'C'\n"
            + "    @commands.command(texts.large.PING)\n    async def d(self, ctx): 'D'\n"
            + "    @commands.command(self.PING)\n    async def e(self, ctx): 'E'\n",
            "texts/names.py": "PING = 'ping'",
            "texts/broken.py": "PING = (",
            "texts/large.py": b" " * 11_000_000,
        },
    )

    assert {entry.name: entry.category for entry in reading.entries} == {"ping": "Fun"}
    notes = [note.replace(f"{tmp_path}/", "") for note in notes_of(reading)]
    assert [note for note in notes if not note.startswith("broken.py")] == [
        *(f"bot.py:{line}:23 {COMPUTED_NAME}" for line in (8, 10, 12, 14)),
        "large.py:1:1 texts/large.py is larger than 10 MiB",
    ]


def test_a_package_knows_its_modules(reading_of: ReadingOf) -> None:
    reading = reading_of(
        {
            "bot.py": "import cogs\nfrom cogs import *\nNAME = cogs.base.NAME\n"
            "@cogs.base.tags.command(NAME)\nasync def add(ctx): 'Adds'\n"
            "@cogs.other.command(cogs.OTHER)\nasync def x(ctx): 'X'\n",
            "cogs/__init__.py": "from .base import *\n",
            "cogs/base.py": COMMANDS
            + "NAME = 'insert'\nOTHER = 'y'\n@commands.group()\nasync def tags(ctx): 'Tags'\n",
        },
    )

    assert [entry.name for entry in reading.entries] == ["tags insert", "tags"]
    assert [part.name for part in reading.unread] == ["y"]  # on what is in no module


def test_a_method_knows_its_class(reading_of: ReadingOf) -> None:
    reading = reading_of(
        COMMANDS
        + "class Mine(commands.Bot):\n    NAME = 'b'\n"
        + "    def __init__(self):\n        self.name = 'a'\n        self.other = x\n"
        + "        @self.command(self.name)\n        async def one(ctx): '1'\n"
        + "        @self.command(self.NAME)\n        async def two(ctx): '2'\n"
        + "        @self.command(self.missing)\n        async def three(ctx): '3'\n"
        + "        @self.tree.command()\n        async def four(interaction): '4'\n",
    )

    assert {entry.syntax: entry.category for entry in reading.entries} == {
        "{prefix}a": None,
        "{prefix}b": None,
        "/four": None,
    }


def test_folders_of_others_and_tests_are_left_out(reading_of: ReadingOf) -> None:
    code = COMMANDS + "@commands.command()\nasync def {}(ctx): 'Pong'\n"
    folders = ("", "a/", ".venv/", "venv/", "node_modules/", "tests/", "a/tests/", ".git/")
    reading = reading_of(
        {f"{folder}bot.py": code.format(f"c{n}") for n, folder in enumerate(folders)}
    )

    assert [entry.name for entry in reading.entries] == ["c1", "c0"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="`type` statements came with Python 3.12")
def test_an_alias_of_a_type_statement_is_followed(reading_of: ReadingOf) -> None:
    reading = reading_of(
        COMMANDS
        + "from typing import Literal\ntype Mode = Literal['on', 'off']\n"
        + "@commands.command()\nasync def go(ctx, mode: Mode): 'Goes'\n",
    )

    assert [entry.syntax for entry in reading.entries] == ['{prefix}go <"on"|"off">']


def test_a_group_has_the_name_that_its_constructor_passes_on(reading_of: ReadingOf) -> None:
    command = "    @app_commands.command()\n    async def x(self, interaction): 'X'\n"
    reading = reading_of(
        COMMANDS
        + "from discord import app_commands\n"
        + "class One(app_commands.Group):\n    def other(self): ...\n"
        + "    def __init__(self, bot):\n        self.bot = bot\n"
        + "        super().__init__(name='first', description='1')\n"
        + command
        + "class TwoWords(app_commands.Group):\n    def __init__(self): ...\n"
        + command,
    )

    assert [entry.name for entry in reading.entries] == ["first x", "two-words x"]
