"""The commands of python-telegram-bot and aiogram: their handlers, and their texts for menus."""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry
from commandsync.sources.python.entries import first_paragraph
from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.scope import Function, Outline, Scope, keywords, last_name

_PACKAGES = {"aiogram", "telegram"}
_MENU = "set_my_commands"  # whose tuples are texts of commands, too
_MOST_PARTS = 100  # of a list; Telegram has as many commands of a bot


class _Handler(NamedTuple):
    """A command with its handler, if that is known, and its declaration."""

    name: str
    function: Function | ast.ClassDef | None
    node: ast.expr
    scope: Scope
    prefix: str = "/"


class Telegram:
    """Reads the handlers and the texts of commands."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def entries(self, outlines: Iterable[Outline]) -> Iterator[SourceEntry]:
        """Yield the commands of files: those with a handler, then those with a text alone."""
        handlers: dict[str, _Handler] = {}
        in_menu: dict[str, _Handler] = {}
        texts: dict[str, str] = {}
        for read_file in outlines:
            for handler in self._handlers(read_file):
                handlers.setdefault(handler.name, handler)
            for call, scope in read_file.registered:
                for name, text in self._texts(call, scope):
                    in_menu.setdefault(name, _Handler(name, None, call, scope))
                    texts[name] = texts.get(name) or text
        for name, handler in (in_menu | handlers).items():
            yield _entry(handler, texts.get(name, ""))

    def _handlers(self, read_file: Outline) -> Iterator[_Handler]:
        for function, scope in [*read_file.functions, *read_file.classes.items()]:
            for decorator in function.decorator_list:
                given = decorator.args if isinstance(decorator, ast.Call) else []
                yield from self._filtered(given, function, scope)
        for call, scope in read_file.registered:
            if last_name(call.func) == "register" and call.args:
                yield from self._filtered(call.args[1:], self._function(call.args[0], scope), scope)
            elif self._called(call, scope) == "CommandHandler":
                command, callback = _given(call, "command", "callback")
                handled = self._function(callback, scope)
                names = [name.lower() for name in self._names([command], scope)]
                yield from (_Handler(name, handled, call, scope) for name in names)

    def _filtered(
        self, given: Iterable[ast.expr], function: Function | ast.ClassDef | None, scope: Scope
    ) -> Iterator[_Handler]:
        """Yield the commands of a handler by its filters, as aiogram's."""
        for call in (part for part in given if isinstance(part, ast.Call)):
            called = self._called(call, scope)
            if called == "CommandStart":
                yield _Handler("start", function, call, scope)
            elif called == "Command":
                yield from self._command(call, function, scope)
            elif called in {"or_f", "and_f"}:
                yield from self._filtered(call.args, function, scope)

    def _command(
        self, call: ast.Call, function: Function | ast.ClassDef | None, scope: Scope
    ) -> Iterator[_Handler]:
        named = keywords(call)
        values = {name: self._code.value(value, scope) for name, value in named.items()}
        prefix = values.get("prefix", "/")
        prefix = prefix[0] if isinstance(prefix, str) and prefix and "/" not in prefix else "/"
        for name in self._names([*call.args, *filter(None, [named.get("commands")])], scope):
            known = name.casefold() if values.get("ignore_case") is True else name
            yield _Handler(known, function, call, scope, prefix)

    def _texts(self, call: ast.Call, scope: Scope) -> Iterator[tuple[str, str]]:
        """Yield the names and the descriptions that a call gives to commands."""
        if last_name(call.func) == _MENU:
            for part, around in self._parts(_given(call, "commands")[0], scope):
                value = self._code.value(part, around)
                if isinstance(value, tuple) and tuple(map(type, value)) == (str, str):
                    yield value
        elif self._called(call, scope) == "BotCommand":
            command, description = _given(call, "command", "description")
            for name in self._names([command], scope):
                yield name, self._code.text(description, scope) or ""

    def _names(self, given: Iterable[ast.expr], scope: Scope) -> list[str]:
        """Return the names of commands; one that cannot be read is a note."""
        names: list[str] = []
        for part, around in chain.from_iterable(self._parts(node, scope) for node in given):
            named = part
            if isinstance(part, ast.Call) and self._called(part, around) == "BotCommand":
                named = _given(part, "command")[0]
            if name := self._code.text(named, around):
                names.append(name)
            else:
                self._code.skip("the name of this command is computed at run time", part, around)
        return [name.removeprefix("/") for name in names if name.strip("/ ")]

    def _parts(
        self, expression: ast.expr, scope: Scope, levels: int = 2
    ) -> Iterator[tuple[ast.expr, Scope]]:
        """Yield the parts of a list, also of one with a name; else the expression itself."""
        inner = expression.value if isinstance(expression, ast.Starred) else expression
        meaning = self._code.meaning(inner, scope)
        known = meaning if isinstance(meaning, Definition) else Definition(inner, scope)
        match known.node:
            case ast.Call() as call:
                yield call, known.scope
            case ast.List(elts=elts) | ast.Tuple(elts=elts) | ast.Set(elts=elts) if (
                levels and len(elts) <= _MOST_PARTS
            ):
                for part in elts:
                    if isinstance(part, ast.Starred):
                        yield from self._parts(part, known.scope, levels - 1)
                    else:
                        yield part, known.scope
            case _:
                yield expression, scope

    def _called(self, call: ast.Call, scope: Scope) -> str:
        """Return the last part of a name of the frameworks; empty if something else is called."""
        meaning = self._code.meaning(call.func, scope)
        parts = meaning.split(".") if isinstance(meaning, str) else [""]
        return parts[-1] if parts[0] in _PACKAGES else ""

    def _function(self, expression: ast.expr, scope: Scope) -> Function | None:
        meaning = self._code.meaning(expression, scope)
        node = meaning.node if isinstance(meaning, Definition) else None
        return node if isinstance(node, Function) else None


def _given(call: ast.Call, *names: str) -> list[ast.expr]:
    """Return the arguments of a call by their places or names; the constant None for others."""
    named, nothing = keywords(call), ast.Constant(None)
    positional = [*call.args, *[nothing] * len(names)]
    return [named.get(name, value) for name, value in zip(names, positional, strict=False)]


def _entry(handler: _Handler, text: str) -> SourceEntry:
    function = handler.function
    docstring = ast.get_docstring(function) if function else None
    return SourceEntry(
        name=handler.name,
        description=text.strip() or first_paragraph(docstring or "") or NO_DESCRIPTION,
        syntax=f"{handler.prefix}{handler.name}",
        key=f"python:{function.name}" if function else None,
        place=handler.scope.file.place(handler.node),
    )
