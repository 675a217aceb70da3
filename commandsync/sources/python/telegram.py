"""The commands of Telegram's frameworks: their handlers, and the menus that the code sets.

python-telegram-bot has `CommandHandler`, aiogram filters, telebot the keyword `commands` of a
decorator, and Pyrogram `filters.command`. All have `BotCommand` and a call that sets a menu.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import chain
from operator import attrgetter

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry
from commandsync.sources.python.entries import first_paragraph
from commandsync.sources.python.meaning import Code, Definition, Value
from commandsync.sources.python.scope import Function, Outline, Scope, keywords, last_name
from commandsync.sources.telegrammenu import (
    COMPUTED_MENU,
    SCOPES,
    CodeMenus,
    add_text,
    menu_entry,
)

FRAMEWORKS = frozenset({"aiogram", "hydrogram", "pyrogram", "telebot", "telegram"})
"""The names with which code imports them."""

_MENUS = {"set_my_commands", "set_bot_commands"}  # the second one is Pyrogram's
_COMPUTED_NAME = "the name of this command is computed at run time"
_WITH_KEYWORD = re.compile(r"(register_)?(edited_)?message_handler")  # of telebot
_WITH_FILTERS = {"on_message", "on_edited_message", "MessageHandler"}  # of Pyrogram
_OF_SCOPE = "BotCommandScope"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_FILTER = "command"  # Pyrogram's, of a handler
_PAIR = 2  # a name and a description
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell
_MOST_PARTS = 100  # of a list; Telegram has as many commands of a bot

Handled = Function | ast.ClassDef | None


class Telegram:
    """Reads the handlers and the menus of all files."""

    def __init__(self, code: Code, outlines: Iterable[Outline]) -> None:
        """Read the handlers, then the menus, then the texts that are in no menu.

        What is computed counts as not read, unless a menu has all that is public.
        """
        self._code = code
        self.menus = CodeMenus()
        self._in_menus: set[ast.AST] = set()
        self._skipped: list[tuple[str, ast.expr, Scope]] = []
        for outline in outlines:
            for entry in sorted(self._handlers(outline), key=attrgetter("place")):
                self.menus.handlers.setdefault(entry.name, entry)
        self._read_menus([call for outline in outlines for call in outline.registered])
        for reason, node, scope in () if self.menus.is_closed else self._skipped:
            code.skip(reason, node, scope)

    def _read_menus(self, calls: Sequence[tuple[ast.Call, Scope]]) -> None:
        for call, scope in calls:
            if last_name(call.func) in _MENUS and self._is_of_bot(call.func, scope):
                self._menu(call, scope)
        for call, scope in calls:
            if call not in self._in_menus and self._called(call, scope) == "BotCommand":
                if entry := self._listed(call, scope):
                    add_text(self.menus.texts, entry)
                else:
                    self._skipped.append((_COMPUTED_NAME, call, scope))

    def _handlers(self, read_file: Outline) -> Iterator[SourceEntry]:
        for function, scope in [*read_file.functions, *read_file.classes.items()]:
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield from self._filtered(decorator, function, scope)
        for call, scope in read_file.registered:
            called = last_name(call.func)
            if called == "MessageHandler" or called.startswith("register"):
                given = [*call.args, ast.Constant(None)]
                handled = self._function(keywords(call).get("callback", given[0]), scope)
                yield from self._filtered(call, handled, scope)
            elif self._called(call, scope) == "CommandHandler":
                command, callback = self._given(call, scope, "command", "callback")
                for name in self._names([command], scope):
                    yield _entry(name.lower(), self._function(callback, scope), call, scope)

    def _filtered(self, on: ast.Call, function: Handled, scope: Scope) -> Iterator[SourceEntry]:
        """Yield the commands of a handler by the filters that a call `on` something is given."""
        called, named = last_name(on.func), keywords(on)
        if _WITH_KEYWORD.fullmatch(called) and "commands" in named:
            for name in self._names([named["commands"]], scope):
                yield _entry(name, function, on, scope)
        is_pyrogram = called in _WITH_FILTERS
        waiting = [*([named["filters"]] if is_pyrogram and "filters" in named else []), *on.args]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ast.BinOp):  # an inverted filter lets no command pass
                waiting += [part.left, part.right]
            elif isinstance(part, ast.Call):
                waiting += part.args if last_name(part.func) in {"or_f", "and_f"} else []
                yield from self._commands(part, function, scope, is_pyrogram=is_pyrogram)

    def _commands(
        self, call: ast.Call, function: Handled, scope: Scope, *, is_pyrogram: bool
    ) -> Iterator[SourceEntry]:
        """Yield the commands of a filter."""
        named = keywords(call)
        values = {name: self._code.value(value, scope) for name, value in named.items()}
        given, called = [*call.args, *filter(None, [named.get("commands")])], "Command"
        prefix, folds = _prefix(values.get("prefix")), values.get("ignore_case") is True
        if is_pyrogram:
            prefixes, given, called = values.get("prefixes"), given[:1], _FILTER
            prefix = _prefix([prefixes] if isinstance(prefixes, str) else prefixes)
            folds = values.get("case_sensitive") is not True
        of_call = last_name(call.func) if is_pyrogram else self._called(call, scope)
        if of_call == "CommandStart":
            yield _entry("start", function, call, scope)
        for name in self._names(given if of_call == called else [], scope):
            yield _entry(name.lower() if folds else name, function, call, scope, prefix)

    def _menu(self, call: ast.Call, scope: Scope) -> None:
        """Read a call that sets a menu."""
        commands, for_scope, language = self._given(
            call, scope, "commands", "scope", "language_code"
        )
        key = self._audience(for_scope, language, scope)
        listed = self.menus.menus.setdefault(key, {})
        meaning = self._code.meaning(commands, scope)
        self._in_menus.update(ast.walk(meaning.node if isinstance(meaning, Definition) else call))
        for part, around in self._parts(commands, scope):
            self._in_menus.update(ast.walk(part))
            if entry := self._listed(part, around):
                add_text(listed, entry)
            else:
                self.menus.partial.add(key)
                reason = COMPUTED_MENU if part is commands else _COMPUTED_NAME
                self._skipped.append((reason, part, around))

    def _audience(self, for_scope: ast.expr, language: ast.expr, scope: Scope) -> Audience:
        """Return the audience of a menu, by the arguments of the call that sets it."""
        meaning = self._code.meaning(for_scope, scope)
        known = self._code.called(meaning) if isinstance(meaning, Definition) else ""
        name = _CAPITAL.sub("_", known.removeprefix(_OF_SCOPE)).lower()
        if self._code.value(for_scope, scope) is None:
            name = SCOPES[0]
        code = self._code.value(language, scope) or ""
        is_known = known.startswith(_OF_SCOPE) or name == SCOPES[0]
        return Audience(name, code) if is_known and isinstance(code, str) else _COMPUTED

    def _listed(self, part: ast.expr, scope: Scope) -> SourceEntry | None:
        """Return a command of a menu, a `BotCommand` or two texts; None if it is computed."""
        meaning = self._code.meaning(part, scope)
        node, around = (part, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.expr):
            node, around = meaning.node, meaning.scope
        if isinstance(node, ast.Call) and self._called(node, around) == "BotCommand":
            given = self._given(node, around, "command", "description")
        else:
            given = node.elts if isinstance(node, ast.Tuple) else []
        texts = [self._code.text(text, around) for text in given]
        name = (texts[0] or "").strip().removeprefix("/") if len(texts) == _PAIR else ""
        return menu_entry(name, texts[1] or "", around.file.place(node)) if name else None

    def _names(self, given: Iterable[ast.expr], scope: Scope) -> list[str]:
        """Return the names of commands; one that cannot be read is remembered."""
        names: list[str] = []
        for part, around in chain.from_iterable(self._parts(node, scope) for node in given):
            named = part
            if isinstance(part, ast.Call) and self._called(part, around) == "BotCommand":
                named = self._given(part, around, "command")[0]
            if name := self._code.text(named, around):
                names.append(name)
            else:
                self._skipped.append((_COMPUTED_NAME, part, around))
        return [name.removeprefix("/") for name in names if name.strip("/ ")]

    def _parts(
        self, expression: ast.expr, scope: Scope, levels: int = 2
    ) -> Iterator[tuple[ast.expr, Scope]]:
        """Yield the parts of a list, also of one with a name; else the expression itself."""
        inner = expression.value if isinstance(expression, ast.Starred) else expression
        meaning = self._code.meaning(inner, scope)
        known = meaning if isinstance(meaning, Definition) else Definition(inner, scope)
        match known.node:
            case ast.Call(func=ast.Attribute(value=pairs, attr="items"), args=[]):
                yield from self._items(pairs, known.scope)
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
            case ast.ListComp(
                elt=made, generators=[ast.comprehension(target=target, iter=source, ifs=[])]
            ) if levels:
                for part, _ in self._parts(source, known.scope, levels - 1):
                    yield deepcopy(made), known.scope.turn(target, part)
            case _:
                yield expression, scope

    def _items(self, pairs: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
        """Yield the keys and values of an object with literal keys, each pair as a tuple."""
        meaning = self._code.meaning(pairs, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.Dict):
            keys, values = meaning.node.keys[:_MOST_PARTS], meaning.node.values
            for key, value in zip(keys, values, strict=False):
                yield ast.Tuple([part for part in (key, value) if part]), meaning.scope

    def _called(self, call: ast.Call, scope: Scope) -> str:
        """Return the last part of a name of the frameworks; empty if something else is called."""
        meaning = self._code.meaning(call.func, scope)
        parts = meaning.split(".") if isinstance(meaning, str) else [""]
        return parts[-1] if parts[0] in FRAMEWORKS else ""

    def _is_of_bot(self, called: ast.expr, scope: Scope) -> bool:
        """Whether a call is one of a method of a bot, and not of a function of its files."""
        meaning = self._code.meaning(called, scope)
        is_own = isinstance(meaning, Definition) and isinstance(meaning.node, Function)
        return isinstance(called, ast.Attribute) and not is_own

    def _function(self, expression: ast.expr, scope: Scope) -> Function | None:
        meaning = self._code.meaning(expression, scope)
        node = meaning.node if isinstance(meaning, Definition) else None
        return node if isinstance(node, Function) else None

    def _given(self, call: ast.Call, scope: Scope, *names: str) -> list[ast.expr]:
        """Return arguments by their places or names; the constant None for missing ones."""
        positional: list[ast.expr] = []
        for part in call.args:
            meaning = (
                self._code.meaning(part.value, scope) if isinstance(part, ast.Starred) else None
            )
            node = meaning.node if isinstance(meaning, Definition) else part
            positional += getattr(node, "elts", [part]) if meaning else [part]
        named, nothing = keywords(call), [ast.Constant(None)] * len(names)
        pairs = zip(names, [*positional, *nothing], strict=False)
        return [named.get(name, value) for name, value in pairs]


def _prefix(prefixes: Value) -> str:
    """Return the first of the prefixes; a slash if that is one of them, or they are not known."""
    is_known = isinstance(prefixes, str | list) and prefixes and "/" not in prefixes
    return str(prefixes[0]) if is_known else "/"


def _entry(
    name: str, function: Handled, node: ast.expr, scope: Scope, prefix: str = "/"
) -> SourceEntry:
    docstring = ast.get_docstring(function) if function else None
    return SourceEntry(
        name=name,
        description=first_paragraph(docstring or "") or NO_DESCRIPTION,
        syntax=f"{prefix}{name}",
        place=scope.file.place(node),
    )
