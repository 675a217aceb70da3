"""The commands of grammY, Telegraf and GramIO: calls that handle a command, or set a menu.

`Program` keeps the calls whose names the frameworks have. They count if a file of the bot imports a
framework of Telegram, and the file of the call imports none of command lines.
"""

import re
from collections.abc import Iterator

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import Candidate, Unread
from commandsync.sources.javascript.program import Program
from commandsync.sources.javascript.value import Computed, Record, Value, fields_of
from commandsync.sources.jsonfile import as_list
from commandsync.sources.telegrammenu import (
    COMPUTED_MENU,
    SCOPES,
    CodeMenus,
    add_text,
    menu_entry,
)

_LIBRARY = re.compile(
    rb"[\"'](?:npm:|https://[\w./]+/)?(telegraf|grammy|gramio|node-telegram-bot-api|@grammyjs/)"
)
_OF_COMMAND_LINES = re.compile(rb"[\"'](?:npm:)?(?:commander|yargs|cac|clipanion|oclif|sade)[/\"']")
_NAMED = re.compile(r"[\w.]*bot\.(start|help|settings)\(", re.IGNORECASE)  # of Telegraf
_COMPUTED_NAME = "the name of this command is computed at run time"
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell
_HANDLER = "command"  # the method of a bot or a router that handles a command
_HEAD = 4000  # bytes with the imports of a file

Call = tuple[str, list[Value], Computed]
"""The name, the arguments and the place of a call."""


class Telegram:
    """Reads the handlers and the menus of all files; nothing without a framework of Telegram."""

    def __init__(self, program: Program) -> None:
        """Read the calls; what is computed is not read, unless a menu has all that is public."""
        self._program = program
        self.menus = CodeMenus()
        self.covered: set[Computed] = set()
        self._skipped: list[tuple[str, Computed, str]] = []
        self._libraries = {
            match[1] for file in program.files if (match := _LIBRARY.search(file.data, 0, _HEAD))
        }
        for call in self._calls():
            self._read(*call)

    @property
    def unread(self) -> list[Unread]:
        """The calls that are not read."""
        skipped = [] if self.menus.is_closed else self._skipped
        return [Unread(at.place, reason, Candidate.SHAPE, name) for reason, at, name in skipped]

    def _calls(self) -> Iterator[Call]:
        """Yield each call of the frameworks once."""
        known = set()
        for name, given, at in self._program.calls if self._libraries else ():
            is_other = _OF_COMMAND_LINES.search(at.scope.file.data, 0, _HEAD)
            if given and not is_other and at.node.id not in known:
                known.add(at.node.id)
                yield name, given, at

    def _read(self, name: str, given: list[Value], at: Computed) -> None:
        first = given[0]
        if name == "setMyCommands":
            self._menu(given, at)
        elif name == _HANDLER or (name == "Command" and isinstance(first, str)):
            self._handlers(as_list(first), given, at)
        elif b"telegraf" in self._libraries and (named := _NAMED.match(at.text)):
            self._handlers([] if isinstance(first, Record) else [named[1]], given, at)

    def _handlers(self, names: list[Value], given: list[Value], at: Computed) -> None:
        self.covered.add(at)
        about = fields_of(given[1]).get("description", given[1]) if given[1:] else ""
        for name in names:
            if isinstance(name, str) and name.strip("/ "):
                entry = menu_entry(name.strip().removeprefix("/"), self._text(about), at.place)
                self.menus.handlers.setdefault(entry.name, entry)
            else:
                self._skipped.append(
                    (_COMPUTED_NAME, name if isinstance(name, Computed) else at, "")
                )

    def _menu(self, given: list[Value], at: Computed) -> None:
        """Read a call that sets a menu: its list and options, or one object with both."""
        self.covered.add(at)
        both = fields_of(given[0])
        commands = both.get("commands") if both else given[0]
        key = _audience(both or fields_of(given[1] if given[1:] else None))
        listed = self.menus.menus.setdefault(key, {})
        for part in commands if isinstance(commands, list) else [None]:
            name = fields_of(part).get("command")
            if isinstance(part, Record) and isinstance(name, str) and name.strip("/ "):
                text = self._text(fields_of(part).get("description"))
                add_text(listed, menu_entry(name.strip().removeprefix("/"), text, part.at.place))
            else:
                self.menus.partial.add(key)
                reason = COMPUTED_MENU if part is None else _COMPUTED_NAME
                self._skipped.append((reason, getattr(part, "at", part) or at, ""))

    def _text(self, value: Value) -> str:
        """Return a description; empty if only a run can tell it."""
        return self._program.text_of(value) if isinstance(value, str) else ""


def _audience(options: dict[str, Value]) -> Audience:
    scope = options.get("scope")
    name = fields_of(scope).get("type") if scope else SCOPES[0]
    language = options.get("language_code") or ""
    if isinstance(name, str) and isinstance(language, str):
        return Audience(name, language)
    return _COMPUTED
