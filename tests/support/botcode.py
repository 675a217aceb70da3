"""The code of bots, drawn in many ways: discord.py's cogs and commands, and JavaScript's forms.

What the reading of Python notes is listed by place. For JavaScript there is what discord.js makes
of each form: `python -m tests.support.botcode FOLDER` records that, if discord.js is installed in
the folder.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

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


RECORDED = Path(__file__).parents[1] / "fixtures" / "javascript" / "builders.json"
FORMS = ("chain", "statements", "instances", "object", "constants")
FILES = {
    "default.mjs": "export default {{ data: {0}, async execute(interaction) {{}} }};",
    "named.mjs": "export const data = {0};\nexport async function execute(interaction) {{}}",
    "exports.cjs": "module.exports = {{ cooldown: 5, data: {0}, execute: async (i) => {{}} }};",
    "member.cjs": "exports.data = {0};\nexports.run = async (client, interaction) => {{}};",
    "function.cjs": "const make = () => ({0});\nmodule.exports = {{ data: make(), run() {{}} }};",
    "typed.ts": "export default {{ data: {0} as any, run: (i: any) => {{}} }} satisfies object;",
}
_TYPES = ("String", "Integer", "Boolean", "User", "Channel", "Role", "Mentionable", "Number")
_TEXTS = (
    "Plays a song",
    'It\'s "loud"',
    "`a` ${b}",
    "zwei\nZeilen",
    "C:\\new",
    "🎲 dé",
    "{prefix}x",
)
_QUOTED = "\"'`+"
_NODE = """
const read = async (file) => {
  const module = await import('file://' + file);
  return JSON.parse(JSON.stringify(module.data ?? module.default.data));
};
Promise.all(process.argv.slice(1).map(read)).then((all) => console.log(JSON.stringify(all)));
"""


@dataclass
class ScriptWriter:
    """Writes a document in one of the forms."""

    random: Random
    form: str
    constants: list[str] = field(default_factory=list)

    def text(self, value: str) -> str:
        inner = json.dumps(value)[1:-1]
        quote = self.random.choice(_QUOTED)
        if self.form == "constants":
            self.constants.append(f"const t{len(self.constants)} = {json.dumps(value)};")
            return f"t{len(self.constants) - 1}"
        if quote == "+":
            return f"{json.dumps(value[:3])} + {json.dumps(value[3:])}"
        plain = inner.replace('\\"', '"').replace(quote, f"\\{quote}")
        return quote + (plain.replace("${", "\\${") if quote == "`" else plain) + quote

    def calls(self, node: dict[str, Any]) -> list[str]:
        calls = [f"setName({self.text(node['name'])})"]
        if "description" in node:
            calls.append(f"setDescription({self.text(node['description'])})")
        for key, call in (("required", "setRequired"), ("nsfw", "setNSFW")):
            calls += [f"{call}({str(node[key]).lower()})"] if key in node else []
        if "name_localizations" in node:
            calls.append(f"setNameLocalizations({self.braces(node['name_localizations'])})")
        if "default_member_permissions" in node:
            bits = node["default_member_permissions"]
            flag = "PermissionFlagsBits.Administrator" if bits == "8" else f"{bits}n"
            calls.append(f"setDefaultMemberPermissions({flag})")
        if "choices" in node:
            written = [self.braces(choice) for choice in node["choices"]]
            calls.append(f"addChoices({', '.join(written)})")
        return [*calls, *(self.option(option) for option in node.get("options", ()))]

    def option(self, node: dict[str, Any]) -> str:
        number = node["type"]
        what = {1: "Subcommand", 2: "SubcommandGroup"}.get(number) or f"{_TYPES[number - 3]}Option"
        calls = self.calls(node)
        chain = "".join(f".{call}" for call in calls)
        if self.form == "instances":
            return f"add{what}(new SlashCommand{what}{'' if number > 2 else 'Builder'}(){chain})"
        lines = "".join(f" o.{call};" for call in calls)
        block = f"(o) => {{{lines} return o; }}"
        function = f"function (option) {{ return option{chain}; }}"
        return f"add{what}({self.random.choice((f'(o) => o{chain}', block, function))})"

    def braces(self, node: dict[str, Any]) -> str:
        members = [
            f"{self.random.choice((key, repr(key)))}: {self.value(key, value)}"
            for key, value in node.items()
        ]
        if self.form == "constants":
            self.constants.append(f"const o{len(self.constants)} = {{ {', '.join(members)} }};")
            return f"{{ ...o{len(self.constants) - 1} }}"
        return f"{{ {', '.join(members)} }}"

    def value(self, key: str, value: object) -> str:
        if isinstance(value, dict):
            return self.braces(value)
        if isinstance(value, list):
            return f"[{', '.join(self.braces(each) for each in value)}]"
        if (
            key == "type"
            and isinstance(value, int)
            and 3 <= value <= 10
            and self.form == "constants"
        ):
            return f"ApplicationCommandOptionType.{_TYPES[value - 3]}"
        return self.text(value) if isinstance(value, str) else json.dumps(value)

    def source(self, document: dict[str, Any], frame: str) -> str:
        calls = self.calls(document) if self.form != "object" else []
        made = "new SlashCommandBuilder()"
        if self.form == "object" or (self.form == "constants" and self.random.random() < 0.5):
            made = self.braces(document)
        elif self.form == "statements":
            self.constants += [f"const b = {made};", *(f"b.{call};" for call in calls)]
            made = "b"
        else:
            made += "".join(f"\n  .{call}" for call in calls)
        return "\n".join((*self.constants, frame.format(made)))


def document(random: Random) -> dict[str, Any]:
    """Draw a command as Discord has it."""
    node = _node(random)
    kinds = random.choice(([], [1], [1, 2], [3, 4, 5, 6], [3, 7, 8, 9, 10]))
    node["options"] = [_option(random, kind) for kind in kinds]
    if random.random() < 0.3:
        node["nsfw"] = random.random() < 0.5
    if random.random() < 0.3:
        node["default_member_permissions"] = random.choice(("8", "4", "0"))
    return node


def _node(random: Random) -> dict[str, Any]:
    name = "".join(random.choices("abcxyz-", k=6)) + str(random.randrange(1000))
    node = {"name": f"n{name}", "description": random.choice(_TEXTS)}
    extra = {"name_localizations": {"de": f"d{name}"}} if random.random() < 0.3 else {}
    return {**node, **extra}


def _option(random: Random, kind: int) -> dict[str, Any]:
    node = {"type": kind, **_node(random)}
    if kind < 3:
        node["options"] = [_option(random, random.choice((3, 4, 6)) if kind == 1 else 1)]
        return node
    node["required"] = random.random() < 0.5
    if kind == 3 and random.random() < 0.7:
        names = random.sample(("on", "off", "It's", "a|b", "auto"), random.randrange(1, 4))
        node["choices"] = [{"name": name, "value": name} for name in names]
    return node


def drawn(seed: int) -> tuple[str, str, dict[str, Any]]:
    """Return the name of a file, its code, and the command that it declares."""
    random = Random(seed)  # noqa: S311 - which draws the same again
    command, name = document(random), random.choice(list(FILES))
    head = "SlashCommandBuilder, PermissionFlagsBits, ApplicationCommandOptionType"
    classes = (f"SlashCommand{each}Option" for each in _TYPES)
    parts = ", ".join(
        (head, *classes, "SlashCommandSubcommandBuilder", "SlashCommandSubcommandGroupBuilder")
    )
    imported = f"const {{ {parts} }} = require('discord.js');"
    if not name.endswith("cjs"):
        imported = f"import {{ {parts} }} from 'discord.js';"
    return (
        name,
        f"{imported}\n{ScriptWriter(random, random.choice(FORMS)).source(command, FILES[name])}\n",
        command,
    )


def made_by_discord_js(folder: Path, seeds: range) -> list[dict[str, Any]]:
    """Return the commands that discord.js makes of drawn code, without its types."""
    files = []
    for seed in seeds:
        name, code, _ = drawn(seed)
        plain = code.replace(" as any", "").replace(": any", "").replace(" satisfies object", "")
        file = folder / f"{seed}-{name}".replace(".ts", ".mjs")
        file.write_text(plain, encoding="utf-8")
        files.append(str(file))
    command = (shutil.which("node") or "node", "-e", _NODE, *files)
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    made: list[dict[str, Any]] = json.loads(ended.stdout)
    return made


if __name__ == "__main__":
    everything = made_by_discord_js(Path(sys.argv[1]).resolve(), range(60))
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(
        json.dumps(everything, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
