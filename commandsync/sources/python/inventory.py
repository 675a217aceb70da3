"""Everything that the files of a bot declare, and what their code does with it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from commandsync.diagnostics import Notice
from commandsync.sources.python.lineage import Kind, lineage
from commandsync.sources.python.names import Definition
from commandsync.sources.python.scope import last_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from commandsync.sources.python.declaration import Declaration
    from commandsync.sources.python.declarations import Declarations
    from commandsync.sources.python.names import Names
    from commandsync.sources.python.scope import Outline, Scope

_BY_HAND = "declare it with a decorator in the code, or by hand in the manifest"
_GUILDS = {"guild", "guilds"}


class Inventory:
    """The declarations of all files.

    Attributes:
        declared: Each command and each group, in the order of the files.
        instances: The groups of each class of slash commands: its instances, or the class itself.
        guild_cogs: The cogs whose slash commands only certain servers have.
        notes: What is registered, and cannot be read.
    """

    def __init__(
        self, outlines: Iterable[Outline], declarations: Declarations, names: Names
    ) -> None:
        self._declarations = declarations
        self._names = names
        self.notes: list[Notice] = []
        self.guild_cogs: set[ast.AST] = set()
        found = (item for read_file in outlines for item in self._declared(read_file))
        self.declared = list(dict.fromkeys(found))
        self.instances: dict[ast.ClassDef, list[Declaration]] = {}
        for declaration in self.declared:
            if declaration.instance_of is not None:
                self.instances.setdefault(declaration.instance_of, []).append(declaration)
        for read_file in outlines:
            for node, inside in read_file.classes.items():
                definition = Definition(node, inside.parent or inside)
                if node not in self.instances and lineage(definition, names).kind is Kind.GROUP:
                    self.instances[node] = [declarations.of_class(node, definition.scope)]

    def _declared(self, read_file: Outline) -> Iterator[Declaration]:
        for function, scope in read_file.functions:
            declaration = self._declarations.of_function(function, scope)
            if declaration is not None:
                yield declaration
            elif self._declarations.may_declare(function, scope):
                message = f"cannot tell whether {function.name!r} is a command"
                self.notes.append(Notice(message, _BY_HAND, scope.file.place(function)))
        for call, scope in read_file.created:
            yield from filter(None, [self._declarations.of_call(call, scope)])
        for call, scope in read_file.registered:
            match last_name(call.func):
                case "ContextMenu":
                    yield from filter(None, [self._declarations.of_call(call, scope)])
                case "add_cog":
                    self._add_cog(call, scope)
                case _:
                    yield from self._add_command(call, scope)

    def _add_command(self, call: ast.Call, scope: Scope) -> Iterator[Declaration]:
        """Yield what a call registers, with what it says of it; a note if that cannot be told."""
        for argument in call.args[:1]:
            declaration = self._declarations.of(argument, scope)
            if declaration is None:
                if scope.file.frameworks:
                    message = "what is registered here is computed at run time"
                    self.notes.append(Notice(message, _BY_HAND, scope.file.place(call)))
                continue
            declaration.given = declaration.given | _guilds(call)
            if isinstance(call.func, ast.Attribute) and declaration.parent is None:
                declaration.parent = self._declarations.of(call.func.value, scope)
            yield declaration

    def _add_cog(self, call: ast.Call, scope: Scope) -> None:
        match call.args[:1]:
            case [ast.Call(func=function)] if _guilds(call):
                cog = self._names.meaning(function, scope)
                if isinstance(cog, Definition):
                    self.guild_cogs.add(cog.node)
            case _:
                pass


def _guilds(call: ast.Call) -> dict[str, ast.expr]:
    """Return the argument of a call that names certain servers."""
    return {
        keyword.arg: keyword.value
        for keyword in call.keywords
        if keyword.arg in _GUILDS and keyword.arg
    }
