"""Commands from a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
python-telegram-bot, aiogram, telebot and Pyrogram: the handlers of commands, and the menu.

Each file that may declare commands is parsed and visited once for its names and its possible
declarations (`scope`). `meaning` follows names between the files and evaluates literals,
`cog` reads classes and traits. The `Inventory` holds the declarations by decorators and
calls (`declarations`); `entries` makes the commands of it. `parameter` reads the arguments that
users give, each with its `annotation`.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from sys import maxsize

from commandsync.diagnostics import Notice
from commandsync.sources.entry import SourceReading
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.declarations import Declaration, Declarations
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.scope import Outline, Scope, callee, keywords, last_name, words
from commandsync.sources.python.telegram import FRAMEWORKS as OF_TELEGRAM
from commandsync.sources.python.telegram import Telegram
from commandsync.sources.sourcefile import (
    PYTHON,
    code_files,
    code_reading,
    declaring,
    without_collector,
)

_DECLARING = re.compile(rb"[cC]ommand|group|context_menu|Cog|ContextMenu")
_SHAPE = re.compile(
    rb"@[\w.]*(command|group|menu|message)|CommandHandler|BotCommand", re.IGNORECASE
)


@without_collector()
def read(path: str, inside: Sequence[Path] | None = None) -> SourceReading:
    """Read the commands that a Python file, or the Python files of a folder, declare.

    `inside` are the files of the folder that count; by default all without those in hidden folders,
    `tests` and installed packages. The notes name the parts that cannot be read without running the
    code: a name that is computed, a file that is not valid Python. The key of a command is the
    names of its class and function, if no other one has the same. Raises `FileError` if the path
    cannot be read.
    """
    root = Path(path)
    files = list(code_files(root, inside, PYTHON, {"tests"}))
    code = Code(files)
    wanted = declaring(files, root.as_posix(), lambda _, data: _DECLARING.search(data))
    read_files = [code.outline(file) for file in wanted]
    outlines = [content for content in read_files if isinstance(content, Outline)]
    problems = {content for content in read_files if isinstance(content, Notice)}
    problems.update(note for outline in outlines for note in outline.scope.file.problems)
    inventory = Inventory(outlines, code)
    entries = Entries(
        inventory.declared,
        inventory.groups_of,
        inventory.guild_cogs,
        Cogs(outlines, code),
        code,
    )
    made = [entry for declaration in inventory.declared for entry in entries.of(declaration)]
    return code_reading(
        root,
        files,
        entries=made,
        menus=Telegram(code, outlines).menus,
        unread=code.unread,
        notes=code.notes,
        problems=problems,
        shape=_SHAPE,
        frameworks=inventory.frameworks,
    )


_ADDING = {"add_command", "add_application_command"}  # not of Telegram's frameworks
_GUILDS = {"guild", "guilds"}
_READ = {"discord", "disnake", "nextcord", "redbot"}
_UNREAD = {
    *("arc", "crescent", "hikari", "interactions", "lightbulb", "tanjun", "dis_snek", "naff"),
    *("telethon", "twitchio", "guilded", "nonebot"),
}
_FRAMEWORKS = _READ | _UNREAD | OF_TELEGRAM
_DECLARES = re.compile("command|slash|menu", re.IGNORECASE)


class Inventory:
    """The declarations of all files."""

    def __init__(self, outlines: Iterable[Outline], code: Code) -> None:
        self._declarations = Declarations(code)
        self._code = code
        self.guild_cogs: set[ast.AST] = set()  # with slash commands that only certain servers have
        self.frameworks: set[str] = set()
        items = (item for read_file in outlines for item in self._declared(read_file))
        self.declared = list(dict.fromkeys(items))
        self._instances: dict[ast.ClassDef | None, list[Declaration]] = {}
        for declaration in self.declared:
            self._instances.setdefault(declaration.instance_of, []).append(declaration)

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
            if any(map(_DECLARES.search, map(_spelled, function.decorator_list))):
                name = next(filter(None, map(_literal_name, function.decorator_list)), "")
                self._code.skip(reason, function, scope, name)
        for node, scope in read_file.classes.items():
            if any(map(_DECLARES.search, map(words, node.bases))):
                written = keywords(node).get("name", ast.Constant(None))
                self._code.skip(reason, node, scope, self._code.text(written, scope) or "")

    def _declared_in(self, read_file: Outline) -> Iterator[Declaration]:
        for function, scope in read_file.functions:
            declaration = self._declarations.of_function(function, scope)
            if declaration is not None:
                yield declaration
            elif self._declarations.may_declare(function, scope):
                message = f"cannot tell whether {function.name!r} is a command"
                self._code.skip(message, function, scope, function.name)
        for call, scope in [*read_file.created, *read_file.registered]:
            yield from filter(None, [self._declarations.of_call(call, scope)])
        for call, scope in read_file.registered:
            for argument in call.args[:1]:
                yield from self._registered(call, argument, scope)

    def _registered(
        self, call: ast.Call, argument: ast.expr, scope: Scope
    ) -> Iterator[Declaration]:
        """Yield the command that a call registers, with its servers; a note if it is unknown."""
        guilds = {key: value for key, value in keywords(call).items() if key in _GUILDS}
        if last_name(call.func) == "add_cog" and guilds:
            meaning = self._code.meaning(callee(argument), scope)
            self.guild_cogs |= {meaning.node} if isinstance(meaning, Definition) else set()
        elif last_name(call.func) in _ADDING:
            declaration = self._declarations.of(argument, scope)
            if declaration is not None:
                declaration.given = declaration.given | guilds
                if isinstance(call.func, ast.Attribute) and declaration.parent is None:
                    declaration.parent = self._declarations.of(call.func.value, scope)
                yield declaration
            elif scope.file.frameworks:
                self._code.skip("the command registered here is computed at run time", call, scope)


def _spelled(decorator: ast.expr) -> str:
    """Return the names and texts of a decorator, those of its arguments included."""
    named = (part.arg or "" for part in ast.walk(decorator) if isinstance(part, ast.keyword))
    return " ".join([words(decorator), *named])


def _literal_name(decorator: ast.expr) -> str:
    """Return the first text that a decorator is given, or its `name`; empty without one."""
    for call in (part for part in ast.walk(decorator) if isinstance(part, ast.Call)):
        for value in [*filter(None, [keywords(call).get("name")]), *call.args[:1]]:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""
