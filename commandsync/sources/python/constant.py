"""The value of an expression, if the code states it: a literal, or names and sums of literals."""

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from commandsync.diagnostics import Notice
from commandsync.sources.code import BY_HAND
from commandsync.sources.python.names import Definition, Names
from commandsync.sources.python.scope import Scope, last_name

Value: TypeAlias = Any
"""Of whatever type the literal has."""

_TEXTS: dict[str, Callable[[str], str]] = {  # functions that return the text they are given
    **dict.fromkeys(("_", "_T", "gettext", "locale_str", "Localized", "Localised"), str),
    "cleandoc": inspect.cleandoc,
    "dedent": textwrap.dedent,
}
_MOST_STEPS = 50
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
    """What names mean, and what expressions are; what only a run can tell is in the notes.

    Each expression is evaluated once.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__(paths)
        self.notes: list[Notice] = []
        self._known: dict[ast.AST, Value] = {}
        self._steps = 0

    def note(self, message: str, node: ast.AST, scope: Scope, hint: str = BY_HAND) -> None:
        """Remember what cannot be read, with its place."""
        self.notes.append(Notice(message, hint, scope.file.place(node)))

    def value(self, expression: ast.AST, scope: Scope) -> Value:
        """Return the value of an expression; `UNKNOWN` if the code does not state it."""
        if expression in self._known or self._steps > _MOST_STEPS:
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

    def _evaluated(self, expression: ast.AST, scope: Scope) -> Value:
        match expression:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._named(expression, scope)
            case ast.List(elts=parts):
                return self._parts(parts, scope)
            case ast.Tuple(elts=parts):
                values = self._parts(parts, scope)
                return tuple(values) if isinstance(values, list) else UNKNOWN
            case ast.Call(func=function) if last_name(function) in _TEXTS:
                named = [part.value for part in expression.keywords if part.arg == "string"]
                given = [*expression.args, *named, ast.Constant(None)]
                text = self.text(given[0], scope)
                return UNKNOWN if text is None else _TEXTS[last_name(function)](text)
            case _:
                return self._computed(expression, scope)

    def _named(self, name: ast.expr, scope: Scope) -> Value:
        meaning = self.meaning(name, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.expr):
            return self.value(meaning.node, meaning.scope)
        return UNKNOWN

    def _parts(self, parts: list[ast.expr], scope: Scope) -> Value:
        values = [self.value(part, scope) for part in parts[:_MOST_PARTS]]
        simple = all(isinstance(value, (str, int, float, type(None))) for value in values)
        return values if simple and len(parts) <= _MOST_PARTS else UNKNOWN

    def _computed(self, expression: ast.AST, scope: Scope) -> Value:
        match expression:
            case ast.Dict(keys=keys, values=values) if None not in keys:  # for `**`
                parts = self._parts([*filter(None, keys)], scope), self._parts(values, scope)
                return UNKNOWN if UNKNOWN in parts else dict(zip(*parts, strict=True))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand, scope)
                return -value if _is_number(value) else UNKNOWN
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _sum(self.value(left, scope), self.value(right, scope), op)
            case ast.JoinedStr(values=parts):
                return self._joined(parts, scope)
            case _:
                return UNKNOWN

    def _joined(self, parts: list[ast.expr], scope: Scope) -> Value:
        texts = [self._formatted(part, scope) for part in parts]
        known = [text for text in texts if isinstance(text, str)]
        whole = len(known) == len(texts) and sum(map(len, known)) <= _LONGEST
        return "".join(known) if whole else UNKNOWN

    def _formatted(self, part: ast.AST, scope: Scope) -> Value:
        """Return a part of an f-string; of what is formatted, only texts and integers."""
        match part:
            case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
                value = self.value(inner, scope)
                return str(value) if isinstance(value, str) or _is_number(value) else UNKNOWN
            case _:
                return self.value(part, scope)


def _sum(left: Value, right: Value, op: ast.operator) -> Value:
    if isinstance(left, str) and isinstance(right, str) and isinstance(op, ast.Add):
        return left + right if len(left) + len(right) <= _LONGEST else UNKNOWN
    if _is_number(left) and _is_number(right):
        return _OPERATORS[type(op)](left, right)
    return UNKNOWN


def _is_number(value: Value) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and abs(value) < _LARGEST
