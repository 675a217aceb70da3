"""The parts of lists in code, including parts that statements add after the literal.

A menu of Telegram is a list that grows: by `append`, `extend`, `insert` and `+=`, in a function
that returns it, or in one that gets it. A part that cannot be told is the expression itself.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import chain

from commandsync.sources.python.meaning import Code, Definition, is_known
from commandsync.sources.python.scope import Change, Grown, Outline, Scope, last_name

FRAMEWORKS = frozenset({"aiogram", "hydrogram", "pyrogram", "telebot", "telegram", "telethon"})
"""The names with which code imports Telegram's frameworks."""

_COPIES = {"list", "sorted", "tuple"}
_DEEPEST = 12  # lists, one in the other
_MOST_PARTS = 100  # of a list; Telegram has as many commands of a bot

Part = tuple[ast.expr, Scope]


class ListReader:
    """Reads the lists of all files."""

    def __init__(self, code: Code, outlines: Iterable[Outline]) -> None:
        self._code = code
        self._changes: dict[ast.AST, list[Change]] = {}
        for change in (change for outline in outlines for change in outline.changes):
            node = self._literal(change)
            if isinstance(node, ast.List) and self._may_change(change):
                self._changes.setdefault(node, []).append(change)

    def parts(self, expression: ast.expr, scope: Scope, levels: int = _DEEPEST) -> Iterator[Part]:
        """Yield the parts of a list, including added ones; else the expression itself."""
        written = expression.value if isinstance(expression, ast.Starred) else expression
        known = self._meant(written, scope)
        sum_of = _sum_of(known.node) if levels else []
        if sum_of and written not in sum_of:
            yield from chain.from_iterable(
                self.parts(part, known.scope, levels - 1) for part in sum_of
            )
            return
        match known.node:
            case ast.Call(func=ast.Attribute(value=pairs, attr="items"), args=[]):
                yield from self._items(pairs, known.scope)
            case ast.Call() as call:
                yield call, known.scope
            case ast.List() | ast.Tuple() | ast.Set() if levels and _is_short(known.node):
                yield from self._members(known.node.elts, known.scope, levels)
                changes = self._changes.get(known.node, ())
                more = (self._members(each.parts, each.scope, levels) for each in changes)
                yield from chain.from_iterable(more)
            case ast.ListComp(generators=[ast.comprehension(ifs=[])]) if levels:
                yield from self._turns(known.node, known.scope, levels)
            case _:
                yield expression, scope

    def _meant(self, expression: ast.expr, scope: Scope) -> Definition:
        meaning = self._code.meaning(expression, scope)
        known = meaning if isinstance(meaning, Definition) else Definition(expression, scope)
        if isinstance(known.node, ast.Call | ast.Await):
            return self._code.returned(known.node, known.scope) or known
        return known

    def _members(self, parts: Iterable[ast.expr], scope: Scope, levels: int) -> Iterator[Part]:
        for part in parts:
            if isinstance(part, ast.Starred):
                yield from self.parts(part, scope, levels - 1)
            else:
                yield part, scope

    def _turns(self, made: ast.ListComp, scope: Scope, levels: int) -> Iterator[Part]:
        """Yield a part for each turn of a loop over a list."""
        loop = made.generators[0]
        for part, _ in self.parts(loop.iter, scope, levels - 1):
            yield deepcopy(made.elt), scope.turn(loop.target, part)

    def _items(self, pairs: ast.expr, scope: Scope) -> Iterator[Part]:
        """Yield the keys and values of an object with literal keys, each pair as a tuple."""
        meaning = self._code.meaning(pairs, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.Dict):
            keys, values = meaning.node.keys[:_MOST_PARTS], meaning.node.values
            for key, value in zip(keys, values, strict=False):
                yield ast.Tuple([part for part in (key, value) if part]), meaning.scope

    def _literal(self, change: Change) -> ast.AST | None:
        """Return the meaning of a name before anything was added to it."""
        known = self._code.meaning(change.of, change.scope)
        for _ in range(_MOST_PARTS):
            if not (isinstance(known, Definition) and isinstance(known.node, Grown)):
                break
            known = self._code.meaning(known.node.left, known.scope)
        return known.node if isinstance(known, Definition) else None

    def _may_change(self, change: Change) -> bool:
        """Whether a call is to a method of a list, or to a function that may change it."""
        if change.called is None:
            return True
        meaning = self._code.meaning(change.called, change.scope)
        if isinstance(meaning, str):
            top = meaning.partition(".")[0]
            return not (is_known(meaning) or top in FRAMEWORKS | sys.stdlib_module_names)
        return meaning is not None or not hasattr(builtins, last_name(change.called))


def _is_short(node: ast.List | ast.Tuple | ast.Set) -> bool:
    return len(node.elts) <= _MOST_PARTS


def _sum_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that are a list together; none for anything else."""
    match node:
        case ast.Name() | ast.Attribute():
            return [node]
        case ast.Call(func=ast.Name(id=name), args=[copied]) if name in _COPIES:
            return [copied]
        case ast.BinOp(left=left, op=ast.Add(), right=right) if not isinstance(
            right, ast.Constant | ast.JoinedStr
        ):
            return [left, right]
        case _:
            return []
