"""The commands of a bot of Telegram: its handlers, by their filters, and the menus of the code.

python-telegram-bot has `CommandHandler`, aiogram filters, telebot the keyword `commands` of a
decorator, and Pyrogram `filters.command`. A handler may also answer the text of a command, such as
`F.text == "/ping"`, and all of Telethon do; a handler of a pattern of several commands is not read.
All frameworks have `BotCommand` and a call that sets a menu.

A menu is a list that grows: by `append`, `extend`, `insert` and `+=`, in a function that returns
it, or in one that gets it (`ListReader`). A part that cannot be told is the expression itself.
"""

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import chain
from operator import attrgetter
from typing import TypeAlias

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry, as_list
from commandsync.sources.python.entries import first_paragraph
from commandsync.sources.python.meaning import Code, Definition, Value, is_known
from commandsync.sources.python.scope import (
    Change,
    Function,
    Grown,
    Outline,
    Scope,
    keywords,
    last_name,
)
from commandsync.sources.telegrammenu import COMPUTED_MENU, SCOPES, CodeMenus, add_text, menu_entry

FRAMEWORKS = frozenset({"aiogram", "hydrogram", "pyrogram", "telebot", "telegram", "telethon"})
"""The names with which code imports Telegram's frameworks."""

COMPUTED_NAME = "the name of this command is computed at run time"
_PATTERN = "the texts that this handler answers are a pattern"
_COMPUTED_PATTERN = "the texts that this handler answers are computed at run time"
_UNKNOWN_FILTER = "the filter of this handler is not in the source"
_EXACT = re.compile(r"\^?\\?/(?P<name>\w{1,32})(\\b)?(\$|\\Z)?")  # a pattern of one command
_SIGNED = re.compile(
    r"(\(\?\w+\)|[\^(?:])*(\\?[/!#]|\\\.\w|\[\S*[/!.#])"
)  # of commands, also `.ping`
_BY_TEXT = {"Regex", "Text", "in_", "regex", "regexp", "startswith", "text"}  # filters, or keywords
_WITH_KEYWORD = re.compile(r"(register_)?(edited_)?message_handler")  # of telebot
_WITH_FILTERS = {"on_message", "on_edited_message", "MessageHandler"}  # of Pyrogram
_TAKING = {"MessageHandler", "add_event_handler"}  # calls that are given the handler
_FILTER = "command"  # Pyrogram's, of a handler
_MOST_FILTERS = 500  # of one handler, with their parts
_MENUS = {"set_my_commands", "set_bot_commands"}  # the second one is Pyrogram's
_OF_SCOPE = "BotCommandScope"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_PAIR = 2  # a name and a description
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell
_COPIES = {"list", "sorted", "tuple"}
_DEEPEST = 12  # lists, one in the other
_MOST_PARTS = 100  # of a list; Telegram has as many commands of a bot

Handled = Function | ast.ClassDef | None
Part: TypeAlias = tuple[ast.expr, Scope]


class Telegram:
    """Reads the handlers and the menus of all files."""

    def __init__(self, code: Code, outlines: Sequence[Outline], *, may_lack_menus: bool) -> None:
        """Read the handlers, then the menus, then the texts that are in no menu.

        A computed part counts as not read, unless a menu has all public commands. None has them if
        code that is not valid `may_lack_menus`.
        """
        self._code = code
        self._lists = ListReader(code, outlines)
        self._skipped: list[tuple[str, ast.expr, Scope]] = []  # unreadable parts, with the reason
        self.menus = CodeMenus()
        for outline in outlines:
            for entry in sorted(self._handlers(outline), key=attrgetter("place")):
                self.menus.handlers.setdefault(entry.name, entry)
        self._read_menus([call for outline in outlines for call in outline.registered])
        self.menus.partial |= {*self.menus.menus} if may_lack_menus else set()
        self._mark_missed()

    def _mark_missed(self) -> None:
        """Count what is not read, and mark the commands whose texts it may have."""
        for reason, node, scope in () if self.menus.is_closed else self._skipped:
            self._code.skip(reason, node, scope)
        handlers = self.menus.handlers.items() if self.menus.partial else ()
        for name in [name for name, entry in handlers if entry.description == NO_DESCRIPTION]:
            for _, node, scope in self._skipped:
                self._code.mark(COMPUTED_MENU, node, scope, name)

    # Handlers

    def _handlers(self, read_file: Outline) -> Iterator[SourceEntry]:
        """Yield the commands that the handlers of a file answer."""
        for function, scope in [*read_file.functions, *read_file.classes.items()]:
            for decorator in function.decorator_list:
                if isinstance(decorator, ast.Call):
                    yield from self._filtered(decorator, function, scope)
        for call, scope in read_file.registered:
            called = last_name(call.func)
            if called in _TAKING or called.startswith("register"):
                stated = [*call.args[:2], *_stated(call, "callback")]
                functions = (self._function(part, scope) for part in stated)
                handled = next((function for function in functions if function), None)
                yield from self._filtered(call, handled, scope)
            else:
                yield from self._commanded(call, scope)

    def _commanded(self, call: ast.Call, scope: Scope) -> Iterator[SourceEntry]:
        """Yield the commands of a handler of python-telegram-bot that is made for them."""
        prefix = "/"
        match called_of(call, scope, self._code):
            case "PrefixHandler":
                keys = ("prefix", "command", "callback")
                sign, command, callback = given(call, scope, self._code, *keys)
                prefix = _prefix(as_list(self._code.value(sign, scope)))
            case "CommandHandler":
                command, callback = given(call, scope, self._code, "command", "callback")
            case _:
                return
        for name in self._names([command], scope):
            yield _entry(name.lower(), self._function(callback, scope), call, scope, prefix)

    def _filtered(self, on: ast.Call, function: Handled, scope: Scope) -> Iterator[SourceEntry]:
        """Yield the commands of a handler by the filters that a call `on` something is given."""
        yield from self._by_keywords(on, function, scope)
        waiting = [(part, scope) for part in [*_stated(on, "filters", "func"), *on.args]]
        is_pyrogram = last_name(on.func) in _WITH_FILTERS
        for _ in range(_MOST_FILTERS):
            if not waiting:
                return
            part, around = waiting.pop()
            waiting += self._inside(part, around)
            compared = _compared(part)
            if compared is not None:
                yield from self._texts(compared, function, on, around)
            elif isinstance(part, ast.Call) and called_of(part, around, self._code) == "NewMessage":
                yield from self._of_pattern(part, function, on, around, is_known=True)
            elif isinstance(part, ast.Call):
                at = part if around is scope else on
                for name, prefix in self._commands(part, around, is_pyrogram=is_pyrogram):
                    yield _entry(name, function, at, scope, prefix)

    def _is_followed(self, called: ast.expr, scope: Scope) -> bool:
        """Whether it is known what a filter calls: the bot's own code, or a framework."""
        meaning = self._code.meaning(called, scope)
        return _is_of_library(meaning) if isinstance(meaning, str) else meaning is not None

    def _by_keywords(self, on: ast.Call, function: Handled, scope: Scope) -> Iterator[SourceEntry]:
        """Yield the commands that the known keywords of telebot name."""
        if _WITH_KEYWORD.fullmatch(last_name(on.func)):
            for name in self._names(_stated(on, "commands"), scope):
                yield _entry(name, function, on, scope)
            for text in _stated(on, "regexp", "text"):
                yield from self._texts(text, function, on, scope)
        if isinstance(function, Function) and not called_of(on, scope, self._code):
            yield from self._of_pattern(on, function, on, scope, is_known=False)

    def _inside(self, part: ast.expr, scope: Scope) -> list[Part]:
        """Return the filters that one is made of."""
        match part:
            case ast.BinOp(left=left, right=right):  # an inverted filter lets no command pass
                return [(left, scope), (right, scope)]
            case ast.BoolOp(values=inner):
                return [(each, scope) for each in inner]
            case ast.Lambda(body=body):
                return [(body, scope)]
            case ast.Call(func=called, args=combined) if last_name(called) in {"or_f", "and_f"}:
                return [(each, scope) for each in combined]
            case ast.Call():
                made = self._code.returned(part, scope)
            case ast.Name() | ast.Attribute():
                meaning = self._code.meaning(part, scope)
                made = meaning if isinstance(meaning, Definition) else None
            case _:
                made = None
        filters = ast.BinOp | ast.BoolOp | ast.Call | ast.Compare | ast.Lambda
        return [(made.node, made.scope)] if made and isinstance(made.node, filters) else []

    def _texts(
        self, stated: ast.expr, function: Handled, on: ast.Call, scope: Scope
    ) -> Iterator[SourceEntry]:
        """Yield the commands that a handler answers by their texts, such as `/ping`."""
        for part, around in self._strings(stated, scope):
            text = self._code.text(part, around) or ""
            if exact := _EXACT.fullmatch(text):
                yield _entry(exact["name"], function, on, scope)
            elif text.lstrip("^\\(?:").startswith("/"):
                self._skipped.append((_PATTERN, on, scope))

    def _of_pattern(
        self, event: ast.Call, function: Handled, on: ast.Call, scope: Scope, *, is_known: bool
    ) -> Iterator[SourceEntry]:
        """Yield the command of a handler by the pattern of an event, which Telethon `is_known` for.

        A decorator of the bot's own may take a pattern, too, and make something else of it.
        """
        pattern = keywords(event).get("pattern")
        if isinstance(pattern, ast.Call) and last_name(pattern.func) == "compile":
            pattern = next(iter(pattern.args), pattern)
        text = self._code.text(pattern, scope) if pattern else ""
        exact = _EXACT.fullmatch(text or "")
        if exact and is_known:
            yield _entry(exact["name"], function, on, scope)
        elif text is None and is_known:
            self._skipped.append((_COMPUTED_PATTERN, on, scope))
        elif _SIGNED.match(text or ""):
            self._skipped.append((_PATTERN, on, scope))

    def _commands(
        self, call: ast.Call, scope: Scope, *, is_pyrogram: bool
    ) -> Iterator[tuple[str, str]]:
        """Yield the commands of a filter, each with its prefix."""
        values = {name: self._code.value(value, scope) for name, value in keywords(call).items()}
        stated, called = [*call.args, *_stated(call, "commands")], "Command"
        prefix, folds = _prefix(values.get("prefix")), values.get("ignore_case") is True
        of_call = called_of(call, scope, self._code)
        if is_pyrogram and not isinstance(self._code.meaning(call.func, scope), Definition):
            commands, prefixes = given(call, scope, self._code, "commands", "prefixes")
            prefix = _prefix(as_list(self._code.value(prefixes, scope)))
            stated, called, of_call = [commands], _FILTER, last_name(call.func)
            folds = values.get("case_sensitive") is not True
        if of_call == "CommandStart":
            yield "start", "/"
        for name in self._names(stated if of_call == called else [], scope):
            yield name.lower() if folds else name, prefix
        if is_pyrogram and call.args and not self._is_followed(call.func, scope):
            self._skipped.append((_UNKNOWN_FILTER, call, scope))

    def _names(self, stated: Iterable[ast.expr], scope: Scope) -> list[str]:
        """Return the names of commands; one that cannot be read is remembered."""
        names: list[str] = []
        for part, around in (each for node in stated for each in self._strings(node, scope)):
            name = part
            if isinstance(part, ast.Call) and called_of(part, around, self._code) == "BotCommand":
                name = given(part, around, self._code, "command")[0]
            if text := self._code.text(name, around):
                names.append(text)
            else:
                self._skipped.append((COMPUTED_NAME, part, around))
        return [name.removeprefix("/") for name in names if name.strip("/ ")]

    def _strings(self, stated: ast.expr, scope: Scope) -> Iterable[Part]:
        """Return the parts of a list; the expression itself if it is a text, or a sum of texts."""
        is_text = self._code.text(stated, scope) is not None
        return [(stated, scope)] if is_text else self._lists.parts(stated, scope)

    def _function(self, expression: ast.expr, scope: Scope) -> Function | None:
        meaning = self._code.meaning(expression, scope)
        node = meaning.node if isinstance(meaning, Definition) else None
        return node if isinstance(node, Function) else None

    # Menus

    def _read_menus(self, calls: Sequence[tuple[ast.Call, Scope]]) -> None:
        in_menus: set[ast.AST] = set()
        for call, scope in calls:
            is_method = isinstance(call.func, ast.Attribute) and last_name(call.func) in _MENUS
            if is_method and not self._function(call.func, scope):  # not one of the bot's files
                in_menus |= self._menu(call, scope)
        for call, scope in calls:
            if call in in_menus or called_of(call, scope, self._code) != "BotCommand":
                continue
            if entry := self._listed(call, scope):
                add_text(self.menus.texts, entry)
            else:
                self._skipped.append((COMPUTED_NAME, call, scope))

    def _menu(self, call: ast.Call, scope: Scope) -> set[ast.AST]:
        """Read a call that sets a menu, and return the expressions in the menu."""
        keys = ("commands", "scope", "language_code")
        commands, for_scope, language = given(call, scope, self._code, *keys)
        key = self._audience(for_scope, language, scope)
        listed = self.menus.menus.setdefault(key, {})
        meaning = self._code.meaning(commands, scope)
        inside = {*ast.walk(meaning.node if isinstance(meaning, Definition) else call)}
        for part, around in self._lists.parts(commands, scope):
            inside.update(ast.walk(part))
            if entry := self._listed(part, around):
                add_text(listed, entry)
            else:
                self.menus.partial.add(key)
                is_one = isinstance(part, ast.Call | ast.Tuple) and part is not commands
                reason = COMPUTED_NAME if is_one else COMPUTED_MENU
                self._skipped.append((reason, part, around))
        return inside

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
        parts = node.elts if isinstance(node, ast.Tuple) else []
        if isinstance(node, ast.Call) and called_of(node, around, self._code) == "BotCommand":
            parts = given(node, around, self._code, "command", "description")
        if len(parts) != _PAIR:
            return None
        stated, text = (self._code.text(part, around) for part in parts)
        name = (stated or "").strip().removeprefix("/")
        if not name:
            return None
        if text is None:
            self._code.mark("its description is computed at run time", parts[1], around, name)
        return menu_entry(name, text or "", around.file.place(node))


def _is_of_library(name: str) -> bool:
    """Whether a full name that is imported from elsewhere is one of Python, or of a framework."""
    return is_known(name) or name.partition(".")[0] in FRAMEWORKS | sys.stdlib_module_names


def called_of(call: ast.Call, scope: Scope, code: Code) -> str:
    """Return the last part of a name of the frameworks; empty if something else is called."""
    meaning = code.meaning(call.func, scope)
    parts = meaning.split(".") if isinstance(meaning, str) else [""]
    return parts[-1] if parts[0] in FRAMEWORKS else ""


def given(call: ast.Call, scope: Scope, code: Code, *names: str) -> list[ast.expr]:
    """Return arguments by their places or names; the constant None for missing ones."""
    positional: list[ast.expr] = []
    for part in call.args:
        meaning = code.meaning(part.value, scope) if isinstance(part, ast.Starred) else None
        node = meaning.node if isinstance(meaning, Definition) else part
        positional += getattr(node, "elts", [part]) if meaning else [part]
    named, nothing = keywords(call), [ast.Constant(None)] * len(names)
    pairs = zip(names, [*positional, *nothing], strict=False)
    return [named.get(name, value) for name, value in pairs]


def _stated(call: ast.Call, *keys: str) -> list[ast.expr]:
    named = keywords(call)
    return [named[key] for key in keys if key in named]


def _compared(part: ast.expr) -> ast.expr | None:
    """Return the text, or the pattern, that a filter compares with the text of a message."""
    match part:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[text]):
            return text if last_name(left) == "text" else None
        case ast.Call(func=called, args=[text, *_]) if last_name(called) in _BY_TEXT:
            return text
        case _:
            return None


def _prefix(prefixes: Value) -> str:
    """Return the first of the prefixes; a slash if that is one of them, or they are not known."""
    is_stated = isinstance(prefixes, str | list) and prefixes and "/" not in prefixes
    return prefixes[0] if is_stated and isinstance(prefixes[0], str) else "/"


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


class ListReader:
    """Reads the lists of all files, including the parts that statements add after the literal."""

    def __init__(self, code: Code, outlines: Iterable[Outline]) -> None:
        self._code = code
        self._changes: dict[ast.AST, list[Change]] = {}
        for change in (change for outline in outlines for change in outline.changes):
            known = code.meaning(change.of, change.scope)
            for _ in range(_MOST_PARTS):  # the meaning before anything was added
                if not (isinstance(known, Definition) and isinstance(known.node, Grown)):
                    break
                known = code.meaning(known.node.left, known.scope)
            node = known.node if isinstance(known, Definition) else None
            if isinstance(node, ast.List) and self._may_change(change):
                self._changes.setdefault(node, []).append(change)

    def _may_change(self, change: Change) -> bool:
        """Whether a call is to a method of a list, or to a function that may change it."""
        if change.called is None:
            return True
        meaning = self._code.meaning(change.called, change.scope)
        if isinstance(meaning, str):
            return not _is_of_library(meaning)
        return meaning is not None or not hasattr(builtins, last_name(change.called))

    def parts(self, expression: ast.expr, scope: Scope, levels: int = _DEEPEST) -> Iterator[Part]:
        """Yield the parts of a list, including added ones; else the expression itself."""
        written = expression.value if isinstance(expression, ast.Starred) else expression
        known = self._meant(written, scope)
        sum_of = _sum_of(known.node) if levels else []
        if sum_of and written not in sum_of:
            inner = (self.parts(part, known.scope, levels - 1) for part in sum_of)
            yield from chain.from_iterable(inner)
            return
        match known.node:
            case ast.Call(func=ast.Attribute(value=pairs, attr="items"), args=[]):
                yield from self._items(pairs, known.scope)
            case ast.Call() as call:
                yield call, known.scope
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) if (
                levels and len(parts) <= _MOST_PARTS
            ):
                yield from self._members(parts, known.scope, levels)
                changes = self._changes.get(known.node, ())
                more = (self._members(each.parts, each.scope, levels) for each in changes)
                yield from chain.from_iterable(more)
            case ast.ListComp(elt=made, generators=[ast.comprehension(ifs=[]) as loop]) if levels:
                yield from self._turns(made, loop, known.scope, levels)
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

    def _turns(
        self, made: ast.expr, loop: ast.comprehension, scope: Scope, levels: int
    ) -> Iterator[Part]:
        """Yield a part for each turn of a loop over a list."""
        for part, _ in self.parts(loop.iter, scope, levels - 1):
            yield deepcopy(made), scope.turn(loop.target, part)

    def _items(self, pairs: ast.expr, scope: Scope) -> Iterator[Part]:
        """Yield the keys and values of an object with literal keys, each pair as a tuple."""
        meaning = self._code.meaning(pairs, scope)
        if isinstance(meaning, Definition) and isinstance(meaning.node, ast.Dict):
            keys, values = meaning.node.keys[:_MOST_PARTS], meaning.node.values
            for key, value in zip(keys, values, strict=False):
                yield ast.Tuple([part for part in (key, value) if part]), meaning.scope


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
