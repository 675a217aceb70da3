"""The scopes of one Python file of a bot: the bindings of names, and possible declarations.

One visit of the statements of a file finds the names and the calls that may declare commands. The
bodies of functions are dropped once they were visited, but for what they return: a bot's code is
mostly that.
"""

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from math import inf
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from commandsync.sources.python.parsedfile import ParsedFile

_APPLIED = re.compile(r"(command|group|menu)\((?s:.{0,2000}?)\)\s*\(")
_LONGEST_SPELLED = 60  # characters
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_REGISTERING = re.compile(
    r"add_cog|add_command|add_application_command|ContextMenu|CommandHandler|MessageHandler"
    r"|PrefixHandler"
    r"|BotCommand|set_my_commands|set_bot_commands|register_message_handler|register"
    r"|add_event_handler"
)
# A handler, in the frameworks of Telegram.
_ADDING = {"add_event_handler", "add_handler", "register", "register_message_handler"}
CREATORS = frozenset({"command_group", "create_group", "create_subgroup"})
_MOST_TURNS = 25  # of a loop
_MOST_WILDCARDS = 10  # of one module; the others are ignored

_LISTS = {"append", "extend", "insert", "remove", "pop", "clear"}  # methods that change one
_KEEPING = re.compile(  # names of methods that change no list that they are given
    r"(set|delete|get)_\w+_commands|debug|info|warning|error|exception|log|join|dumps?|format"
    r"|(send|reply|answer|edit)\w*"
)
_BODIES = ("body", "handlers", "cases", "orelse", "finalbody")


Binding: TypeAlias = object
"""The full name of an import, a definition, or None for a value that only a run can tell.

A definition is a node of the scope itself, or one of another scope (`meaning.Definition`).
"""


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

    def turn(self, target: ast.expr, value: ast.expr) -> "Scope":
        """Return the scope of one turn of a loop in this one, in which a target has a value."""
        turn = Scope(self.file, self.module, self.node, self)
        parts = getattr(value, "elts", []) if isinstance(target, ast.Tuple | ast.List) else [value]
        for name, part in zip(_names(target), parts, strict=False):
            turn.bind(name, target.lineno, part)
        return turn

    def bound(self, name: str, before: float = inf) -> Binding:
        """Return the last binding of a name above a line; the last of all if all are below."""
        bindings = self.bindings[name]
        above = bisect_left(bindings, before, key=itemgetter(0))
        return bindings[above - 1][1]  # the last one if all are below


class Change(NamedTuple):
    """A call that may change a list: by a method of it, or by a function that gets it."""

    of: ast.expr
    added: list[ast.expr] | None  # the parts that it adds; None if that is not known
    called: ast.expr | None  # the function that gets it
    scope: Scope

    @property
    def parts(self) -> list[ast.expr]:
        """The parts that it adds; the list itself if they are not known."""
        return [self.of] if self.added is None else self.added


@dataclass(eq=False)
class Outline:
    """The contents of a module."""

    scope: Scope
    functions: list[tuple[Function, Scope]] = field(default_factory=list)  # with decorators
    classes: dict[ast.ClassDef, Scope] = field(default_factory=dict)  # with their own scopes
    created: list[tuple[ast.Call, Scope]] = field(default_factory=list)  # perhaps groups
    registered: list[tuple[ast.Call, Scope]] = field(default_factory=list)  # perhaps commands
    applied: list[tuple[ast.Call, Scope]] = field(default_factory=list)  # `command(...)(function)`
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)  # of functions that were visited
    changes: list["Change"] = field(default_factory=list)  # of lists, in files with menus

    def __post_init__(self) -> None:
        """Visit every statement of the file; no expression is evaluated."""
        text = self.scope.file.text
        self._has_calls = (_REGISTERING.search(text) or _APPLIED.search(text)) is not None
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
                    for value in turns:
                        self._visit(deepcopy(statement.body), scope.turn(statement.target, value))
                case ast.Import() | ast.ImportFrom():
                    _bind_import(statement, scope)
                case _:
                    inner = [part for name in _BODIES for part in getattr(statement, name, ())]
                    self._other(statement, scope, simple=not inner)
                    waiting += inner[::-1]

    def _function(self, node: Function, scope: Scope) -> None:
        scope.bind(node.name, node.lineno, node)
        if node.decorator_list:
            self.functions.append((node, scope))
        if scope.file.may_declare_in(node):
            inner = Scope(scope.file, scope.module, node, scope)
            for parameter in parameters(node.args):
                inner.bind(parameter.arg, node.lineno, parameter)
            if isinstance(scope.node, ast.ClassDef) and node.args.args:  # self
                inner.bind(node.args.args[0].arg, node.lineno, scope.node)
            self.scopes[node] = inner
            self._visit(node.body, inner)
        # The docstring, the whole of a short check, and what a decorator is made of.
        ends = [part for part in node.body[2:] if isinstance(part, Function | ast.Return)]
        node.body = [*node.body[:2], *ends]

    def _other(self, statement: ast.AST, scope: Scope, *, simple: bool) -> None:
        for name, value in _assigned(statement):
            scope.bind(name, getattr(statement, "lineno", 0), value)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)):
            self._assignment(statement, scope)
        if self._has_calls and simple:
            for call in (node for node in ast.walk(statement) if isinstance(node, ast.Call)):
                self._call(call, scope)

    def _call(self, call: ast.Call, scope: Scope) -> None:
        """Remember a call that may register a command, apply a decorator or change a list."""
        if _REGISTERING.fullmatch(last_name(call.func)):
            self.registered.append((call, scope))
        elif isinstance(call.func, ast.Call) and call.args:
            self.applied.append((call, scope))
        elif self.scope.file.has_menu:
            self.changes += _changes(call, scope)

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


class Grown(ast.BinOp):
    """The meaning of a name after `name += more`: its value, perhaps with more."""


def _changes(call: ast.Call, scope: Scope) -> Iterator[Change]:
    """Yield the changes that a call may make to lists."""
    match call.func:
        case ast.Attribute(value=of, attr=name) if name in _LISTS:
            yield Change(of, _added(name, call), None, scope)
        case ast.Name() | ast.Attribute() if not _KEEPING.fullmatch(last_name(call.func)):
            for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
                if isinstance(part, ast.Name | ast.Attribute):
                    yield Change(part, None, call.func, scope)
        case _:
            pass


def _added(name: str, call: ast.Call) -> list[ast.expr] | None:
    """Return the parts that a method adds to a list; None if it does something else."""
    match name, call.args:
        case ("append", [part]) | ("insert", [_, part]):
            return [part]
        case "extend", [parts]:
            return [ast.copy_location(ast.Starred(parts), parts)]
        case _:
            return None


def _assigned(statement: ast.AST) -> Iterator[tuple[str, Binding]]:
    """Yield each name that a statement binds, with its value if that is written there."""
    value, caught = getattr(statement, "value", None), getattr(statement, "name", None)
    if isinstance(statement, ast.AnnAssign) and value is None:
        return  # it only says the type of the name
    if isinstance(caught, str):
        yield caught, None
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        # Its place is that of the statement: there, the name means the binding above.
        grown = Grown(statement.target, statement.op, statement.value)
        yield statement.target.id, ast.copy_location(grown, statement)
        return
    targets = [getattr(statement, "target", None), *getattr(statement, "targets", ())]
    targets += [item.optional_vars for item in getattr(statement, "items", ())]
    targets += [caught]  # of `type Alias = ...`, from Python 3.12 on
    for target in targets:
        is_value = isinstance(target, ast.Name) and not isinstance(statement, ast.AugAssign)
        yield from ((name, value if is_value else None) for name in _names(target))


def _names(target: object) -> Iterator[str]:
    """Yield the names that a target binds, such as the names of a tuple."""
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


def spelled(expression: ast.expr) -> str:
    """Return an expression as code, for a message; only the end of a long one."""
    with suppress(RecursionError):
        text = ast.unparse(expression)
        return text if len(text) <= _LONGEST_SPELLED else f"...{text[-_LONGEST_SPELLED:]}"
    return f"...{last_name(expression)}"


def words(expression: ast.AST) -> str:
    """Return the names and texts in an expression, such as `discord Interaction`."""
    parts = []
    for node in ast.walk(expression):
        text = node.value if isinstance(node, ast.Constant) else last_name(node)
        parts += [text] if text and isinstance(text, str) else []
    return " ".join(parts)
