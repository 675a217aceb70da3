"""The handlers and the menus of a Telegram bot: grammY, Telegraf and node-telegram-bot-api.

Calls handle a command or set a menu. They count if a file of the bot imports one of the frameworks,
unless the object of the call is known to be another one. A handler of texts is one of a command if
its text or pattern begins with a slash.
"""

import re
from collections.abc import Iterator

from commandsync.records.snapshot import Audience
from commandsync.sources.entry import PartlyRead, UnreadPart, as_list
from commandsync.sources.javascript.program import FunctionCall, Program
from commandsync.sources.javascript.value import (
    Computed,
    Function,
    ImportedValue,
    ObjectValue,
    Value,
    fields_of,
)
from commandsync.sources.telegrammenu import (
    COMPUTED_MENU,
    SCOPES,
    CodeMenus,
    add_text,
    menu_entry,
)

FRAMEWORKS = ("telegraf", "grammy", "@grammyjs/", "node-telegram-bot-api")
"""The packages for bots of Telegram."""

_NAMED = re.compile(r"[\w.]*bot\.(start|help|settings)\(", re.IGNORECASE)  # of Telegraf
_PATTERN = re.compile(r"/\^?(?:\(\?:)?\\/(\w+)(?![\w|*?\[(]).*/[a-z]*", re.DOTALL)
_BEGINS = re.compile(  # a pattern that begins with a slash, as a literal or made of a text
    r"/\^?(?:\(\?:)?\\/|new RegExp\(\s*[\"'`]\^?\\*/"
)
_HANDLER = "command"  # the method of a bot or a router that handles a command
_COMPUTED_NAME = "the name of this command is computed at run time"
_COMPUTED = Audience("computed")  # of a menu whose scope or language only a run can tell


class TelegramScripts:
    """Reads the handlers and the menus of all files; nothing without a framework of Telegram."""

    def __init__(self, program: Program) -> None:
        """Read the calls; a computed part is not read, unless a menu has all public commands."""
        self.menus = CodeMenus()
        self.covered: set[Computed] = set()
        self.partly: list[PartlyRead] = []
        self._program = program
        self._skipped: list[tuple[str, Computed, str]] = []
        self._packages = {
            package
            for package in program.packages
            if any(package == each or package.startswith(each) for each in FRAMEWORKS)
        }
        for call in self._calls():
            self._read(call)

    @property
    def unread(self) -> list[UnreadPart]:
        """The calls that are not read."""
        skipped = [] if self.menus.is_closed else self._skipped
        return [UnreadPart(at.place, reason, name) for reason, at, name in skipped]

    def _calls(self) -> Iterator[FunctionCall]:
        """Yield each call that may belong to a framework, once."""
        known = set()
        for call in self._program.calls if self._packages else ():
            owner = call.owner
            is_other = isinstance(owner, ImportedValue) and not (
                owner.is_file or owner.is_of(*FRAMEWORKS)
            )
            if is_other:
                self.covered.add(call.at)
            elif call.given and call.at.node.id not in known:
                known.add(call.at.node.id)
                yield call

    def _read(self, call: FunctionCall) -> None:
        name, given, at, _ = call
        match name:
            case "setMyCommands":
                self._menu(given, at)
            case _ if name == _HANDLER:
                self._handlers(as_list(given[0]), given, at)
            case "Command" if isinstance(given[0], str):  # of a plug-in of grammY
                self._handlers(given[:1], given, at)
            case "hears" | "onText":
                self._patterns(as_list(given[0]), at)
            case "start" | "help" | "settings" if "telegraf" in self._packages:
                if (named := _NAMED.match(at.text)) and not isinstance(given[0], ObjectValue):
                    self._handlers([named[1]], given, at)

    def _patterns(self, patterns: list[Value], at: Computed) -> None:
        """Read a handler of texts; one whose pattern begins with a slash is a command."""
        for pattern in patterns:
            text = pattern if isinstance(pattern, str) else getattr(pattern, "text", "")
            if isinstance(pattern, str) and re.match(r"/\w+", text):
                self._handlers([text.split()[0]], [pattern], at)
            elif isinstance(pattern, Computed) and (named := _PATTERN.fullmatch(text)):
                self._handlers([named[1]], [pattern], at)
            elif isinstance(pattern, Computed) and _BEGINS.match(text):
                self.covered.add(at)
                self._skipped.append(("the pattern of this handler is not read", pattern, ""))

    def _handlers(self, names: list[Value], given: list[Value], at: Computed) -> None:
        self.covered.add(at)
        about = fields_of(given[1]).get("description", given[1]) if given[1:] else ""
        for name in names:
            if isinstance(name, str) and name.strip("/ "):
                entry = menu_entry(
                    name.strip().removeprefix("/"), self._text(about, name), at.place
                )
                self.menus.handlers.setdefault(entry.name, entry)
            else:
                place = name if isinstance(name, Computed) else at
                self._skipped.append((_COMPUTED_NAME, place, ""))

    def _menu(self, given: list[Value], at: Computed) -> None:
        """Read a call that sets a menu: its list and options, or one object with both."""
        self.covered.add(at)
        both = fields_of(given[0])
        commands = both.get("commands") if both else given[0]
        key = _audience(both or fields_of(given[1] if given[1:] else None))
        listed = self.menus.menus.setdefault(key, {})
        for part in commands if isinstance(commands, list) else [None]:
            name = fields_of(part).get("command")
            if isinstance(part, ObjectValue) and isinstance(name, str) and name.strip("/ "):
                text = self._text(fields_of(part).get("description"), name)
                add_text(listed, menu_entry(name.strip().removeprefix("/"), text, part.at.place))
            else:
                self.menus.partial.add(key)
                reason = COMPUTED_MENU if part is None else _COMPUTED_NAME
                self._skipped.append((reason, getattr(part, "at", part) or at, ""))

    def _text(self, value: Value, name: str) -> str:
        """Return the description of a command; empty if only a run can tell it."""
        if isinstance(value, Computed) and not isinstance(value, Function):
            reason = "the description is computed at run time"
            self.partly.append(PartlyRead(value.place, reason, name.strip().removeprefix("/")))
        known = self._program.text_of(value) if isinstance(value, str) else ""
        return value if known is None else known


def _audience(options: dict[str, Value]) -> Audience:
    scope = options.get("scope")
    name = fields_of(scope).get("type") if scope else SCOPES[0]
    language = options.get("language_code") or ""
    if isinstance(name, str) and isinstance(language, str):
        return Audience(name, language)
    return _COMPUTED
