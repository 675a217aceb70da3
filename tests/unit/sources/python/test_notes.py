"""What only a run of the code can tell is named with its place, and nothing is guessed."""

import gc
from pathlib import Path
from textwrap import indent

from commandsync.sources.entry import SourceReading
from tests.support.botcode import COMMANDS, COMPUTED_NAME, ReadingOf, notes_of

START = COMMANDS + "from discord import app_commands\nbot = commands.Bot('!')\n"


def syntaxes(reading: SourceReading) -> list[str]:
    return [entry.syntax for entry in reading.entries]


def test_an_unread_frameworks_code_is_named(reading_of: ReadingOf, tmp_path: Path) -> None:
    (tmp_path / "interactions.py").write_text("def slash_command(**keys): ...\n")
    code = (
        "import lightbulb\n@bot.command\n@lightbulb.command('echo', 'x')\nasync def echo(ctx): 1\n"
    )
    of_lightbulb = reading_of(code)
    own = reading_of(START + "import interactions\n@bot.command()\nasync def a(ctx): 'A'\n")

    assert of_lightbulb.entries == ()
    assert notes_of(of_lightbulb) == ["bot.py:4:1 the commands of lightbulb are not read"]
    assert [unread.name for unread in of_lightbulb.unread] == ["echo"]
    assert syntaxes(own) == ["{prefix}a"]


def test_a_computed_name_leaves_its_command_out(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "for name in names:\n"
        + "    @bot.command(name=name)\n    async def one(ctx): '1'\n"
        + "@bot.group(f'{name:>3}')\nasync def two(ctx): '2'\n"
        + "@two.command()\nasync def three(ctx): '3'\n"
        + "group = app_commands.Group(name=read_name(), description='G')\n"
        + "@group.command()\nasync def four(interaction): '4'\n"
        + "class Five(commands.GroupCog, group_name=name):\n"
        + "    @app_commands.command()\n    async def six(self, interaction): '6'\n"
        + "@bot.command(name=None)\nasync def seven(ctx): '7'\n"
        + "@bot.command(name='')\nasync def eight(ctx): '8'\n",
    )

    assert syntaxes(reading) == ["{prefix}seven"]
    of_a_group = COMPUTED_NAME.replace("this", "a group of this")
    assert notes_of(reading) == [
        *(f"bot.py:{place} {COMPUTED_NAME}" for place in ("6:23", "8:12")),
        *(f"bot.py:{place} {of_a_group}" for place in ("11:1", "14:1", "17:5")),
        f"bot.py:20:19 {COMPUTED_NAME}",
    ]


def test_a_computed_text_or_value_has_a_note(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "from typing import Literal\n"
        + "@bot.command(description=texts['é'], usage=usage, help=None)\n"
        + "async def one(ctx, é='é', size=config.SIZE, kind: Literal[1, x] = None): 'One'\n"
        + "@bot.command(brief=text())\n"
        + "async def two(ctx, a=0 / 1, b={**c}, d=commands.parameter(default=read())): 'Two'\n"
        + "@bot.hybrid_command(help=text())\nasync def three(ctx, a: str = read()): ...\n",
    )

    assert syntaxes(reading) == [
        "{prefix}one [é=é] [size] [kind]",
        "{prefix}two [a] [b] [d]",
        "/three [a]",
    ]
    assert [entry.description for entry in reading.entries] == ["One", "Two", "…"]
    assert [note.removesuffix(" is computed at run time") for note in notes_of(reading)] == [
        "bot.py:6:26 the description of this command",
        "bot.py:6:44 the usage of this command",
        "bot.py:7:32 a value of 'size'",
        "bot.py:7:62 a value of 'kind'",
        "bot.py:8:20 the brief of this command",
        "bot.py:9:22 a value of 'a'",
        "bot.py:9:31 a value of 'b'",
        "bot.py:9:67 a value of 'd'",
        "bot.py:10:26 the help of this command",
    ]


def test_what_a_call_registers_has_a_note_unless_it_is_read(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "class Perm(app_commands.Group):\n"
        + "    @app_commands.command()\n    async def give(self, interaction): 'Gives'\n"
        + "class Fun(commands.Cog):\n"
        + "    def __init__(self, bot):\n"
        + "        self.menu = app_commands.ContextMenu(name='Report', callback=self.report)\n"
        + "        bot.tree.add_command(self.menu)\n"
        + "        bot.tree.add_command(self.other)\n"
        + "    async def report(self, interaction, message: discord.Message): 'Reports it'\n"
        + "@commands.command()\nasync def ping(ctx): 'Pong'\n"
        + "bot.add_command(ping)\nbot.add_command(commands.Command(ping, name='p'))\n"
        + "bot.tree.add_command(Perm(bot))\n"
        + "for command in all_commands:\n    bot.add_command(command)\n"
        + "bot.tree.add_command(app_commands.ContextMenu(name='User', callback=lambda: 1))\n"
        + "bot.tree.add_command(app_commands.ContextMenu(name=name, callback=x))\n"
        + "bot.add_command()\nbot.add_command(commands.Command(read(), name='q'))\n",
    )

    assert [note.removesuffix(" is computed at run time") for note in notes_of(reading)] == [
        "bot.py:12:9 the command registered here",
        "bot.py:20:5 the command registered here",
        "bot.py:22:52 the name of this command",
        "bot.py:24:17 the function of this command",
    ]
    assert {entry.name: entry.description for entry in reading.entries} == {
        "User": "In the menu of a user, under Apps.",
        "perm give": "Gives",
        "Report": "Reports it",
        "ping": "Pong",
        "p": "Pong",
        "q": "…",
    }


def test_a_command_declared_twice_is_read_once(reading_of: ReadingOf, tmp_path: Path) -> None:
    ping = "@bot.command()\nasync def ping(ctx): 'Pong'\n"
    slash = "@bot.tree.command()\nasync def ping(interaction): 'Slash'\n"
    reading = reading_of({"a.py": START + ping, "b.py": START + slash + ping})

    assert [entry.description for entry in reading.entries] == ["Pong", "Slash"]
    ((again, reason),) = reading.excluded
    assert (str(again.place), reason) == (
        f"{tmp_path}/b.py:8:1",
        f"declared again (first at {tmp_path}/a.py:6:1)",
    )


def test_the_garbage_collector_is_as_it_was(reading_of: ReadingOf) -> None:
    was_on = gc.isenabled()
    reading_of(START)
    is_on = gc.isenabled()
    gc.disable()
    reading_of(START)
    stays_off = not gc.isenabled()
    if was_on:
        gc.enable()

    assert is_on is was_on
    assert stays_off


def test_commands_that_a_group_adds_are_in_it(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "outer = app_commands.Group(name='outer', description='O')\n"
        + "inner = app_commands.Group(name='inner', description='I')\n"
        + "outer.add_command(inner)\n"
        + "@inner.command()\nasync def deep(interaction): 'Deep'\n"
        + "@bot.group()\nasync def tag(ctx): 'Tag'\n"
        + "@commands.command()\nasync def add(ctx): 'Adds'\n"
        + "tag.add_command(add)\n"
        + "bot.tree.add_command(outer, guild=discord.Object(1))\n",
    )

    assert syntaxes(reading) == ["/outer inner deep", "{prefix}tag", "{prefix}tag add"]
    assert [" ".join(entry.traits) for entry in reading.entries] == ["guild-only", "", ""]


def test_groups_that_add_each_other_contain_nothing(reading_of: ReadingOf) -> None:
    group = "{} = app_commands.Group(name='{}', description='G')\n"
    reading = reading_of(
        START
        + group.format("a", "a")
        + group.format("b", "b")
        + "a.add_command(b)\nb.add_command(a)\n"
        + "@a.command()\nasync def x(interaction): 'X'\nadd_command(x)\n",
    )

    assert reading.entries == ()


def test_a_cog_of_certain_servers_says_it_of_its_slash_commands(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "class Fun(commands.Cog):\n"
        + "    @commands.command()\n    async def a(self, ctx): 'A'\n"
        + "    @app_commands.command()\n    async def b(self, interaction): 'B'\n"
        + "class All(commands.Cog):\n"
        + "    @app_commands.command()\n    async def c(self, interaction): 'C'\n"
        + "async def setup(bot):\n"
        + "    await bot.add_cog(Fun(bot), guilds=[discord.Object(1)])\n"
        + "    await bot.add_cog(All(bot))\n    await bot.add_cog(cog, guild=GUILD)\n"
        + "    await bot.add_cog(read_cog(), guild=GUILD)\n",
    )

    assert {entry.name: " ".join(entry.traits) for entry in reading.entries} == {
        "a": "",
        "b": "guild-only",
        "c": "",
    }


def test_a_decorator_that_is_not_followed_is_marked(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "from helpers import Feature, cached, log_command\n"
        + "@Feature.Make(name='a')\nasync def one(ctx): '1'\n"
        + "@log_command\n@bot.command()\nasync def two(ctx): '2'\n"
        + "@cached\ndef three(ctx): '3'\n"
        + "def own(function):\n    return commands.guild_only()(function)\n"
        + "@own\n@bot.command()\nasync def four(ctx): '4'\n",
    )

    assert syntaxes(reading) == ["{prefix}two", "{prefix}four"]
    assert reading.unread == ()
    assert {part.name: part.reason for part in reading.partly} == {
        **dict.fromkeys(("a", "one"), "the decorator `Feature.Make` is not followed"),
        "three": "the decorator `cached` is not followed",
        "two": "the decorator `log_command` is not followed",
    }


def test_a_class_that_is_not_in_the_source_is_marked(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "from base import Base, Flags\n"
        + "class Fun(Base):\n"
        + "    @commands.hybrid_command()\n    async def a(self, ctx, flags: Flags): 'A'\n"
        + "    @commands.command()\n    async def b(self, ctx, flags: Flags): 'B'\n",
    )

    assert syntaxes(reading) == ["/a <flags>", "{prefix}b <flags>"]
    assert {part.name: part.reason for part in reading.partly} == {
        "": "the base class `Base` of Fun is not in the source",
        "a": "the class of 'flags' is not followed",
    }


def test_a_command_in_a_group_outside_of_the_source_is_not_read(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "from groups import admin\n"
        + "@app_commands.command()\nasync def a(it): 'A'\nadmin.add_command(a)\n"
        + "sub = app_commands.Group(name='sub', description='S', parent=admin)\n"
        + "@sub.command()\nasync def b(it): 'B'\n"
        + "more = admin.create_subgroup('more')\n@more.command()\nasync def c(it): 'C'\n",
    )

    assert reading.entries == ()
    assert {part.name: part.reason for part in reading.unread} == {
        "a": "`admin`, to which it is added, is not in the source",
        "sub b": "the group `admin` is not in the source",
        "more c": "the group `admin` is not in the source",
    }


def test_the_commands_in_a_part_that_is_not_valid_are_counted(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "class Fun(commands.Cog):\n"
        + "    @commands.command()\n    async def before(self, ctx): 'Before'\n"
        + "    @commands.command(\n        name='8ball'\n"
        + "    async def ball(self, ctx, question: str): 'Answers'\n"
        + "    @commands.command()\n    async def after(self, ctx): 'After'\n",
    )
    [unread] = reading.unread

    assert syntaxes(reading) == ["{prefix}before", "{prefix}after"]
    assert (unread.name, unread.place.line) == ("8ball", 8)
    assert "not valid Python" in unread.reason


def test_unread_commands_of_one_place_are_in_the_order_of_their_names(
    reading_of: ReadingOf,
) -> None:
    """The imported file contains them, and another import of the same code must not change it."""
    names = [f"go{number}" for number in range(9)]
    first, *others = (f"@bot.command()\nasync def {name}(ctx): 'Goes'\n" for name in names)

    reading = reading_of(START + first + indent("".join(others), "    "))

    assert len({part.place for part in reading.unread}) == 1
    assert [part.name for part in reading.unread] == names
