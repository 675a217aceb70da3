"""Commands from a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
python-telegram-bot, aiogram, telebot and Pyrogram: the handlers of commands, and the menu.

Each file that may declare commands is parsed (`parsedfile`) and visited once for its names and its
possible declarations (`scope`). `meaning` follows names between the files and evaluates literals,
`cog` reads classes, the bot's own decorators and traits. The `Inventory` holds the
declarations by decorators and calls (`declarations`); `entries` makes the commands of it.
`parameter` reads the arguments that users give. Of Telegram's frameworks, `telegram` reads the
handlers and the menus.

A decorator or a class is a framework's by its import, followed through the bot's files. What is not
in these files is a mark of what is read (`Code.mark`), or a command that is not read (`Code.skip`).
"""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from sys import maxsize

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import PartlyRead, SourceReading, UnreadPart
from commandsync.sources.python.cog import Cogs, lineage
from commandsync.sources.python.declarations import Declaration, Declarations, Form
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.parsedfile import Removed
from commandsync.sources.python.scope import (
    Outline,
    Scope,
    callee,
    keywords,
    last_name,
    spelled,
    words,
)
from commandsync.sources.python.telegram import FRAMEWORKS as OF_TELEGRAM
from commandsync.sources.python.telegram import Telegram
from commandsync.sources.sourcefile import (
    PYTHON,
    code_files,
    code_reading,
    declaring,
    read_bytes,
    without_collector,
)

_DECLARING = re.compile(
    rb"[cC]ommand|group|context_menu|[cC]og|ContextMenu|NewMessage|\bpattern=|F\.text"
    rb"|\.on_(edited_)?message\(|MessageHandler"
)
_MENU = re.compile(rb"BotCommand|set_my_commands|set_bot_commands")
_SHAPE = re.compile(
    rb"@[\w.]*(command|group|menu|message)|CommandHandler|BotCommand", re.IGNORECASE
)


@without_collector()
def read(path: str, inside: Sequence[Path] | None = None, *, form: str = "") -> SourceReading:
    """Read the commands that a Python file, or the Python files of a folder, declare.

    `inside` are the files of the folder that count; by default all without those in hidden folders,
    `tests` and installed packages. `form` is how users call the commands of a bot whose class is
    not in the files, `slash` or `prefix`; by default as they call the others. The notes name the
    parts that cannot be read without running the code: a name that is computed, a file that is not
    valid Python. Raises `FileError` if the path cannot be read.
    """
    root = Path(path)
    files = list(code_files(root, inside, PYTHON, {"tests"}))
    code = Code(files)
    wanted = declaring(files, root.as_posix(), lambda _, data: _DECLARING.search(data))
    read_files = [code.outline(file, data) for file, data in wanted]
    outlines = [content for content in read_files if isinstance(content, Outline)]
    problems = {content for content in read_files if isinstance(content, Notice)}
    inventory = Inventory(outlines, code, form)
    removed = [part for outline in outlines for part in outline.scope.file.removed]
    for part in removed:
        _count_removed(part, code)
    unparsed: list[Removed | Notice] = [*removed, *problems]
    may_lack_menus = any(map(_may_have_menu, unparsed))
    cogs = Cogs(outlines, code)
    entries = Entries(inventory.declared, inventory.groups_of, inventory.guild_cogs, cogs, code)
    made = [entry for declaration in inventory.declared for entry in entries.of(declaration)]
    return code_reading(
        root,
        files,
        entries=made,
        menus=Telegram(code, outlines, may_lack_menus=may_lack_menus).menus,
        unread=code.unread,
        notes=code.notes,
        problems=problems,
        partly=code.partly,
        shape=_SHAPE,
        frameworks=inventory.frameworks,
    )


def _count_removed(part: Removed, code: Code) -> None:
    """Count the commands in a part of a file that is not valid."""
    place, names = part.problem.location or Location(""), part.declared
    code.unread += [
        UnreadPart(place, part.problem.message, name, is_guessed=True) for name in names
    ]
    code.partly.append(PartlyRead(place, part.problem.message))
    code.notes += [] if names else [part.problem]


def _may_have_menu(unparsed: Removed | Notice) -> bool:
    """Whether a part of a file, or a whole one, that is not parsed may set a menu of Telegram."""
    if isinstance(unparsed, Removed):
        return unparsed.has_menu
    try:
        data = read_bytes(unparsed.location.path if unparsed.location else "")
    except FileError:
        return True
    return _MENU.search(data) is not None


_ADDING = {"add_command", "add_application_command"}  # not of Telegram's frameworks
_ADDS = re.compile(r"\badd_command\(")
_GUILDS = {"guild", "guilds"}
_READ = {"discord", "disnake", "nextcord", "redbot"}
_UNREAD = {
    *("arc", "crescent", "hikari", "interactions", "lightbulb", "tanjun", "dis_snek", "naff"),
    *("twitchio", "guilded", "nonebot", "discord_slash", "dislash"),
}
_FRAMEWORKS = _READ | _UNREAD | OF_TELEGRAM
_DECLARES = re.compile("command|slash|menu", re.IGNORECASE)


class Inventory:
    """The declarations of all files."""

    def __init__(self, outlines: Sequence[Outline], code: Code, form: str) -> None:
        self._declarations = Declarations(code)
        self._code = code
        self.guild_cogs: set[ast.AST] = set()  # with slash commands that only certain servers have
        self.frameworks: set[str] = set()
        self._added: set[ast.AST] = set()  # functions that a call adds to the bot, or to a group
        self._open_group = ""  # why a command may be in a group that gets computed commands
        items = (item for read_file in outlines for item in self._declared(read_file))
        self.declared = list(dict.fromkeys(items))
        self._instances: dict[ast.ClassDef | None, list[Declaration]] = {}
        for declaration in self.declared:
            self._instances.setdefault(declaration.instance_of, []).append(declaration)
        self._doubt_removed()
        for part in (part for outline in outlines for part in outline.scope.file.removed):
            if _ADDS.search(part.text):
                self._open_group = f"{part.problem.location} adds commands: {part.problem.message}"
        self._doubt_loose()
        self._decide_forms(form)
        self._join_groups()

    def _doubt_removed(self) -> None:
        """Read no command that a part which is not valid names: it may be in a group, or be one."""
        for declaration in self.declared:
            name = declaration.function[0].name if declaration.function else ""
            if part := declaration.scope.file.has_removed(name):
                declaration.problem = part.problem.message

    def _doubt_loose(self) -> None:
        """Read no command of a module that nothing adds, where a group gets what is computed."""
        for declaration in self.declared if self._open_group else ():
            original = (
                self._code.framework(callee(part), scope) for part, scope in declaration.decorators
            )
            is_loose = declaration.scope.node is None and declaration.node not in self._added
            if is_loose and "discord.app_commands.command" in original:
                declaration.problem = f"it may be a sub-command: {self._open_group}"

    def _decide_forms(self, form: str) -> None:
        """Decide how the commands of an unknown bot are called: as the source's others, if equal.

        By a prefix, if no other command says it: a bot of every framework has such commands.
        """
        known = {each.form for each in self.declared if not (each.unfollowed or each.problem)}
        is_slash = form == "slash" or (not form and known and known <= {Form.SLASH, Form.MENU})
        for declaration in self.declared:
            if declaration.unfollowed:
                declaration.form = Form.SLASH if is_slash else Form.PREFIX

    def _join_groups(self) -> None:
        """Put the commands into groups that name them by a literal."""
        groups = {each.name: each for each in self.declared if each.is_group and not each.parent}
        for declaration in self.declared:
            if declaration.joins:
                declaration.parent = groups.get(declaration.joins)
                if declaration.parent is None:
                    declaration.problem = f"its group {declaration.joins!r} is not in the source"

    def groups_of(self, node: ast.ClassDef, inside: Scope) -> list[Declaration]:
        """Return the groups of a class of slash commands: its instances, or the class itself."""
        whole = self._declarations.of_class(node, inside.parent or inside)
        return self._instances.get(node, [whole])

    def _declared(self, read_file: Outline) -> Iterator[Declaration]:
        """Yield the declarations of a file, unless it uses only frameworks that are not read."""
        scope = read_file.scope
        imported = {
            meaning.partition(".")[0]
            for name in scope.bindings
            if isinstance(meaning := self._code.meaning(ast.Name(name, lineno=maxsize), scope), str)
        }
        self.frameworks |= imported & _FRAMEWORKS
        unread = sorted(imported & _UNREAD)
        if unread and imported.isdisjoint(_FRAMEWORKS - _UNREAD):
            self._skip(read_file, f"the commands of {unread[0]} are not read")
        else:
            yield from self._declared_in(read_file)

    def _skip(self, read_file: Outline, reason: str) -> None:
        """Remember the commands of a framework that is not read, by their decorators or bases."""
        for function, scope in read_file.functions:
            own = [each for each in function.decorator_list if self._may_be_of(each, scope)]
            if any(map(_DECLARES.search, map(_spelled, own))):
                name = next(filter(None, map(_literal_name, own)), "")
                self._code.skip(reason, function, scope, name or function.name, is_guessed=not name)
        for node, scope in read_file.classes.items():
            bases = [each for each in node.bases if self._may_be_of(each, scope)]
            if any(map(_DECLARES.search, map(last_name, bases))):
                written = keywords(node).get("name", ast.Constant(None))
                self._code.skip(reason, node, scope, self._code.text(written, scope) or "")

    def _may_be_of(self, expression: ast.expr, scope: Scope) -> bool:
        """Whether a decorator or a base class may belong to a framework that is not read."""
        meaning = self._code.meaning(callee(expression), scope)
        return not isinstance(meaning, str) or meaning.partition(".")[0] in _UNREAD

    def _declared_in(self, read_file: Outline) -> Iterator[Declaration]:
        for function, scope in read_file.functions:
            yield from filter(None, [self._declarations.of_function(function, scope)])
        for call, scope in [*read_file.created, *read_file.registered]:
            yield from filter(None, [self._declarations.of_call(call, scope)])
        for call, scope in read_file.applied:
            yield from filter(None, [self._declarations.of_applied(call, scope)])
        for call, scope in read_file.registered:
            for argument in call.args[:1]:
                yield from self._registered(call, argument, scope)
        if read_file.scope.file.frameworks:
            for node, inside in read_file.classes.items():
                self._mark_class(node, inside.parent or inside)

    def _mark_class(self, node: ast.ClassDef, scope: Scope) -> None:
        """Mark a file with a class that may have commands from a class outside of the source."""
        for base in lineage(Definition(node, scope), self._code).unfollowed[:1]:
            reason = f"the base class `{base}` of {node.name} is not in the source"
            self._code.mark(reason, node, scope)

    def _registered(
        self, call: ast.Call, argument: ast.expr, scope: Scope
    ) -> Iterator[Declaration]:
        """Yield the command that a call registers, with its servers; a note if it is unknown."""
        guilds = {key: value for key, value in keywords(call).items() if key in _GUILDS}
        if last_name(call.func) == "add_cog":
            self._cog(argument, scope, for_guilds=bool(guilds))
        if last_name(call.func) not in _ADDING:
            return
        declaration = self._declarations.of(argument, scope)
        if declaration is not None:
            self._added.add(declaration.node)
            declaration.given = declaration.given | guilds
            if isinstance(call.func, ast.Attribute) and declaration.parent is None:
                self._declarations.add(declaration, call.func.value, scope)
            yield declaration
        elif scope.file.frameworks:
            self._registered_open(call, argument, scope)

    def _registered_open(self, call: ast.Call, argument: ast.expr, scope: Scope) -> None:
        """Count a command that only a run can tell, and remember the group that it is added to."""
        if not scope.file.has_removed(last_name(argument)):
            self._code.skip("the command registered here is computed at run time", call, scope)
        owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        if scope.file.has_removed(last_name(owner)) or self._declarations.of(owner, scope):
            place = scope.file.place(call)
            self._open_group = f"{place} adds computed commands to `{spelled(owner)}`"

    def _cog(self, argument: ast.expr, scope: Scope, *, for_guilds: bool) -> None:
        """Read a call that adds a cog."""
        meaning = self._code.meaning(callee(argument), scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.ClassDef):
            self._mark_class(meaning.node, meaning.scope)
            self.guild_cogs |= {meaning.node} if for_guilds else set()


def _spelled(decorator: ast.expr) -> str:
    """Return the names and texts of a decorator and its arguments."""
    named = (part.arg or "" for part in ast.walk(decorator) if isinstance(part, ast.keyword))
    return " ".join([words(decorator), *named])


def _literal_name(decorator: ast.expr) -> str:
    """Return the first text that a decorator is given, or its `name`; empty without one."""
    for call in (part for part in ast.walk(decorator) if isinstance(part, ast.Call)):
        for value in [*filter(None, [keywords(call).get("name")]), *call.args[:1]]:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""
