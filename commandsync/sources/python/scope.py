"""The scopes of a file: the bindings of names, and the statements that may declare commands.

The bodies of functions are dropped once they were visited: a bot's code is mostly that.
"""

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter
from typing import TypeAlias

from commandsync.sources.python.parsedfile import ParsedFile

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_REGISTERING = re.compile(
    r"add_cog|add_command|add_application_command|ContextMenu|CommandHandler|BotCommand"
    r"|set_my_commands|register"
)
_ADDING = {"add_handler", "register"}  # a handler, in the frameworks of Telegram
CREATORS = frozenset({"create_group", "create_subgroup"})
_MOST_TURNS = 25  # of a loop
_MOST_WILDCARDS = 10  # of one module; the others are ignored

_BODIES = ("body", "handlers", "cases", "orelse", "finalbody")


Binding: TypeAlias = ast.AST | str | None
"""The full name of an import, a definition, or None for a value that only a run can tell."""


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a class or a function."""

    file: ParsedFile
    module: tuple[str, ...]  # the parts of its module's name
    node: ast.ClassDef | Function | None = None  # its class or function; None for a module
    parent: "Scope | None" = None  # the scope around it; None for a module
    bindings: dict[str, list[tuple[int, Binding]]] = field(default_factory=dict)  # by line
    wildcards: list[str] = field(default_factory=list)  # the modules of `from ... import *`
    attributes: dict[str, ast.expr] = field(default_factory=dict)  # that methods set

    def bind(self, name: str, line: int, value: Binding) -> None:
        """Add a binding of a name."""
        self.bindings.setdefault(name, []).append((line, value))

    def bound(self, name: str, before: float = inf) -> Binding:
        """Return the last binding of a name above a line; the last of all if all are below."""
        bindings = self.bindings[name]
        above = bisect_left(bindings, before, key=itemgetter(0))
        return bindings[above - 1][1]  # the last one if all are below


@dataclass(eq=False)
class Outline:
    """The contents of a module."""

    scope: Scope
    functions: list[tuple[Function, Scope]] = field(default_factory=list)  # with decorators
    classes: dict[ast.ClassDef, Scope] = field(default_factory=dict)  # with their own scopes
    created: list[tuple[ast.Call, Scope]] = field(default_factory=list)  # perhaps groups
    registered: list[tuple[ast.Call, Scope]] = field(default_factory=list)  # perhaps commands

    def __post_init__(self) -> None:
        """Visit every statement of the file; no expression is evaluated."""
        self._registers = _REGISTERING.search(self.scope.file.text) is not None
        self._visit(self.scope.file.tree.body, self.scope)

    def _visit(self, body: Iterable[ast.AST], scope: Scope) -> None:
        waiting = list(body)[::-1]
        while waiting:
            statement = waiting.pop()
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(statement, scope)
                case ast.ClassDef():
                    scope.bind(statement.name, statement.lineno, statement)
                    inside = Scope(scope.file, scope.module, statement, scope)
                    self.classes[statement] = inside
                    self._visit(statement.body, inside)
                case ast.For(iter=ast.Tuple(elts=turns) | ast.List(elts=turns)) if _declares(
                    statement, scope, len(turns)
                ):
                    self._unroll(statement, turns, scope)
                case ast.Import() | ast.ImportFrom():
                    _bind_import(statement, scope)
                case _:
                    inner = [part for name in _BODIES for part in getattr(statement, name, ())]
                    self._other(statement, scope, simple=not inner)
                    waiting += inner[::-1]

    def _unroll(self, loop: ast.For, values: list[ast.expr], scope: Scope) -> None:
        for value in values:
            turn = Scope(scope.file, scope.module, scope.node, scope)
            for name, part in zip(
                _names(loop.target), getattr(value, "elts", [value]), strict=False
            ):
                turn.bind(name, loop.lineno, part)
            self._visit(deepcopy(loop.body), turn)

    def _function(self, node: Function, scope: Scope) -> None:
        scope.bind(node.name, node.lineno, node)
        if node.decorator_list:
            self.functions.append((node, scope))
        inner = Scope(scope.file, scope.module, node, scope)
        for parameter in parameters(node.args):
            inner.bind(parameter.arg, node.lineno, parameter)
        if isinstance(scope.node, ast.ClassDef) and node.args.args:  # self
            inner.bind(node.args.args[0].arg, node.lineno, scope.node)
        if scope.file.may_declare_in(node):
            self._visit(node.body, inner)
        node.body = node.body[:2]  # the docstring, and the whole of a short check

    def _other(self, statement: ast.AST, scope: Scope, *, simple: bool) -> None:
        for name, value in _assigned(statement):
            scope.bind(name, getattr(statement, "lineno", 0), value)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            self._assignment(statement, scope)
        if self._registers and simple:
            calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
            named = (call for call in calls if _REGISTERING.fullmatch(last_name(call.func)))
            self.registered += [(call, scope) for call in named]

    def _assignment(self, statement: ast.Assign | ast.AnnAssign, scope: Scope) -> None:
        value = statement.value
        target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
        if isinstance(value, ast.Call):
            name = last_name(value.func)
            if name[:1].isupper() or name in CREATORS:
                self.created.append((value, scope))
        match target:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if value is not None:
                owner = scope.bindings.get(name, [(0, None)])[-1][1]
                if scope.parent and isinstance(owner, ast.ClassDef) and owner is scope.parent.node:
                    scope.parent.attributes.setdefault(attribute, value)


def _declares(loop: ast.For, scope: Scope, turns: int) -> bool:
    """Whether a loop over a literal, in no other, declares a command in each of its few turns."""
    is_inner = scope.parent is not None and scope.parent.node is scope.node
    calls = (part.value for part in loop.body if isinstance(part, ast.Expr))
    called = {last_name(call.func) for call in calls if isinstance(call, ast.Call)}
    declares = called & _ADDING or any(getattr(part, "decorator_list", ()) for part in loop.body)
    return bool(declares) and turns <= _MOST_TURNS and not is_inner


def _assigned(statement: ast.AST) -> Iterator[tuple[str, Binding]]:
    """Yield each name that a statement binds, with its value if that is written there."""
    value, caught = getattr(statement, "value", None), getattr(statement, "name", None)
    if isinstance(statement, ast.AnnAssign) and value is None:
        return  # it only says the type of the name
    if isinstance(caught, str):
        yield caught, None
    targets = [getattr(statement, "target", None), *getattr(statement, "targets", ())]
    targets += [item.optional_vars for item in getattr(statement, "items", ())]
    targets += [caught]  # of `type Alias = ...`, from Python 3.12 on
    for target in targets:
        is_value = isinstance(target, ast.Name) and not isinstance(statement, ast.AugAssign)
        yield from ((name, value if is_value else None) for name in _names(target))


def _names(target: object) -> Iterator[str]:
    """Yield the names that a target binds, such as those of a tuple."""
    for node in ast.walk(target) if isinstance(target, ast.AST) else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _bind_import(node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.partition(".")[0]
            scope.bind(alias.asname or first, node.lineno, alias.name if alias.asname else first)
        return
    source = _source(node, scope)
    for alias in node.names:
        if alias.name == "*":
            if len(scope.wildcards) < _MOST_WILDCARDS and source not in scope.wildcards:
                scope.wildcards.append(source)
        else:
            scope.bind(alias.asname or alias.name, node.lineno, f"{source}.{alias.name}")


def _source(node: ast.ImportFrom, scope: Scope) -> str:
    if not node.level:
        return node.module or ""
    package = scope.module if scope.file.path.endswith("__init__.py") else scope.module[:-1]
    above = package[: len(package) - (node.level - 1)]
    return ".".join((*above, *filter(None, [node.module])))


def parameters(arguments: ast.arguments) -> dict[ast.arg, ast.expr | None]:
    """Return every parameter of a function with its default, in the order of its signature."""
    positional = [*arguments.posonlyargs, *arguments.args]
    without = [None] * (len(positional) - len(arguments.defaults))
    return {
        **dict(zip(positional, [*without, *arguments.defaults], strict=True)),
        **dict.fromkeys(filter(None, [arguments.vararg])),
        **dict(zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)),
        **dict.fromkeys(filter(None, [arguments.kwarg])),
    }


def keywords(call: ast.Call | ast.ClassDef) -> dict[str, ast.expr]:
    """Return the arguments of a call, or of a class, by their names."""
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def callee(decorator: ast.expr) -> ast.expr:
    """Return the name in a decorator, whether it is called or not."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def last_name(expression: ast.AST) -> str:
    """Return the last part of a dotted name; empty for anything else."""
    match expression:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def words(expression: ast.AST) -> str:
    """Return the names and texts in an expression, such as `discord Interaction`."""
    parts = []
    for node in ast.walk(expression):
        text = node.value if isinstance(node, ast.Constant) else last_name(node)
        parts += [text] if text and isinstance(text, str) else []
    return " ".join(parts)
