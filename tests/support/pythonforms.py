"""The forms of Python: how bots declare commands with the frameworks that are read.

The code is what the documentation of the frameworks and public bots show, for commands of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from tests.support.repositories import SOURCE, Command, Form, Part, Where

_OPTIONS = frozenset({"names", "texts"})
_WITH_BASE = _OPTIONS | {"base"}


@dataclass
class Code:
    """The files of one part, while they are written."""

    part: Part
    start: str  # the imports of the framework
    files: dict[str, str] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)

    @property
    def class_name(self) -> str:
        return self.part.stem.title().replace("_", "")

    def stated(self, where: Where, key: str, text: str) -> str:
        """Return the expression for a text, whose definition is where it should be."""
        stem, name = self.part.stem, key.upper()
        definition = f"{name} = {text!r}\n"
        match where:
            case Where.HERE:
                return repr(text)
            case Where.CONSTANT:
                self.constants.append(definition)
                return name
            case Where.FILE:
                self._add(f"{SOURCE}/texts/{stem}_texts.py", definition)
                self.imports.append(f"from texts.{stem}_texts import {name}\n")
            case Where.PACKAGE:
                self._add(f"{SOURCE}/texts_{stem}/__init__.py", definition)
                self.imports.append(f"from ..texts_{stem} import {name}\n")
            case Where.RENAMED:
                self._add(f"{SOURCE}/texts/{stem}_texts.py", definition)
                self.imports.append(
                    f"from {SOURCE}.texts.{stem}_texts import {name} as ITS_{name}\n"
                )
                return f"ITS_{name}"
            case Where.OUTSIDE:
                self._add(f"lib/{stem}_texts.py", definition)
                self.imports.append(f"from lib.{stem}_texts import {name}\n")
            case Where.MISSING:
                self.imports.append(f"from nowhere.{stem}_texts import {name}\n")
        return name

    def name_of(self, command: Command) -> str:
        return self.stated(self.part.names, f"{command.name}_name", command.name)

    def text_of(self, command: Command) -> str:
        return self.stated(self.part.texts, f"{command.name}_text", command.description)

    def _add(self, path: str, text: str) -> None:
        self.files[path] = self.files.get(path, "") + text

    def head(self) -> str:
        return self.start + "".join([*dict.fromkeys(self.imports), "\n", *self.constants])

    def from_base(self, name: str, text: str) -> str:
        """Return the name of something that is where the base of the part is."""
        stem = self.part.stem
        match self.part.base:
            case Where.HERE | Where.CONSTANT:
                self.constants.append(text)
                return name
            case Where.PACKAGE:
                path, source = f"{SOURCE}/shared_{stem}/__init__.py", f"shared_{stem}"
            case Where.OUTSIDE:
                path, source = f"lib/shared_{stem}.py", f"lib.shared_{stem}"
            case Where.MISSING:
                path, source = "", f"nowhere.shared_{stem}"
            case _:
                path, source = f"{SOURCE}/shared/shared_{stem}.py", f"shared.shared_{stem}"
        if path:
            self._add(path, self.start + text)
        for level in range(1, self.part.above if path else 0):  # modules that only pass it on
            own = f"{SOURCE}/shared/pass{level}_{stem}.py"
            self._add(own, f"from {source} import {name}\n")
            source = f"shared.pass{level}_{stem}"
        its = f"its_{name}" if self.part.base is Where.RENAMED else name
        self.imports.append(f"from {source} import {name}{f' as {its}' if its != name else ''}\n")
        return its

    def of_functions(self, body: str) -> dict[str, str]:
        """Return the files of a part without classes."""
        path = f"{SOURCE}/{self.part.folder}/{self.part.stem}.py"
        return {**self.files, path: f"{self.head()}\n{body}"}

    def of_class(
        self, base: str, methods: str, *, given: str = "", end: str = ""
    ) -> dict[str, str]:
        """Return the files of a part whose commands are methods of a class."""
        part, name = self.part, self.class_name
        leaf = f"{SOURCE}/{part.folder}/{part.stem}.py"
        end = end or f"\nasync def setup(bot):\n    await bot.add_cog({name}(bot))\n"
        if part.base in {Where.HERE, Where.CONSTANT}:
            alias = f"Above = {base}\n" if part.base is Where.CONSTANT else ""
            base = "Above" if alias else base
            code = f"{self.head()}\n{alias}class {name}({base}{given}):\n{methods}{end}"
            return {**self.files, leaf: code}
        files = dict(self.files)
        below, before = base, self.head()
        for level in range(part.above):
            own, module = f"{name}Base{level}", f"{part.stem}_base{level}"
            code = f"{before}\nclass {own}({below}):\n" + ("    pass\n" if level else methods)
            match part.base:
                case Where.PACKAGE:
                    path, source = f"{SOURCE}/{module}/__init__.py", f"{SOURCE}.{module}"
                case Where.OUTSIDE if not level:
                    path, source = f"lib/{module}.py", f"lib.{module}"
                case Where.MISSING if not level:
                    path, source = "", f"nowhere.{module}"
                case _:
                    path, source = f"{SOURCE}/base/{module}.py", f"base.{module}"
            if path:
                files[path] = code
            below = f"Its{own}" if part.base is Where.RENAMED else own
            before = f"{self.start}from {source} import {own}"
            before += f" as {below}\n" if below != own else "\n"
        files[leaf] = f"{before}\nclass {name}({below}{given}):\n    pass\n{end}"
        return files


def _parameters(command: Command, first: str) -> str:
    return ", ".join([first, *(f"{option}: str" for option in command.options)])


def _slash(_part: Part, command: Command) -> str:
    return " ".join([f"/{command.name}", *(f"<{option}>" for option in command.options)])


def _prefix(_part: Part, command: Command) -> str:
    return "{prefix}" + _slash(_part, command)[1:]


def _function(code: Code, command: Command, decorator: str, first: str, owner: str = "") -> str:
    """Return a function with a decorator, which gets the name and the text."""
    lines = [decorator.format(name=code.name_of(command), text=code.text_of(command))]
    lines += [owner] if command.is_owner else []
    lines += [f"async def on_{command.name}({_parameters(command, first)}):", "    await go()", ""]
    return "\n".join(lines) + "\n"


def _methods(code: Code, decorator: str, first: str, owner: str) -> str:
    functions = (_function(code, each, decorator, first, owner) for each in code.part.commands)
    lines = "".join(functions).splitlines()
    return "\n".join(f"    {line}" if line else "" for line in lines) + "\n"


DISCORD = "import discord\nfrom discord import app_commands\nfrom discord.ext import commands\n"
OWNER = "@commands.is_owner()"


def _class_form(  # noqa: PLR0917 - the parts of a form
    name: str,
    start: str,
    base: str,
    decorator: str,
    first: str,
    syntax: Callable[[Part, Command], str],
    owner: str = OWNER,
) -> Form:
    def write(part: Part) -> dict[str, str]:
        code = Code(part, start)
        return code.of_class(base, _methods(code, decorator, first, owner))

    return Form(name, write, syntax, varies=_WITH_BASE)


def _function_form(  # noqa: PLR0917 - the parts of a form
    name: str,
    start: str,
    before: str,
    decorator: str,
    first: str,
    syntax: Callable[[Part, Command], str],
    owner: str = OWNER,
) -> Form:
    def write(part: Part) -> dict[str, str]:
        code = Code(part, start)
        functions = [_function(code, each, decorator, first, owner) for each in part.commands]
        return code.of_functions(before + "\n" + "".join(functions))

    return Form(name, write, syntax, varies=_OPTIONS)


def _group_name(part: Part, command: Command) -> str:
    return f"{part.stem.replace('_', '')} {command.name}"


def _group_syntax(part: Part, command: Command) -> str:
    return f"/{part.stem.replace('_', '')} " + _slash(part, command)[1:]


def _group(part: Part) -> dict[str, str]:
    code, name = Code(part, DISCORD), part.stem.replace("_", "")
    before = f"group = app_commands.Group(name={name!r}, description='G.')\n"
    shape = "@group.command(name={name}, description={text})"
    functions = [_function(code, each, shape, "interaction", OWNER) for each in part.commands]
    return code.of_functions(before + "".join(functions) + "\nbot.tree.add_command(group)\n")


def _group_cog(part: Part) -> dict[str, str]:
    code, name = Code(part, DISCORD), part.stem.replace("_", "")
    shape = "@app_commands.command(name={name}, description={text})"
    methods = _methods(code, shape, "self, interaction", OWNER)
    return code.of_class("commands.GroupCog", methods, given=f", group_name={name!r}")


def _pycord_group(part: Part) -> dict[str, str]:
    code, name = (
        Code(part, "import discord\nfrom discord.ext import commands\n"),
        part.stem.replace("_", ""),
    )
    before = f"bot = discord.Bot()\ngroup = bot.create_group({name!r}, 'G.')\n"
    shape = "@group.command(name={name}, description={text})"
    return code.of_functions(
        before + "".join(_function(code, each, shape, "ctx", OWNER) for each in part.commands)
    )


def _wrapped(part: Part) -> dict[str, str]:
    """Return a part with a decorator of the bot's own, called `command`."""
    own = "def command(name, text):\n"
    own += "    return commands.hybrid_command(name=name, description=text)\n"
    code = Code(part, DISCORD)
    if part.base.is_known and part.base is not Where.HERE:
        code.files[f"{SOURCE}/own/decorators.py"] = DISCORD + own
    elif part.base is Where.OUTSIDE:
        code.files["lib/decorators.py"] = DISCORD + own
    source = "own.decorators" if part.base.is_known else "lib.decorators"
    if part.base is Where.HERE:
        code.start += own
    else:
        code.start += f"from {source} import command\n"
    methods = _methods(code, "@command({name}, {text})", "self, ctx", OWNER)
    return Code(
        Part(part.stem, part.commands, part.folder), code.head(), files=code.files
    ).of_class("commands.Cog", methods)


def _joined_group(part: Part) -> dict[str, str]:
    """Return commands that are added to a group, which may be made elsewhere."""
    code, name = Code(part, DISCORD), part.stem.replace("_", "")
    group = code.from_base(
        "group", f"group = app_commands.Group(name={name!r}, description='G.')\n"
    )
    shape = "@app_commands.command(name={name}, description={text})"
    functions = [
        _function(code, each, shape, "interaction", OWNER)
        + f"{group}.add_command(on_{each.name})\n"
        for each in part.commands
    ]
    return code.of_functions("".join(functions))


_LOOP = """\
group = app_commands.Group(name="admin", description="A.")
for module in modules:
    group.add_command(importlib.import_module(module).command)
bot.tree.add_command(group)

@bot.tree.command(name="other", description="Shows it.")
async def other(interaction): ...
"""


def _loose(part: Part) -> dict[str, str]:
    """Return commands of modules that a loop adds to a group, which is made elsewhere."""
    code = Code(part, DISCORD)
    shape = "@app_commands.command(name={name}, description={text})"
    return code.of_functions(
        "".join(_function(code, each, shape, "interaction") for each in part.commands)
    )


def _sub_commands(
    start: str, group: str, shape: str, first: str
) -> Callable[[Part], dict[str, str]]:
    """Return a form of commands that are declared on a group, which may be made elsewhere."""

    def write(part: Part) -> dict[str, str]:
        code = Code(part, start)
        made = group.format(name=part.stem.replace("_", ""))
        its = code.from_base("group", made)
        parts = [
            _function(code, each, shape.replace("GROUP", its), first, OWNER)
            for each in part.commands
        ]
        return code.of_functions("".join(parts))

    return write


def _joins_by_name(part: Part) -> dict[str, str]:
    """Return commands of Pycord that name their group, which is made elsewhere."""
    name = part.stem.replace("_", "")
    code = Code(part, PYCORD + "from pycord.multicog import add_to_group\n")
    code.files[f"{SOURCE}/main_{name}.py"] = (
        PYCORD + f"bot = discord.Bot()\nbot.create_group({name!r}, 'G.')\n"
        f"made = discord.SlashCommandGroup({name!r}, 'G.')\n"
    )
    shape = (
        "@discord.slash_command(name={name}, description={text})\n@add_to_group(" + repr(name) + ")"
    )
    return code.of_class("discord.Cog", _methods(code, shape, "self, ctx", OWNER))


def _above_it(part: Part) -> dict[str, str]:
    """Return a cog whose own base class has no commands."""
    code = Code(part, DISCORD)
    base = code.from_base("OwnCog", "class OwnCog(commands.Cog):\n    pass\n")
    methods = _methods(code, "@commands.command(name={name}, help={text})", "self, ctx", OWNER)
    return Code(replace(part, base=Where.HERE), code.head(), code.files).of_class(base, methods)


def _with_decorator(part: Part) -> dict[str, str]:
    """Return commands with a decorator of the bot's own, which says nothing about them."""
    code = Code(part, DISCORD + "import functools\n")
    own = (
        "def logged(function):\n    @functools.wraps(function)\n"
        "    async def inner(*args, **kwargs):\n        print(args)\n"
        "        return await function(*args, **kwargs)\n    return inner\n"
    )
    its = code.from_base("logged", own)
    shape = f"@app_commands.command(name={{name}}, description={{text}})\n@{its}"
    methods = _methods(code, shape, "self, interaction", OWNER)
    return Code(replace(part, base=Where.HERE), code.head(), code.files).of_class(
        "commands.Cog", methods
    )


def _with_flags(part: Part) -> dict[str, str]:
    """Return commands whose options are the flags of a class."""
    code = Code(part, DISCORD)
    body = ""
    for command in part.commands:
        options = ""
        if command.options:
            fields = "".join(f"    {option}: str\n" for option in command.options)
            flags = f"class {command.name.title()}Flags(commands.FlagConverter):\n{fields}"
            options = f", *, flags: {code.from_base(f'{command.name.title()}Flags', flags)}"
        own = replace(command, options=())
        shape = "@bot.hybrid_command(name={name}, description={text})"
        body += _function(code, own, shape, f"ctx{options}", OWNER)
    return code.of_functions(BOT + body)


def _spread(part: Part) -> dict[str, str]:
    """Return commands whose decorators get an object with `**`."""
    code = Code(part, DISCORD)
    body = ""
    for command in part.commands:
        about = f"about_{command.name}"
        made = f"{about} = {{'name': {command.name!r}, 'description': {command.description!r}}}\n"
        its = code.from_base(about, made)
        body += _function(code, command, f"@app_commands.command(**{its})", "interaction", OWNER)
        body += f"bot.tree.add_command(on_{command.name})\n"
    return code.of_functions(BOT + body)


def _in_function(part: Part) -> dict[str, str]:
    """Return commands that a function declares on a bot that it gets."""
    code = Code(part, DISCORD)
    shape = "@it.command(name={name}, help={text})"
    text = "".join(_function(code, each, shape, "ctx", OWNER) for each in part.commands)
    lines = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    return code.of_functions(f"def register(it):\n{lines}")


def _applied(part: Part) -> dict[str, str]:
    """Return commands of a class, whose decorators are called as functions."""
    code = Code(part, DISCORD)
    start, methods = "", ""
    for command in part.commands:
        name, text = code.name_of(command), code.text_of(command)
        start += (
            f"        bot.tree.command(name={name}, description={text})(self.on_{command.name})\n"
        )
        methods += f"    async def on_{command.name}({_parameters(command, 'self, it')}): ...\n"
    body = f"class {code.class_name}:\n    def __init__(self, bot: commands.Bot):\n{start}{methods}"
    return code.of_functions(body)


def _own_filter(part: Part) -> dict[str, str]:
    """Return commands of Pyrogram by a filter of the bot's own."""
    code = Code(part, "from pyrogram import Client, filters\n")
    own = "def cmd(name):\n    return filters.command(name, ['!']) & ~filters.edited\n"
    its = code.from_base("cmd", own)
    body = "app = Client('a')\n"
    for command in part.commands:
        body += f"@app.on_message({its}({code.name_of(command)}))\n"
        body += f"async def on_{command.name}(client, message):\n    {command.description!r}\n\n"
    return code.of_functions(body)


def _menu(part: Part, lines: Callable[[Sequence[str]], str], before: str = "") -> dict[str, str]:
    code = Code(part, "from telegram import BotCommand\nfrom telegram.ext import CommandHandler\n")
    pairs = [f"BotCommand({code.name_of(each)}, {code.text_of(each)})" for each in part.commands]
    handlers = "".join(
        f"    app.add_handler(CommandHandler({code.name_of(each)}, on_{each.name}))\n"
        for each in part.commands
    )
    functions = "".join(
        f"async def on_{each.name}(update, context): ...\n" for each in part.commands
    )
    body = f"{before}{functions}\nasync def init(app):\n{lines(pairs)}"
    return code.of_functions(
        f"{body}    await app.bot.set_my_commands(menu)\n\ndef run(app):\n{handlers}"
    )


def _whole(pairs: Sequence[str]) -> str:
    return f"    menu = [{', '.join(pairs)}]\n"


def _appended(pairs: Sequence[str]) -> str:
    more = "".join(f"    if app.more:\n        menu.append({pair})\n" for pair in pairs[1:])
    return f"    menu = [{pairs[0]}]\n{more}"


def _extended(pairs: Sequence[str]) -> str:
    first, more = pairs[0], ", ".join(pairs[1:])
    return f"    menu = []\n    menu.extend([{first}])\n    menu += [{more}]\n"


def _inserted(pairs: Sequence[str]) -> str:
    more = "".join(f"    menu.insert({index}, {pair})\n" for index, pair in enumerate(pairs))
    return f"    menu = []\n{more}"


def _concatenated(pairs: Sequence[str]) -> str:
    return f"    first = [{pairs[0]}]\n    menu = first + [{', '.join(pairs[1:])}]\n"


def _returned(part: Part) -> dict[str, str]:
    """Return a menu that a function makes."""
    code = Code(part, "from telegram import BotCommand\n")
    pairs = [f"BotCommand({code.name_of(each)}, {code.text_of(each)})" for each in part.commands]
    rest = "".join(f"    made.append({pair})\n" for pair in pairs[1:])
    own = f"def menu():\n    made = [{pairs[0]}]\n{rest}    return made\n"
    return code.of_functions(
        f"{own}\nasync def init(app):\n    await app.bot.set_my_commands(menu())\n"
    )


def _telegram_form(name: str, start: str, before: str, decorator: str, first: str) -> Form:
    def write(part: Part) -> dict[str, str]:
        code = Code(part, start)
        body = ""
        for command in part.commands:
            line = decorator.format(name=code.name_of(command))
            body += (
                f"{line}\nasync def on_{command.name}({first}):\n    {command.description!r}\n\n"
            )
        return code.of_functions(f"{before}\n{body}")

    return Form(
        name, write, _slash, varies=frozenset({"names"}), has_options=False, has_owner=False
    )


def _menu_form(name: str, lines: Callable[[Sequence[str]], str]) -> Form:
    def write(part: Part) -> dict[str, str]:
        return _menu(part, lines)

    return Form(name, write, _slash, varies=_OPTIONS, has_options=False, has_owner=False)


BOT = "bot = commands.Bot('!', intents=None)\n"
TREE = "client = discord.Client()\ntree = app_commands.CommandTree(client)\n"
NEXTCORD = "import nextcord\nfrom nextcord.ext import commands\n"
DISNAKE = "import disnake\nfrom disnake.ext import commands\n"
PYCORD = "import discord\nfrom discord.ext import commands\n"
REDBOT = "from redbot.core import commands\n"
AIOGRAM = "from aiogram import Router, F\nfrom aiogram.filters import Command\n"
_NAMED = "(name={name}, description={text})"

FORMS: tuple[Form, ...] = (
    _class_form(
        *("a prefix command of a cog", DISCORD, "commands.Cog"),
        *("@commands.command(name={name}, help={text})", "self, ctx", _prefix),
    ),
    _class_form(
        *("a slash command of a cog", DISCORD, "commands.Cog"),
        *(f"@app_commands.command{_NAMED}", "self, interaction", _slash),
    ),
    _class_form(
        *("a hybrid command of a cog", DISCORD, "commands.Cog"),
        *(f"@commands.hybrid_command{_NAMED}", "self, ctx", _slash),
    ),
    _class_form(
        *("a slash command of Pycord", PYCORD, "discord.Cog"),
        *(f"@discord.slash_command{_NAMED}", "self, ctx", _slash),
    ),
    _class_form(
        *("a slash command of nextcord", NEXTCORD, "commands.Cog"),
        *(f"@nextcord.slash_command{_NAMED}", "self, interaction", _slash),
    ),
    _class_form(
        *("a slash command of disnake", DISNAKE, "commands.Cog"),
        *(f"@commands.slash_command{_NAMED}", "self, inter", _slash),
    ),
    _class_form(
        *("a command of Red", REDBOT, "commands.Cog"),
        *("@commands.command(name={name}, help={text})", "self, ctx", _prefix),
    ),
    _function_form(
        *("a prefix command of a bot", DISCORD, BOT),
        *("@bot.command(name={name}, help={text})", "ctx", _prefix),
    ),
    _function_form(
        *("a slash command of a tree", DISCORD, BOT),
        *(f"@bot.tree.command{_NAMED}", "whatever", _slash),
    ),
    _function_form(
        *("a slash command of a tree of its own", DISCORD, TREE),
        *(f"@tree.command{_NAMED}", "ctx", _slash),
    ),
    _function_form(
        *("a command of Pycord's bot", PYCORD, "bot = discord.Bot()\n"),
        *(f"@bot.command{_NAMED}", "ctx", _slash),
    ),
    _function_form(
        *("a slash command of nextcord's bot", NEXTCORD, "bot = commands.Bot()\n"),
        *(f"@bot.slash_command{_NAMED}", "interaction", _slash),
    ),
    _function_form(
        *("a slash command of disnake's bot", DISNAKE, "bot = commands.InteractionBot()\n"),
        *(f"@bot.slash_command{_NAMED}", "inter", _slash),
    ),
    Form("a group", _group, _group_syntax, _group_name, _OPTIONS),
    Form("a cog that is a group", _group_cog, _group_syntax, _group_name, _WITH_BASE),
    Form("a group of Pycord", _pycord_group, _group_syntax, _group_name, _OPTIONS),
    Form(
        "a command that is added to a group", _joined_group, _group_syntax, _group_name, _WITH_BASE
    ),
    Form(
        "a command that joins a group by its name",
        _joins_by_name,
        _group_syntax,
        _group_name,
        _OPTIONS,
    ),
    Form(
        "a command of a group",
        _sub_commands(
            DISCORD,
            "group = app_commands.Group(name='{name}', description='G.')\n",
            f"@GROUP.command{_NAMED}",
            "interaction",
        ),
        *(_group_syntax, _group_name, _WITH_BASE),
    ),
    Form(
        "a sub-command of nextcord",
        _sub_commands(
            NEXTCORD,
            "@nextcord.slash_command(name='{name}')\nasync def group(interaction): ...\n",
            f"@GROUP.subcommand{_NAMED}",
            "interaction",
        ),
        *(_group_syntax, _group_name, _WITH_BASE),
    ),
    Form(
        "a sub-command of disnake",
        _sub_commands(
            DISNAKE,
            "@commands.slash_command(name='{name}')\nasync def group(inter): ...\n",
            f"@GROUP.sub_command{_NAMED}",
            "inter",
        ),
        *(_group_syntax, _group_name, _WITH_BASE),
    ),
    Form(
        "a command that a loop adds to a group",
        _loose,
        _slash,
        full_name=lambda _, command: f"admin {command.name}",
        varies=_OPTIONS,
        has_owner=False,
        extra={f"{SOURCE}/main.py": f"import importlib\n{DISCORD}{BOT}{_LOOP}"},
        beside=frozenset({"other"}),
        is_read=False,
    ),
    Form("a cog with a base of its own", _above_it, _prefix, varies=_WITH_BASE),
    Form("a command with a decorator of the bot's own", _with_decorator, _slash, varies=_WITH_BASE),
    Form("a command with flags", _with_flags, _slash, varies=_WITH_BASE),
    Form("a command with a spread", _spread, _slash, varies=frozenset({"base"})),
    Form("a command of a function", _in_function, _prefix, varies=_OPTIONS),
    Form(
        "a menu that a function makes",
        _returned,
        _slash,
        varies=_OPTIONS,
        has_options=False,
        has_owner=False,
    ),
    Form("a decorator of the bot's own", _wrapped, _slash, varies=_WITH_BASE),
    _menu_form("a menu of Telegram", _whole),
    _menu_form("a menu that grows by append", _appended),
    _menu_form("a menu that grows by extend", _extended),
    _menu_form("a menu that grows by insert", _inserted),
    _menu_form("a menu that is a sum", _concatenated),
    _telegram_form(
        *("aiogram", AIOGRAM, "router = Router()\n"),
        *("@router.message(Command({name}))", "message"),
    ),
    _telegram_form(
        *("aiogram by text", AIOGRAM, "router = Router()\n"),
        *("@router.message(F.text == '/' + {name})", "message"),
    ),
    _telegram_form(
        *("telebot", "import telebot\n", "bot = telebot.TeleBot('')\n"),
        *("@bot.message_handler(commands=[{name}])", "message"),
    ),
    _telegram_form(
        *("Telethon", "from telethon import TelegramClient, events\n"),
        "client = TelegramClient('a', 1, 'b')\n",
        *("@client.on(events.NewMessage(pattern='/' + {name}))", "event"),
    ),
    _telegram_form(
        *("Pyrogram", "from pyrogram import Client, filters\n", "app = Client('a')\n"),
        *("@app.on_message(filters.command({name}))", "client, message"),
    ),
    Form(
        "a filter of the bot's own",
        _own_filter,
        lambda _, command: f"!{command.name}",
        varies=frozenset({"names", "base"}),
        has_options=False,
        has_owner=False,
    ),
)
