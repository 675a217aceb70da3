"""The meaning of names in a bot's code, and the values of its expressions.

A name leads over imports and aliases to something of a framework, or to a definition in the bot's
own files, whose modules are read when a name first needs them (`Names`). The value of an
expression is known if the code states it: a literal, or names and sums of literals (`Code`).
"""

import ast
import builtins
import inspect
import operator
import re
import sys
import textwrap
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from math import inf
from os.path import commonprefix
from typing import Any, Final, TypeAlias

from commandsync.diagnostics import Notice
from commandsync.sources.entry import PartlyRead, UnreadPart
from commandsync.sources.python.parsedfile import parse
from commandsync.sources.python.scope import (
    Binding,
    Function,
    Grown,
    Outline,
    Scope,
    keywords,
    last_name,
    parameters,
)
from commandsync.sources.sourcefile import BY_HAND, parsed

_FRAMEWORKS = {"discord", "disnake", "nextcord"}  # py-cord is imported as `discord`
_REEXPORTS = {"redbot.core.commands": "discord.ext.commands"}
_KNOWN = sys.stdlib_module_names | {"redbot", "typing_extensions"}
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
    """The modules of a bot, each read when it is first needed, and the meaning of names in them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.classes: dict[ast.AST, Scope] = {}  # of the files that were read, with their scopes
        self.functions: dict[ast.AST, Scope] = {}  # that were visited, with their own scopes
        self._parsed: dict[str, Outline | Notice] = {}
        self._meanings: dict[ast.AST, Meaning] = {}
        self._endings: dict[Module, list[str]] = {}
        for path in paths:
            module = _module_name(path)
            for start in range(len(module)):
                self._endings.setdefault(module[start:], []).append(path)

    def outline(self, path: str, data: bytes | None = None) -> Outline | Notice:
        """Return the outline of a file, or the reason why it cannot be read.

        `data` is its content, if that is known.
        """
        if path not in self._parsed:
            file = parsed(path, parse, data)
            read = file if isinstance(file, Notice) else Outline(Scope(file, _module_name(path)))
            if isinstance(read, Outline):
                self.classes.update(read.classes.items())
                self.functions |= read.scopes
            self._parsed[path] = read
        return self._parsed[path]

    def meaning(self, expression: ast.AST, scope: Scope, steps: int = 0) -> Meaning:
        """Return the meaning of an expression; a `Definition` of itself if it is not a name."""
        if steps:
            return self._meaning(expression, scope, steps)
        if expression not in self._meanings:
            self._meanings[expression] = self._meaning(expression, scope, 0)
        return self._meanings[expression]

    def _meaning(self, expression: ast.AST, scope: Scope, steps: int) -> Meaning:
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
        if isinstance(binding, ast.AST):
            return Definition(binding, scope)
        return binding if isinstance(binding, Definition) else None

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
        if module not in self._endings:
            return None
        shared = {
            path: commonprefix([_module_name(path), near])  # noqa: RUF071 - of their parts
            for path in self._endings[module]
        }
        return max(shared, key=lambda path: len(shared[path]))

    def _member(self, base: Meaning, name: str, steps: int) -> Meaning:
        if steps > _MOST_STEPS:
            return None
        if isinstance(base, str):
            path = self._path(tuple(f"{base}.{name}".split(".")), ())
            return self._module(path) if path else f"{base}.{name}"
        if isinstance(base, Outline):
            scope = base.scope
            if name in scope.bindings:
                return self._binding(scope.bound(name), scope, steps)
            path = self._path((*scope.module, name), scope.module)
            return self._module(path) if path else self._wildcard(name, scope, steps + _WILDCARD)
        inside = self.classes.get(base.node) if base is not None else None
        if inside is None:
            return None
        bound = inside.bound(name) if name in inside.bindings else inside.attributes.get(name)
        return self._binding(bound, inside, steps)

    def _module(self, path: str) -> Outline | None:
        module = self.outline(path)
        return module if isinstance(module, Outline) else None


def is_known(name: str) -> bool:
    """Whether a full name that is imported from elsewhere is one of Python, or of a framework."""
    return bool(in_framework(name)) or name.partition(".")[0] in _KNOWN


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


Value: TypeAlias = Any
"""Of whatever type the literal has."""

_TEXTS: dict[str, Callable[[str], str]] = {  # functions that return the text they are given
    **dict.fromkeys(("_", "_T", "gettext", "locale_str", "Localized", "Localised"), str),
    "cleandoc": inspect.cleandoc,
    "dedent": textwrap.dedent,
}
_KEY = re.compile(r"[\w-]+([.:][\w-]+)+")  # of a table of texts, such as `commands.ban.about`
_MOST_LEVELS = 50
_MOST_PARTS = 100
_LONGEST = 10_000  # characters
_LARGEST = 10**15
_OPERATORS: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


UNKNOWN: Final = object()
"""The value of an expression that only a run of the code can tell."""


class Code(Names):
    """Names, and the values of expressions; the notes have expressions that only a run can tell.

    Each expression is evaluated once.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__(paths)
        self.notes: list[Notice] = []
        self.unread: list[UnreadPart] = []
        self.partly: list[PartlyRead] = []
        self._known: dict[ast.AST, Value] = {}
        self._steps = 0

    def note(self, message: str, node: ast.AST, scope: Scope, hint: str = BY_HAND) -> None:
        """Remember a part that cannot be read, with its place."""
        self.notes.append(Notice(message, hint, scope.file.place(node)))

    def skip(
        self, reason: str, node: ast.AST, scope: Scope, name: str = "", *, is_guessed: bool = False
    ) -> None:
        """Remember a declaration that is not read, with its place; its name may be a guess."""
        self.unread.append(UnreadPart(scope.file.place(node), reason, name, is_guessed))

    def mark(self, reason: str, node: ast.AST, scope: Scope, name: str = "") -> None:
        """Remember what is not followed: of the command with this name, else of the whole file."""
        self.partly.append(PartlyRead(scope.file.place(node), reason, name))

    def returned(self, call: ast.AST, scope: Scope) -> Definition | None:
        """Return the result of a function of the bot, if that is one expression.

        In it, the parameters have the values that the call gives them.
        """
        call = call.value if isinstance(call, ast.Await) else call
        meaning = self.meaning(call.func, scope) if isinstance(call, ast.Call) else None
        if not (isinstance(meaning, Definition) and isinstance(meaning.node, Function)):
            return None
        returns = [part.value for part in meaning.node.body if isinstance(part, ast.Return)]
        if len(returns) != 1 or returns[0] is None:
            return None
        turn = self.turn(call if isinstance(call, ast.Call) else None, scope, meaning)
        return Definition(self.filled(returns[0], turn), turn)

    def turn(self, call: ast.Call | None, scope: Scope, function: Definition) -> Scope:
        """Return the scope of a function in which its parameters have the values of a call."""
        node = function.node
        around = self.functions.get(node) or Scope(
            function.scope.file, function.scope.module, parent=function.scope
        )
        turn = Scope(around.file, around.module, around.node, around)
        positional: list[ast.expr] = []
        named: dict[str, ast.expr] = {}
        if call:
            positional = [self._passed(part, scope, turn) for part in call.args]
            named = {key: self._passed(part, scope, turn) for key, part in keywords(call).items()}
        if not isinstance(node, Function):
            return turn  # pragma: no cover - the callers pass functions
        arguments = node.args
        for parameter, default in parameters(arguments).items():
            made: ast.AST | None = named.pop(parameter.arg, default)
            if parameter is arguments.vararg:
                made, positional = ast.Tuple(positional, ast.Load()), []
            elif parameter is arguments.kwarg:
                made = ast.Dict([*map(ast.Constant, named)], [*named.values()])
            elif positional and parameter not in arguments.kwonlyargs:
                made = positional.pop(0)
            turn.bind(parameter.arg, 0, made)
        return turn

    def _passed(self, part: ast.expr, scope: Scope, turn: Scope) -> ast.expr:
        """Return an expression that means in a turn what an argument means where it is written."""
        value, meaning = self.value(part, scope), self.meaning(part, scope)
        if value is not UNKNOWN:
            return ast.copy_location(ast.Constant(value), part)
        name = f"*{len(turn.bindings)}"
        turn.bind(name, 0, None if isinstance(meaning, Outline) else meaning)
        return ast.copy_location(ast.Name(name, ast.Load()), part)

    def filled(self, expression: ast.expr, scope: Scope) -> ast.expr:
        """Return a copy of an expression, whose calls have no `*` and `**` that can be followed."""
        try:
            copy = deepcopy(expression)
        except RecursionError:
            return expression
        for call in (part for part in ast.walk(copy) if isinstance(part, ast.Call)):
            args: list[ast.expr] = []
            for part in call.args:
                meaning = self.meaning(part.value, scope) if isinstance(part, ast.Starred) else None
                node = meaning.node if isinstance(meaning, Definition) else part
                args += getattr(node, "elts", [part]) if node is not part else [part]
            call.args = args
            call.keywords = [each for part in call.keywords for each in self.named(part, scope)]
        return copy

    def named(self, part: ast.keyword, scope: Scope) -> list[ast.keyword]:
        """Return the arguments that `**` of an object with literal keys means; else the part."""
        meaning = None if part.arg else self.meaning(part.value, scope)
        known = meaning if isinstance(meaning, Definition) else Definition(part, scope)
        node = known.node
        if not isinstance(node, ast.Dict) or None in node.keys:
            return [part]
        keys = [self.text(key, known.scope) for key in node.keys if key]
        if None in keys:
            return [part]
        pairs = zip(keys, node.values, strict=True)
        return [ast.copy_location(ast.keyword(key, value), part.value) for key, value in pairs]

    def value(self, expression: ast.AST, scope: Scope) -> Value:
        """Return the value of an expression; `UNKNOWN` if the code does not state it."""
        if expression in self._known or self._steps > _MOST_LEVELS:
            return self._known.get(expression, UNKNOWN)
        self._known[expression] = UNKNOWN  # for a name that is defined by itself
        self._steps += 1
        self._known[expression] = self._evaluated(expression, scope)
        self._steps -= 1
        return self._known[expression]

    def text(self, expression: ast.AST, scope: Scope) -> str | None:
        """Return the value of an expression if it is a string, else None."""
        value = self.value(expression, scope)
        return value if isinstance(value, str) else None

    def _evaluated(  # noqa: PLR0911 - one for each kind of expression
        self, expression: ast.AST, scope: Scope
    ) -> Value:
        match expression:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                meaning = self.meaning(expression, scope)
                if isinstance(meaning, Definition) and isinstance(meaning.node, ast.expr):
                    return self.value(meaning.node, meaning.scope)
                return UNKNOWN
            case ast.List(elts=parts):
                return self._parts(parts, scope)
            case ast.Tuple(elts=parts):
                values = self._parts(parts, scope)
                return tuple(values) if isinstance(values, list) else UNKNOWN
            case ast.Dict(keys=keys, values=parts):
                return self._object(keys, parts, scope)
            case ast.Call():
                return self._translated(expression, scope)
            case ast.UnaryOp() | ast.BinOp():
                return self._calculated(expression, scope)
            case ast.JoinedStr(values=parts):
                return self._joined(parts, scope)
            case _:
                return UNKNOWN

    def _parts(self, parts: list[ast.expr], scope: Scope) -> Value:
        values = [self.value(part, scope) for part in parts[:_MOST_PARTS]]
        simple = all(isinstance(value, (str, int, float, type(None))) for value in values)
        return values if simple and len(parts) <= _MOST_PARTS else UNKNOWN

    def _object(self, keys: list[ast.expr | None], values: list[ast.expr], scope: Scope) -> Value:
        if None in keys:  # for `**`
            return UNKNOWN
        parts = self._parts([*filter(None, keys)], scope), self._parts(values, scope)
        return UNKNOWN if UNKNOWN in parts else dict(zip(*parts, strict=True))

    def _translated(self, call: ast.Call, scope: Scope) -> Value:
        """Return the text that a function such as `gettext` is given."""
        if (name := last_name(call.func)) not in _TEXTS:
            return UNKNOWN
        named = [part.value for part in call.keywords if part.arg == "string"]
        text = self.text([*call.args, *named, ast.Constant(None)][0], scope)
        return _TEXTS[name](text) if text is not None and not _KEY.fullmatch(text) else UNKNOWN

    def _calculated(self, expression: ast.UnaryOp | ast.BinOp, scope: Scope) -> Value:
        match expression:
            case Grown():  # perhaps only under a condition, or in a loop
                return UNKNOWN
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand, scope)
                return -value if _is_number(value) else UNKNOWN
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                first, second = self.value(left, scope), self.value(right, scope)
                if isinstance(first, str) and isinstance(second, str) and isinstance(op, ast.Add):
                    return first + second if len(first) + len(second) <= _LONGEST else UNKNOWN
                is_sum = _is_number(first) and _is_number(second)
                return _OPERATORS[type(op)](first, second) if is_sum else UNKNOWN
            case _:
                return UNKNOWN

    def _joined(self, parts: list[ast.expr], scope: Scope) -> Value:
        """Return an f-string, whose formatted values are texts and numbers."""
        texts = []
        for part in parts:
            match part:
                case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                    value = self.value(inner, scope)
                    is_known = isinstance(value, str) or _is_number(value)
                    texts.append(str(value) if is_known else UNKNOWN)
                case _:
                    texts.append(self.value(part, scope))
        known = [text for text in texts if isinstance(text, str)]
        whole = len(known) == len(texts) and sum(map(len, known)) <= _LONGEST
        return "".join(known) if whole else UNKNOWN


def _is_number(value: Value) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) < _LARGEST
