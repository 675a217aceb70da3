"""What a name in a bot's code means: something of a framework, or a definition in its own files."""

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from os.path import commonprefix
from typing import TypeAlias

from commandsync.diagnostics import Notice
from commandsync.sources.code import parsed
from commandsync.sources.python.parsedfile import parse
from commandsync.sources.python.scope import Binding, Outline, Scope, last_name

_FRAMEWORKS = {"discord", "disnake", "nextcord"}  # py-cord is imported as `discord`
_REEXPORTS = {"redbot.core.commands": "discord.ext.commands"}
_MOST_STEPS = 30  # from alias to alias
_WILDCARD = 10  # steps: each of them may lead to several more

Module: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Something in the bot's own files."""

    node: ast.AST  # a class, a function, a parameter of one, or the expression a name is bound to
    scope: Scope


Meaning: TypeAlias = "str | Definition | Outline | None"
"""A full name that is imported from elsewhere, a definition, a module, or unknown."""


class Names:
    """The modules of a bot, each read when it is first needed, and what the names in them mean."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.classes: dict[ast.AST, Scope] = {}  # of the files that were read, with their scopes
        self._parsed: dict[str, Outline | Notice] = {}
        self._endings: dict[Module, list[str]] = {}
        for path in paths:
            module = _module_name(path)
            for start in range(len(module)):
                self._endings.setdefault(module[start:], []).append(path)

    def outline(self, path: str) -> Outline | Notice:
        """Return what a file contains, or why it cannot be read."""
        if path not in self._parsed:
            file = parsed(path, parse)
            read = file if isinstance(file, Notice) else Outline(Scope(file, _module_name(path)))
            self.classes.update(read.classes.items() if isinstance(read, Outline) else ())
            self._parsed[path] = read
        return self._parsed[path]

    def meaning(self, expression: ast.AST, scope: Scope, steps: int = 0) -> Meaning:
        """Return what an expression means; a `Definition` of itself if it is not a name."""
        match expression:
            case _ if steps > _MOST_STEPS:
                return None
            case ast.Name(id=name, lineno=line):
                return self._name(name, scope, line, steps + 1)
            case ast.Attribute(value=value, attr=name):
                return self._member(self.meaning(value, scope, steps + 1), name, steps + 1)
            case ast.Subscript(value=value):  # a generic class, such as Cog[Bot]
                return self.meaning(value, scope, steps + 1)
            case _:
                return Definition(expression, scope)

    def framework(self, expression: ast.AST, scope: Scope) -> str:
        """Return the full name in a framework, as in discord.py; empty for anything else."""
        meaning = self.meaning(expression, scope)
        return in_framework(meaning) if isinstance(meaning, str) else ""

    def last_name(self, expression: ast.AST, scope: Scope) -> str:
        """Return the last part of a name, whatever it was imported as."""
        meaning = self.meaning(expression, scope)
        return meaning.rpartition(".")[2] if isinstance(meaning, str) else last_name(expression)

    def called(self, definition: Definition) -> str:
        """Return the last part of the name that a call calls; empty for anything else."""
        node = definition.node
        return self.last_name(node.func, definition.scope) if isinstance(node, ast.Call) else ""

    def _name(self, name: str, scope: Scope, line: int, steps: int) -> Meaning:
        around = scope
        while name not in around.bindings or (
            around is not scope and isinstance(around.node, ast.ClassDef)
        ):
            if around.parent is None:
                return self._wildcard(name, around, steps + _WILDCARD)
            around = around.parent
        binding = around.bound(name, line if around is scope else inf)
        return self._binding(binding, around, steps)

    def _binding(self, binding: Binding, scope: Scope, steps: int) -> Meaning:
        if isinstance(binding, str):
            return self._imported(binding, scope, steps)
        if isinstance(binding, (ast.Name, ast.Attribute)):
            return self.meaning(binding, scope, steps)
        return Definition(binding, scope) if binding is not None else None

    def _wildcard(self, name: str, scope: Scope, steps: int) -> Meaning:
        for source in scope.wildcards if steps <= _MOST_STEPS else ():
            meaning = self._imported(f"{source}.{name}", scope, steps)
            if meaning is not None and not isinstance(meaning, str):
                return meaning
            if in_framework(f"{source}.{name}") and not hasattr(builtins, name):
                return meaning
        return None

    def _imported(self, name: str, scope: Scope, steps: int) -> Meaning:
        parts = tuple(name.split("."))
        if parts[0] in _FRAMEWORKS:
            return name
        for end in range(len(parts), 0, -1):
            path = self._path(parts[:end], scope.module)
            if path and path != scope.file.path:
                meaning: Meaning = self._module(path)
                for part in parts[end:]:
                    meaning = self._member(meaning, part, steps + 1)
                return meaning
        return name

    def _path(self, module: Module, near: Module) -> str | None:
        """Return the file of a module: of those that end in its name, the nearest one."""
        shared = {
            path: commonprefix([_module_name(path), near])  # noqa: RUF071 - of their parts
            for path in self._endings.get(module, ())
        }
        return max(shared, key=lambda path: len(shared[path]), default=None)

    def _member(self, base: Meaning, name: str, steps: int) -> Meaning:
        if steps > _MOST_STEPS:
            return None
        if isinstance(base, str):
            path = self._path(tuple(f"{base}.{name}".split(".")), ())
            return self._module(path) if path else f"{base}.{name}"
        if isinstance(base, Outline):
            return self._in_module(base.scope, name, steps)
        inside = self.classes.get(base.node) if base is not None else None
        if inside is None:
            return None
        bound = inside.bound(name) if name in inside.bindings else inside.attributes.get(name)
        return self._binding(bound, inside, steps)

    def _in_module(self, scope: Scope, name: str, steps: int) -> Meaning:
        if name in scope.bindings:
            return self._binding(scope.bound(name), scope, steps)
        path = self._path((*scope.module, name), scope.module)
        if path is None:
            return self._wildcard(name, scope, steps + _WILDCARD)
        return self._module(path)

    def _module(self, path: str) -> Outline | None:
        module = self.outline(path)
        return module if isinstance(module, Outline) else None


def in_framework(name: str) -> str:
    """Return a full name as discord.py spells it; empty if it is of no framework."""
    for package, original in _REEXPORTS.items():
        if name.startswith(f"{package}."):
            return name.replace(package, original, 1)
    first, dot, rest = name.partition(".")
    return f"discord{dot}{rest}" if first in _FRAMEWORKS else ""


def _module_name(path: str) -> Module:
    """Return the parts of a module's name; a folder with a point in its name has several."""
    parts = path.rpartition(".")[0].replace("/", ".").split(".")
    named = tuple(part for part in parts if part)
    return named[:-1] if named[-1:] == ("__init__",) else named
