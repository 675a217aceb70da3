"""Strategies for the code of bots: cogs and commands of discord.py, written in many ways.

What its reading notes is listed by place.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from commandsync.diagnostics import Location
from commandsync.sources.entry import SourceReading

STYLES = (
    """
import discord, typing
from discord import app_commands
from discord.ext import commands
""",
    """
import discord as d, typing as t
from discord import app_commands as ac
import discord.ext.commands as c
""",
    """
from __future__ import annotations
import discord.ext.commands
import typing
from discord.ext.commands import *
from discord import app_commands
""",
)
"""How the modules are imported."""

NAMES = (
    {"D": "discord", "T": "typing", "A": "app_commands", "C": "commands"},
    {"D": "d", "T": "t", "A": "ac", "C": "c"},
    {"D": "discord", "T": "typing", "A": "app_commands", "C": "discord.ext.commands"},
)
"""What they are called then."""

PRELUDE = """
import enum
Mode = {T}.Literal["on", "off"]
Maybe = {T}.Optional[int]
DEFAULT = "un" + "set"
class Fruit(enum.Enum):
    apple = 1
    pear = 2
class Flags({C}.FlagConverter):
    who: {D}.Member
    days: int = 1
    reason: {T}.Optional[str] = {C}.flag(name="why")
"""
ANNOTATIONS = (
    *("", "int", "str", "{D}.Member", "'{D}.Member'", "Mode", "Maybe", "int | None"),
    *("{T}.Optional[str]", "{T}.Union[int, str]", "{T}.Union[None, int, str]", "None | int"),
    *("{T}.Literal['a', 'b', 3]", "{T}.Optional[{T}.Literal[1, 2, 2]]", "'{T}.Literal[True, 1]'"),
    *("{C}.Greedy[int]", "{C}.Greedy[{T}.Literal['x', 'y']]", "{C}.Greedy[{D}.Attachment]"),
    *("{D}.Attachment", "{T}.Optional[{D}.Attachment]", "{T}.Annotated[int, {T}.Optional[str]]"),
    *("{T}.Union[Mode, int]", "{T}.Union[int, int]", "{T}.Literal[Mode, 'auto']", "Flags"),
)
DEFAULTS = (
    *("None", "3", "-1.5", "'text'", "''", "True", "0", "[]", "(1, 'a')", "60 * 60", "DEFAULT"),
    *("lambda ctx: 1", "int", "{'a': 1}", "f'{DEFAULT}!'", "Fruit"),
    "{C}.parameter(default=2, displayed_default='two')",
    "{C}.param(default=None, displayed_name='shown')",
    "{C}.parameter(description='what')",
    "{C}.Author",
)
SLASH_ANNOTATIONS = (
    *("int", "str", "bool", "{D}.Member", "'{D}.Role'", "Fruit", "Mode", "Maybe"),
    *("{T}.Optional[str]", "{T}.Literal['a', 'b']", "{A}.Range[int, 1, 9]", "{D}.User | None"),
    "{T}.Literal[1, 2, 3, 4, 5]",
)
DOCSTRINGS = (
    *("Does it.", "Does it\n    in two lines.", "\n    First line.\n\n    More of it.\n    "),
    *("Größe 🎲 | `code`", "Says {prefix} & <b>.", "x" * 120, "many words " * 15),
    "Before\n    that.\n\n    Parameters\n    ----------\n    p0: int\n        The first.\n    ",
)
TEXTS = ("brief text", "A longer\n  text", "")


@dataclass
class Writer:
    """Writes the code of a bot, line by line."""

    draw: DrawFn
    lines: list[str] = field(default_factory=list)
    count: int = 0
    alone: list[str] = field(default_factory=list)  # prefix commands in no group
    in_group: bool = False  # there, groups in groups would be too deep for Discord

    def add(self, line: str, indent: int) -> None:
        self.lines.append("    " * indent + line)

    def name(self) -> str:
        self.count += 1
        return f"cmd{self.count}"

    def some(self, *options: str) -> list[str]:
        return self.draw(st.lists(st.sampled_from(options), unique=True, max_size=3))

    def one(self, *options: str) -> str:
        return self.draw(st.sampled_from(options))

    def maybe(self) -> bool:
        return self.draw(st.booleans())

    def keywords(self, name: str, *options: str, without: tuple[str, ...] = ()) -> str:
        """Draw the arguments of a decorator."""
        drawn = [option for option in self.some(*options) if option not in without]
        given = list({option.partition("=")[0]: option for option in drawn}.values())
        if self.maybe():
            given.insert(0, f"name='{name}-x'")
        return ", ".join(given)

    def prefix_parameters(self) -> str:
        """Draw the parameters of a prefix command."""
        parts: list[str] = []
        needs_default = keyword_only = False
        for number in range(self.draw(st.integers(0, 4))):
            annotation = self.one(*ANNOTATIONS)
            default = self.one(*DEFAULTS) if needs_default or self.maybe() else ""
            needs_default = bool(default) and not keyword_only
            parts.append(_parameter(f"p{number}", annotation, default))
            if not keyword_only and number and self.draw(st.integers(0, 3)) == 0:
                keyword_only = True
                needs_default = False
                parts.append(self.one("*", "*rest", "*rest: int"))
        if parts and parts[-1] == "*":
            parts.pop()
        if self.draw(st.integers(0, 9)) == 0:
            parts.append("**others")
        return "".join(f", {part}" for part in parts)

    def slash_parameters(self) -> str:
        """Draw the parameters of a slash command."""
        parts = []
        for number in range(self.draw(st.integers(0, 3))):
            default = "None" if self.draw(st.integers(0, 2)) == 0 else ""
            parts.append(_parameter(f"p{number}", self.one(*SLASH_ANNOTATIONS), default))
        return ", *, " + ", ".join(parts) if parts else ""

    def body(self, indent: int) -> None:
        """Draw a docstring, or a body without one."""
        text = self.one("", *DOCSTRINGS)
        self.add(repr(text) if text else "...", indent)


def _parameter(name: str, annotation: str, default: str) -> str:
    typed = f"{name}: {annotation}" if annotation else name
    return f"{typed} = {default}" if default else typed


PREFIX_KEYWORDS = (
    *("brief='brief text'", "help='Helps\\n  with it'", "description='Describes'"),
    *("usage='<this> [or that]'", "hidden=True", "enabled=False", "aliases=['other']"),
    *("require_var_positional=True", "brief=DEFAULT", "extras={'a': 1}", "hidden=False"),
)


def _prefix(writer: Writer, indent: int, on: str = "{C}", made: str = "command") -> str:
    name, me = writer.name(), "self, " if indent else ""
    keywords = writer.keywords(name, *PREFIX_KEYWORDS, without=("aliases=['other']",))
    writer.add(f"@{on}.{made}({keywords})", indent)
    writer.add(f"async def {name}({me}ctx{writer.prefix_parameters()}):", indent)
    writer.body(indent + 1)
    return name


def _prefix_group(writer: Writer, indent: int, on: str = "{C}") -> None:
    name = _prefix(writer, indent, on, "group")
    for _ in range(writer.draw(st.integers(0, 2))):
        _prefix(writer, indent, name)


def _hybrid(writer: Writer, indent: int, on: str = "{C}", made: str = "hybrid_command") -> str:
    name, me = writer.name(), "self, " if indent else ""
    options = ["brief='brief text'", "description='Describes'", "hidden=True"]
    if made == "hybrid_group":
        options.append(f"fallback='{name}-fallback'")
    if made == "hybrid_command":
        options.append("with_app_command=False")
    writer.add(f"@{on}.{made}({writer.keywords(name, *options)})", indent)
    parameters = writer.slash_parameters()
    if parameters and writer.maybe():
        writer.add("@{A}.rename(p0='renamed')", indent)
    writer.add(f"async def {name}({me}ctx{parameters}):", indent)
    writer.body(indent + 1)
    return name


def _hybrid_group(writer: Writer, indent: int, on: str = "{C}") -> None:
    name = _hybrid(writer, indent, on, "hybrid_group")
    for _ in range(writer.draw(st.integers(0, 2))):
        _hybrid(writer, indent, name, "command")


def _slash(writer: Writer, indent: int, on: str = "{A}") -> None:
    name, me = writer.name(), "self, " if indent else ""
    options = ("description='Describes'", "nsfw=True", "extras={'a': 1}")
    writer.add(f"@{on}.command({writer.keywords(name, *options)})", indent)
    parameters = writer.slash_parameters()
    if parameters and writer.maybe():
        writer.add("@{A}.describe(p0='The first')", indent)
    writer.add(f"async def {name}({me}interaction: {{D}}.Interaction{parameters}):", indent)
    writer.body(indent + 1)


def _slash_group(writer: Writer, indent: int) -> str:
    name = writer.name()
    writer.add(f"{name} = {{A}}.Group(name='{name}-g', description='Group')", indent)
    _slash(writer, indent, name)
    if not writer.in_group and writer.maybe():
        inner = writer.name()
        writer.add(
            f"{inner} = {{A}}.Group(name='{inner}', description='Inner', parent={name})", indent
        )
        _slash(writer, indent, inner)
    return name


MEMBERS: dict[str, Callable[[Writer, int], object]] = {
    "prefix": _prefix,
    "prefix group": _prefix_group,
    "hybrid": _hybrid,
    "hybrid group": _hybrid_group,
    "slash": _slash,
    "slash group": _slash_group,
}


def _cog(writer: Writer, number: int, *, base: str = "") -> str:
    """Draw a cog, and return what it is; one with a base is the same, and overrides a command."""
    kind = base.partition(" ")[0] or writer.one("Cog", "GroupCog")
    writer.in_group = kind == "GroupCog"
    keywords = writer.some(f"name='the-{kind.lower()}-{number}'", "command_attrs=dict(hidden=True)")
    above = base.partition(" ")[2] or f"{{C}}.{kind}"
    writer.add(f"class MyCog{number}({', '.join([above, *keywords])}):", 0)
    writer.add("'A cog'", 1)
    if base and writer.alone and writer.maybe():
        writer.add("@{C}.command()", 1)
        writer.add(f"async def {writer.one(*writer.alone)}(self, ctx): 'New'", 1)
    for member in writer.draw(st.lists(st.sampled_from(sorted(MEMBERS)), max_size=5)):
        name = MEMBERS[member](writer, 1)
        writer.alone += [str(name)] if member == "prefix" else []
    return f"{kind} MyCog{number}"


def _group_class(writer: Writer, number: int) -> None:
    keywords = writer.some(f"name='its-{number}'", "description='A group'")
    writer.add(f"class MyGroup{number}({', '.join(['{A}.Group', *keywords])}):", 0)
    writer.add("'A group'", 1)
    for _ in range(writer.draw(st.integers(1, 2))):
        _slash(writer, 1)


def _classes(writer: Writer) -> None:
    """Draw cogs and groups, and the function that loads them; not the cogs that others extend."""
    inherits, base = writer.maybe(), ""
    loaded: list[int] = []
    for number in range(writer.draw(st.integers(0, 2))):
        base = _cog(writer, number, base=base if inherits else "")
        loaded = [*([] if inherits else loaded), number]
    writer.in_group = False
    groups = writer.some("", "name='made'")[:1]
    for number in range(len(groups)):
        _group_class(writer, number)
    writer.add("async def setup(bot):", 0)
    writer.add("pass", 1)
    for number in loaded:
        writer.add(f"await bot.add_cog(MyCog{number}())", 1)
    for number, given in enumerate(groups):
        writer.add(f"bot.tree.add_command(MyGroup{number}({given}))", 1)


@st.composite
def bots(draw: DrawFn) -> str:
    """Draw the code of a bot that discord.py can load."""
    writer = Writer(draw)
    style = draw(st.integers(0, len(STYLES) - 1))
    writer.add("bot = {C}.Bot('!', intents={D}.Intents.default(), help_command=None)", 0)
    _classes(writer)
    groups: list[str] = []
    for on in draw(st.lists(st.sampled_from(("bot", "tree", "bot group", "group")), max_size=3)):
        if on == "bot":
            _prefix(writer, 0, "bot")
        elif on == "tree":
            _slash(writer, 0, "bot.tree")
        elif on == "bot group":
            _prefix_group(writer, 0, "bot")
        else:
            groups.append(_slash_group(writer, 0))
    writer.lines += [f"bot.tree.add_command({group})" for group in groups]
    code = STYLES[style] + "\n".join([PRELUDE, *writer.lines, ""])
    for key, name in NAMES[style].items():
        code = code.replace(f"{{{key}}}", name)
    return code


ReadingOf = Callable[..., SourceReading]

COMMANDS = "import discord\nfrom discord.ext import commands\n"
COMPUTED_NAME = "the name of this command is computed at run time"


def notes_of(reading: SourceReading) -> list[str]:
    """Return the notes and the unread parts, each with its file's name, its line and its column."""
    parts = [(note.location, note.message) for note in reading.notes]
    parts += [(unread.place, unread.reason) for unread in reading.unread]
    return [
        f"{place.path.rpartition('/')[2]}:{place.line}:{place.column} {message}"
        for place, message in sorted(parts, key=lambda part: part[0] or Location(""))
        if place
    ]
