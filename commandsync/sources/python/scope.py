"""One Python file of a bot, parsed, and its scopes: the bindings, and possible declarations.

A file is decoded as Python decodes it, and parsed without the functions that are not valid; it is
never run. One visit of its statements finds the names and the calls that may declare commands. The
bodies of functions are dropped once they were visited: a bot's code is mostly that.
"""

import ast
import io
import re
import sys
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from operator import itemgetter
from typing import TypeAlias

from commandsync.diagnostics import Location, Notice
from commandsync.sources.sourcefile import NOT_IMPORTED

MOST_BYTES = 2 * 1024 * 1024
"""A larger file is not read: it was generated, or it is data."""

_FRAMEWORK = re.compile("discord|disnake|nextcord|redbot")
_DECLARING = re.compile(  # each begins with one character: a search for those is quick
    r"@|class\b|add_cog|add_command|add_application_command|ContextMenu|Group\b|group\b"
    r"|CommandHandler|MessageHandler|message_handler|BotCommand|set_my_commands|set_bot_commands"
    r"|\.register\("
)
_AUTOCOMPLETE = re.compile(r"(\w+)\.(?:on_)?autocomplete\(")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_LINE = 10_000  # characters in which columns are counted; in others it is bytes
_REST = "the rest of the file is read, and no command is removed"
_TYPE_PARAMETERS = re.compile(  # of Python 3.12: `class Cache[T]:`, `def first[T](`, `type A = `
    r"^([ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+)(\[[^\n]*\])(?=[ \t]*[(:])"
    r"|^([ \t]*)type[ \t]+(?=\w+[ \t]*(?:\[[^\n]*\][ \t]*)?=)",
    re.MULTILINE,
)
_NEWER = {  # the compiler's words for newer syntax, or the syntax, and the Python that has it
    r"multiple exception types must be": (3, 14),
    r"\bt[\"']": (3, 14),
    r"f-string|\bclass \w+\[|\bdef \w+\[|\btype \w+": (3, 12),
}
_HEADER = re.compile(r"([ \t]*)(?:async[ \t]+def|def|class)\b")
_MOST_BROKEN = 20  # functions of a file


@dataclass(eq=False)
class ParsedFile:
    """A Python file that was read."""

    path: str  # the file, with `/` between folders
    text: str
    tree: ast.Module
    problems: tuple[Notice, ...] = ()  # why parts of it are not in the tree

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks whose names are in the text."""
        return frozenset(_FRAMEWORK.findall(self.text))

    @cached_property
    def autocompleted(self) -> frozenset[str]:
        """The names of commands that a function completes, as in `@play.autocomplete("song")`."""
        is_named = "autocomplete(" in self.text  # looked for at every word is slow
        return frozenset(_AUTOCOMPLETE.findall(self.text) if is_named else ())

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE_END.split(self.text)

    @cached_property
    def _declaring(self) -> Sequence[int]:
        """The lines that may declare a command, or bind its declaration."""
        ends = [end.end() for end in _LINE_END.finditer(self.text)]
        hits = (hit.start() for hit in _DECLARING.finditer(self.text))
        return [bisect_right(ends, start) + 1 for start in hits]

    def may_declare_in(self, node: ast.stmt) -> bool:
        """Whether a line of a function's body, or of all of a short one, may declare a command."""
        last = node.end_lineno or node.lineno
        first = min(node.lineno + 1, last)
        return bisect_left(self._declaring, first) < bisect_right(self._declaring, last)

    def place(self, node: ast.AST) -> Location:
        """Return where a node of the tree begins; the file for a node without a place."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        line = min(line, len(self._lines))
        text = self._lines[line - 1]
        if not text.isascii() and len(text) <= _LONGEST_LINE:
            before = text.encode("utf-8", "surrogatepass")[:offset]
            offset = len(before.decode("utf-8", "surrogatepass"))
        return Location(self.path, line, offset + 1)


def parse(path: str, data: bytes) -> ParsedFile | Notice:
    """Parse a file, or return why it cannot be parsed."""
    if len(data) > MOST_BYTES:
        message = f"the file is larger than {MOST_BYTES // 1024**2} MiB"
        return Notice(message, NOT_IMPORTED, Location(path))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the bot's code, for its author
            tree, broken = _tolerant(text)
    except SyntaxError as error:
        return _problem(path, error, NOT_IMPORTED)
    except (MemoryError, RecursionError):
        return Notice("the file is nested too deeply", NOT_IMPORTED, Location(path))
    except (LookupError, ValueError) as error:  # its encoding, a null byte, a huge number
        return Notice(f"the file cannot be decoded: {error}", NOT_IMPORTED, Location(path))
    return ParsedFile(path, text, tree, tuple(_problem(path, error, _REST) for error in broken))


def _tolerant(text: str) -> tuple[ast.Module, list[SyntaxError]]:
    """Parse a text without the functions that are not valid; with the errors in them.

    Type parameters are read by every Python. Raises `SyntaxError` if too much is not valid.
    """
    errors: list[SyntaxError] = []
    for _ in range(_MOST_BROKEN):
        try:
            return ast.parse(text), errors
        except SyntaxError as error:
            if (older := _TYPE_PARAMETERS.sub(_spaces, text)) == text:
                errors.append(error)
                text = _without_function(text, error.lineno or 1)
            else:
                text = older
    raise errors[0]


def _spaces(match: re.Match[str]) -> str:
    """Return a match without its type parameters, in as many columns, or without its `type`."""
    return match[3] if match[1] is None else match[1] + " " * len(match[2])


def _without_function(text: str, number: int) -> str:
    """Return a text in which the function or class around a line is `pass`, or only that line."""
    lines = _LINE_END.split(text)
    start = min(number, len(lines)) - 1
    above = (n for n in range(start, -1, -1) if _HEADER.match(lines[n]))
    start = next(above, start)
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and _is_inside(lines[end], indent):
        end += 1
    while start and lines[start - 1].strip()[:1] == "@":
        start -= 1
    first = lines[start][:indent] + "pass"
    return "\n".join([*lines[:start], first, *[""] * (end - start - 1), *lines[end:]])


def _is_inside(line: str, indent: int) -> bool:
    content = line.lstrip()
    return not content or len(line) - len(content) > indent or content[0] in ")]}#"


def _problem(path: str, error: SyntaxError, hint: str) -> Notice:
    place = Location(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))
    described = f"{error.msg} {error.text or ''}"
    for syntax, version in _NEWER.items():
        if sys.version_info < version and re.search(syntax, described):
            newer = f"{version[0]}.{version[1]}"
            message = f"this may be syntax of Python {newer}: {error.msg}"
            return Notice(message, f"run commandsync with Python {newer} or newer; {hint}", place)
    return Notice(f"the file is not valid Python: {error.msg}", hint, place)


Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_REGISTERING = re.compile(
    r"add_cog|add_command|add_application_command|ContextMenu|CommandHandler|MessageHandler"
    r"|BotCommand|set_my_commands|set_bot_commands|register_message_handler|register"
)
# A handler, in the frameworks of Telegram.
_ADDING = {"add_handler", "register", "register_message_handler"}
CREATORS = frozenset({"command_group", "create_group", "create_subgroup"})
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
            self._visit(deepcopy(loop.body), scope.turn(loop.target, value))

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
