"""The commands of a bot of Telegram: its handlers, and the menus that the code sets.

All frameworks have `BotCommand` and a call that sets a menu.
"""

import ast
import re
from collections.abc import Sequence
from operator import attrgetter

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry
from commandsync.sources.python.handlers import COMPUTED_NAME, Handlers, called_of, given
from commandsync.sources.python.lists import Lists
from commandsync.sources.python.meaning import Code, Definition
from commandsync.sources.python.scope import Function, Outline, Scope, last_name
from commandsync.sources.telegrammenu import (
    COMPUTED_MENU,
    SCOPES,
    CodeMenus,
    add_text,
    menu_entry,
)

_MENUS = {"set_my_commands", "set_bot_commands"}  # the second one is Pyrogram's
_OF_SCOPE = "BotCommandScope"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_PAIR = 2  # a name and a description
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell


class Telegram:
    """Reads the handlers and the menus of all files."""

    def __init__(self, code: Code, outlines: Sequence[Outline], *, may_lack_menus: bool) -> None:
        """Read the handlers, then the menus, then the texts that are in no menu.

        What is computed counts as not read, unless a menu has all that is public. None has if code
        that is not valid `may_lack_menus`.
        """
        self._code = code
        self._lists = Lists(code, outlines)
        self._handlers = Handlers(code, self._lists)
        self.menus = CodeMenus()
        self._in_menus: set[ast.AST] = set()
        for outline in outlines:
            for entry in sorted(self._handlers.of(outline), key=attrgetter("place")):
                self.menus.handlers.setdefault(entry.name, entry)
        self._read_menus([call for outline in outlines for call in outline.registered])
        self.menus.partial |= {*self.menus.menus} if may_lack_menus else set()
        self._mark_missed()

    def _mark_missed(self) -> None:
        """Count what is not read, and mark the commands whose texts it may have."""
        skipped = self._handlers.skipped
        for reason, node, scope in () if self.menus.is_closed else skipped:
            self._code.skip(reason, node, scope)
        handlers = self.menus.handlers.items() if self.menus.partial else ()
        for name in [name for name, entry in handlers if entry.description == NO_DESCRIPTION]:
            for _, node, scope in skipped:
                self._code.mark(COMPUTED_MENU, node, scope, name)

    def _read_menus(self, calls: Sequence[tuple[ast.Call, Scope]]) -> None:
        for call, scope in calls:
            if last_name(call.func) in _MENUS and self._is_of_bot(call.func, scope):
                self._menu(call, scope)
        for call, scope in calls:
            if call in self._in_menus or called_of(call, scope, self._code) != "BotCommand":
                continue
            if entry := self._listed(call, scope):
                add_text(self.menus.texts, entry)
            else:
                self._handlers.skipped.append((COMPUTED_NAME, call, scope))

    def _menu(self, call: ast.Call, scope: Scope) -> None:
        """Read a call that sets a menu."""
        keys = ("commands", "scope", "language_code")
        commands, for_scope, language = given(call, scope, self._code, *keys)
        key = self._audience(for_scope, language, scope)
        listed = self.menus.menus.setdefault(key, {})
        meaning = self._code.meaning(commands, scope)
        self._in_menus.update(ast.walk(meaning.node if isinstance(meaning, Definition) else call))
        for part, around in self._lists.parts(commands, scope):
            self._in_menus.update(ast.walk(part))
            if entry := self._listed(part, around):
                add_text(listed, entry)
            else:
                self.menus.partial.add(key)
                is_one = isinstance(part, ast.Call | ast.Tuple) and part is not commands
                reason = COMPUTED_NAME if is_one else COMPUTED_MENU
                self._handlers.skipped.append((reason, part, around))

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

    def _is_of_bot(self, called: ast.expr, scope: Scope) -> bool:
        """Whether a call is one of a method of a bot, and not of a function of its files."""
        meaning = self._code.meaning(called, scope)
        is_own = isinstance(meaning, Definition) and isinstance(meaning.node, Function)
        return isinstance(called, ast.Attribute) and not is_own
