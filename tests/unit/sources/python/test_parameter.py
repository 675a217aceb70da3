"""The parameters of commands as the frameworks describe them, in the ways that are seldom used."""

import pytest

from tests.support.botcode import COMMANDS, ReadingOf, notes_of

START = (
    COMMANDS
    + "import typing as t\nimport enum\nimport inspect\nfrom discord import Option, SlashOption\n"
    + "from discord import app_commands\nbot = commands.Bot('!')\n"
    + "class Size(enum.IntEnum):\n    'A size'\n    small = enum.auto()\n    large = enum.auto()\n"
    + "BASE = commands.param(default='x')\nCHOICES = ['a', 'b']\n"
    + "class Plain: ...\n"
    + "class Level(enum.Enum): low = 1; high = 2\n"
)

PREFIX = {
    "a=commands.parameter(converter=t.Optional[int])": "[a]",
    "a: int = commands.parameter(default=2, displayed_default=text())": "[a]",
    "a=BASE": "[a=x]",
    "a=commands.parameter(default=lambda ctx: 1)": "[a]",
    "a=commands.CurrentChannel": "[a=<this channel>]",
    "a=commands.CurrentGuild": "[a=<this server>]",
    "a: t.Annotated[str, t.Optional[int]]": "[a]",
    "a: t.Annotated[int]": "<a>",
    "a: app_commands.Transform[int, t.Optional[X]]": "[a]",
    "a: discord.Attachment = None": "<a (upload a file)>",
    "a: commands.Greedy[t.Literal['x']] = 'y'": '["x"=y]...',
    "a: t.NewType('A', int)": "<a>",
    "a: None": "<a>",
    "a: Plain": "<a>",
    "a: t.Union[None]": "<a>",
    "a, /, b=2": "<a> [b=2]",
    "*, a": "<a>",
    "a='{prefix}'": "[a={{prefix}}]",
}

SLASH = {
    "a: t.Annotated[str, Option('What', choices=['x', 'y'])]": "<x|y>",
    "a: Option(Size)": "<small|large>",
    "a: Option(str, 'What', choices=CHOICES, required=False)": "[a|b]",
    "a: Option(str, choices=read())": "<a>",
    "a: Option(str, choices=[read(), 'x'])": "<a>",
    "a: Option(str, choices=('x', 'y'))": "<x|y>",
    "a: Option(str, choices=x.y.z)": "<a>",
    "a: Option(str, required=needed)": "<a>",
    "a: int = SlashOption('number', 'Which', True, choices={'one': 1, 'two': 2})": "<number>",
    "a: str = SlashOption(name='b', default=None)": "[b]",
    "a: str = commands.Param(default_factory=read)": "[a]",
    "a: str = commands.Param(...)": "<a>",
    "a: str = commands.Param('x', name='b')": "[b]",
    "a: str = commands.Param(choices=[1, 2.5, 'three'])": "<1|2.5|three>",
    "a: Level": "<low|high>",
    "a: t.Literal['x', None]": "<x|None>",
    "a: str, **rest": "<a>",
    "a: Missing": "<a>",
}

DECORATED = {
    "app_commands.rename(a='x', b=name)": "<x> <b>",
    "app_commands.choices(a=[app_commands.Choice(name='X', value=1), read()])": "<a> <b>",
    "app_commands.choices(a=[app_commands.Choice(name='X', value=1)], c=[])": "<a> <b>",
    "discord.option('b', choices=['x', 'y'])": "<a> <x|y>",
    "discord.option('z', parameter_name='b', choices=['x', 'y'])": "<a> <x|y>",
    "discord.option()": "<a> <b>",
    "discord.option(name)": "<a> <b>",
    "app_commands.describe(a='What')": "<a> <b>",
}

DECLARED = {
    **{
        f"@bot.command()\nasync def go(ctx, {given})": f"{{prefix}}go {shown}"
        for given, shown in PREFIX.items()
    },
    **{
        f"@bot.slash_command()\nasync def go(ctx, {given})": f"/go {shown}"
        for given, shown in SLASH.items()
    },
    **{
        f"@bot.slash_command()\n@{given}\nasync def go(ctx, a: str, b: str)": f"/go {shown}"
        for given, shown in DECORATED.items()
    },
}


@pytest.mark.parametrize(("declared", "syntax"), DECLARED.items())
def test_parameters_are_shown(declared: str, syntax: str, reading_of: ReadingOf) -> None:
    [entry] = reading_of(f"{START}{declared}: 'Goes'\n").entries

    assert entry.syntax == syntax


def test_flags_are_options_of_a_slash_command(reading_of: ReadingOf) -> None:
    reading = reading_of(
        START
        + "class Flags(commands.FlagConverter):\n    'Flags'\n    who: discord.Member\n"
        + "    days: int = 1\n    why: str = commands.flag(name='reason', default='none')\n"
        + "    def method(self): ...\n"
        + "@bot.hybrid_command()\nasync def ban(ctx, a: str, *, flags: Flags): 'Bans'\n",
    )

    assert [entry.syntax for entry in reading.entries] == ["/ban <a> <who> [days] [reason]"]


TEXTS = {
    "description=_('Says')": "Says",
    "description=inspect.cleandoc('''\n  Says\n    more\n  ''')": "Says\n  more",
    "description=app_commands.locale_str('Says', key='x')": "Says",
    "description=_(text)": "Goes",
    "description=f'Says {1 + 2} {BASE_TEXT}'": "Says 3 it",
    "description=f'Says {1.5!r}'": "Goes",
    "description='-' * 3": "Goes",
    "description='Says' if x else 'Goes'": "Goes",
    "description=f'{BASE_TEXT:>3}'": "Goes",
    "description=-1": "Goes",
    "description=-BASE_TEXT": "Goes",
    "description=f'{None}'": "Goes",
    "description=(1, 2)": "Goes",
    "description=dict": "Goes",
    "description='a' * 1 + 'b'": "Goes",
}


@pytest.mark.parametrize(("argument", "description"), TEXTS.items())
def test_a_stated_text_is_read(argument: str, description: str, reading_of: ReadingOf) -> None:
    code = f"{START}BASE_TEXT = 'it'\n@bot.slash_command({argument})\nasync def go(ctx): 'Goes'\n"
    reading = reading_of(code)

    assert [entry.description for entry in reading.entries] == [description]
    assert len(reading.notes) == (description == "Goes")


def test_what_binds_a_name_makes_its_value_unknown(reading_of: ReadingOf) -> None:
    statements = (
        *("for name in x: ...", "with x as name: ...", "with x as (name, *y): ...", "name += 1"),
        *("try: ...\nexcept E as name: ...", "name, y = x", "[*name] = x", "x.name = name = y"),
        *("match x:\n    case 1:\n        name = y", "with x: name = y"),
    )
    for number, statement in enumerate(statements):
        code = f"{START}name = 'a'\n{statement}\n@bot.command(name)\nasync def go(ctx): 'Goes'\n"
        reading = reading_of(code, inside=str(number))

        assert [entry.name for entry in reading.entries] == [], statement
        assert len(notes_of(reading)) == 1


def test_a_mapped_group_of_py_cord_is_a_command_of_that_name(reading_of: ReadingOf) -> None:
    reading = reading_of(
        "from discord.ext import bridge\n@bridge.bridge_group()\n@bridge.map_to('show')\n"
        "@bridge.other\nasync def tag(ctx, name: str): 'Shows'\n"
        "@tag.command()\nasync def add(ctx): 'Adds'\n"
        "@bridge.bridge_group()\n@bridge.other()\nasync def x(ctx): 'X'\n",
    )

    assert [entry.syntax for entry in reading.entries] == [
        "/tag show <name>",
        "/tag add",
        "{prefix}x",
    ]
