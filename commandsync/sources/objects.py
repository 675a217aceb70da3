"""Discord's own objects of commands, as its interface, bots' exports and frameworks write them.

The structure comes from Discord's documentation of application commands. Exports leave out defaults
or write null for them, spell keys in camel case, and types as words: all of that is read
(`spelled`). `object_of` returns the object of one command, complete or nothing: it keeps the keys
of a request that creates a command, and the id. `CommandReader` makes entries of objects.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.records.snapshot import NESTING, Node
from commandsync.records.texts import MENU_DESCRIPTIONS, with_article
from commandsync.sources.entry import (
    NO_DESCRIPTION,
    Parameter,
    SourceEntry,
    literal,
    slash_syntax,
    text_of,
    traits_of,
)

_CAPITAL = re.compile("(?<=[a-z])[A-Z]")
_WORDS = {  # types as frameworks spell them, in lower case and without underscores, from 1 on
    "command": ("chatinput", "user", "message", "primaryentrypoint"),
    "option": (
        *("subcommand", "subcommandgroup", "string", "integer", "boolean", "user"),
        *("channel", "role", "mentionable", "number", "attachment"),
    ),
}
_DEFAULT_TYPES = {"command": 1, "option": 0}
TEXTS = frozenset(
    f"{text}{form}"
    for text in ("name", "description")
    for form in ("", "_localized", "_localizations")
)
KEYS = {
    "command": TEXTS
    | {"category", "id", "application_id", "guild_id", "version", "type", "options", "handler"}
    | {"nsfw", "default_permission", "default_member_permissions", "dm_permission"}
    | {"contexts", "integration_types"},
    "option": TEXTS
    | {"type", "required", "options", "choices", "autocomplete", "channel_types", "file_types"}
    | {"min_value", "max_value", "min_length", "max_length", "nsfw"},
}
_TEXTS = frozenset({"name", "description"})
_LANGUAGES = frozenset(f"{text}_localizations" for text in _TEXTS)
_SHOWN = {f"{text}_localized" for text in _TEXTS}  # to one user
_KEPT = KEYS["command"] - _SHOWN - {"application_id", "category", "guild_id", "version"}
_OPTION = KEYS["option"] - _SHOWN - {"nsfw"}
_MEMBERS = {"options": _OPTION, "choices": frozenset({"name", "name_localizations", "value"})}
_COMMAND_TYPES, _MENU_TYPES, _OPTION_TYPES = range(1, 5), range(2, 4), range(1, 12)
_DEEPEST = 4  # command > group > sub-command > option > choice


def object_of(*levels: Node) -> Node | None:
    """Return the object of a command, or of a group with one sub-command alone.

    The levels lead from the command down to the sub-command. None if something is missing that
    Discord requires.
    """
    *above, content = levels
    for group in reversed(above):
        content = {**group, "options": [content]}
    node = {"type": type_number(None, "command"), **_kept(content, _KEPT, 0)}
    return node if _is_complete(node) else None


def _kept(content: Node, keys: frozenset[str], depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for key, value in sorted(spelled(content).items()):
        if key not in keys or value is None or (key, value) == ("description", ""):
            continue  # a menu has no description: Discord returns an empty one
        if key in _MEMBERS:
            node |= _members(key, value, depth + 1)
        elif key == "type":
            node[key] = type_number(value, "option" if depth else "command")
        elif _is_sound(key, value):
            node[key] = value
    return node


def _members(key: str, value: object, depth: int) -> dict[str, Any]:
    objects = value if isinstance(value, list) and depth <= _DEEPEST else []
    members = [_kept(part, _MEMBERS[key], depth) for part in objects if isinstance(part, dict)]
    return {key: members} if members else {}


def _is_sound(key: str, value: object) -> bool:
    """Whether a value is of the type that its key has at Discord, as far as that is simple."""
    if key in _LANGUAGES:
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    if key in _TEXTS:
        return isinstance(value, str)
    return all(
        isinstance(part, str | int) or (isinstance(part, float) and math.isfinite(part))
        for part in (value if isinstance(value, list) else [value])
    )


def _is_complete(node: Node, depth: int = 0) -> bool:
    """Whether an object has all that Discord requires of a command, or of an option in it."""
    kind = node.get("type")
    return (
        kind in (_OPTION_TYPES if depth else _COMMAND_TYPES)
        and bool(node.get("description") or (not depth and kind in _MENU_TYPES))
        and all("value" in choice for choice in node.get("choices", ()))
        and all(_is_complete(option, depth + 1) for option in node.get("options", ()))
    )


def spelled(content: Node) -> Node:
    """Return an object of discord.js, whose keys may be in camel case, with Discord's keys."""
    return {spelled_key(key): member for key, member in content.items()}


@lru_cache(1000)
def spelled_key(key: str) -> str:
    """Return a key in Discord's spelling."""
    return _CAPITAL.sub(r"_\g<0>", key).lower()


def type_number(value: object, what: str) -> int | str:
    """Return a type as its number if it has one, else as it is written."""
    match value:
        case None:
            return _DEFAULT_TYPES[what]
        case str():
            word = value.replace("_", "").casefold()
            return _WORDS[what].index(word) + 1 if word in _WORDS[what] else value
        case int() | float() if not isinstance(value, bool):
            return int(value) if value in range(1000) else str(value)
        case _:  # not shown: it may be nested too deep for that
            return type(value).__name__


_MOST_LEVELS = 3  # command > group > sub-command
_COMMAND, _USER, _MESSAGE, _ENTRY_POINT = range(1, 5)
_GROUP = 2

_MENUS = {_USER: "user", _MESSAGE: "message"}
_ONLY_DISCORDS = (TEXTS - {"name", "description"}) | {
    *("application_id", "guild_id", "default_permission", "default_member_permissions"),
    *("dm_permission", "contexts", "integration_types"),
}
_EMPTY = "groups without a sub-command"
_NOTES = {
    "unknown keys of commands": "they are ignored",
    "unknown keys of options": "they are ignored",
    "unknown types of commands": "their syntax is only the name",
    "unknown types of options": "they are read as the other options are",
    _EMPTY: "they cannot be called, and are left out",
}
_OWN_LIST = "in a list of your own, map its keys to name, description, syntax and category"
_MOST_NAMED = 10  # in one note
_LONGEST_NAMED = 100  # characters


class CommandReader:
    """Reads application commands one by one, and gathers notes.

    A text without a localization for the locale is the default one.
    """

    def __init__(self, locale: str = "") -> None:
        self._locale = locale.replace("_", "-").casefold()
        self._given = locale
        self._localized = False
        self._seen: dict[str, dict[str, Location | None]] = {kind: {} for kind in _NOTES}

    def entries(
        self, content: object, place: Location | None, *, folder: str | None = None
    ) -> Iterator[SourceEntry]:
        """Yield the commands that users can call of one: itself, or each of its sub-commands.

        Their category is its own, else the `folder`. Raises `FileError`, without the place, if it
        is not an application command.
        """
        command = self._node(content, place, "command")
        for path in self._callable((command,), place):
            yield self._entry(path, place, folder)

    def notes(self) -> tuple[Notice, ...]:
        """Return the notes so far."""
        notes = []
        for kind, places in self._seen.items():
            if places:
                names = ", ".join(map(repr, islice(places, _MOST_NAMED)))
                more = " and more" if len(places) > _MOST_NAMED else ""
                place = next(iter(places.values()))
                notes.append(Notice(f"{kind}: {names}{more}", _NOTES[kind], place))
        if self._locale and not self._localized:
            message = f"no text has a localization for {self._given!r}"
            hint = "Discord's locales are de, en-GB, pt-BR ...; the default texts were used"
            notes.append(Notice(message, hint))
        return tuple(notes)

    def _callable(
        self, path: tuple[Node, ...], place: Location | None
    ) -> Iterator[tuple[Node, ...]]:
        """Yield the path to each node that can be called; one that has sub-commands cannot."""
        node, options = path[-1], self._options(path[-1], place)
        nested = [option for option in options if option["type"] in NESTING]
        if nested and len(path) == _MOST_LEVELS:
            raise FileError("its sub-commands are nested deeper than Discord allows")
        if not nested and len(path) > 1 and node["type"] == _GROUP:
            self._note(_EMPTY, text_of(node, "name"), place)
        elif not nested:
            yield path
        for option in nested:
            yield from self._callable((*path, option), place)

    def _node(self, content: object, place: Location | None, what: str) -> Node:
        node = spelled(content) if isinstance(content, dict) else {}
        if not text_of(node, "name"):
            message = f"not an application command: {with_article(what)} has no name"
            raise FileError(message, hint=_OWN_LIST)
        for key in node:
            if key not in KEYS[what]:
                self._note(f"unknown keys of {what}s", key, place)
        return {**node, "type": type_number(node.get("type"), what)}

    def _note(self, kind: str, text: object, place: Location | None) -> None:
        places, name = self._seen[kind], redacted(str(text))[:_LONGEST_NAMED]
        if len(places) <= _MOST_NAMED:
            places.setdefault(name, place)

    def _options(self, node: Node, place: Location | None) -> list[Node]:
        options = [] if node.get("options") is None else node["options"]
        if not isinstance(options, list):
            raise FileError("not an application command: its options are not a list")
        return [self._node(option, place, "option") for option in options]

    def _entry(
        self, path: tuple[Node, ...], place: Location | None, folder: str | None
    ) -> SourceEntry:
        command, node = path[0], path[-1]
        kind, group = command["type"], self._shown(command, "name") if len(path) > 1 else None
        name = " ".join(self._shown(step, "name") for step in path)
        unsaid = MENU_DESCRIPTIONS[_MENUS[kind]] if kind in _MENUS else NO_DESCRIPTION
        description = self._shown(node, "description")
        is_slash = kind in {_COMMAND, _ENTRY_POINT}
        if not is_slash and kind not in _MENUS:
            self._note("unknown types of commands", kind, place)
        return SourceEntry(
            name=name,
            description=unsaid if description in {"", NO_DESCRIPTION} else description,
            syntax=slash_syntax(name, self._parameters(node, place)) if is_slash else literal(name),
            category=text_of(command, "category") or folder or group,
            place=place,
            traits=traits_of({key: command[key] for key in KEYS["command"] & command.keys()}),
            discord=object_of(*path),
        )

    def _parameters(self, node: Node, place: Location | None) -> Iterator[Parameter]:
        for option in self._options(node, place):
            name = self._shown(option, "name")
            if (kind := option["type"]) not in _OPTION_TYPES:
                self._note("unknown types of options", kind, place)
            choices = option.get("choices")
            names = (
                self._shown(spelled(choice), "name") if isinstance(choice, dict) else ""
                for choice in (choices if isinstance(choices, list) else ())
            )
            required = option.get("required") is True
            yield Parameter(name=name, required=required, choices=tuple(names))

    def _shown(self, node: Node, key: str) -> str:
        """Return a text in the language that is asked for, else the default text."""
        known = node.get(f"{key}_localizations")
        texts = known if self._locale and isinstance(known, dict) else {}
        for locale in sorted(texts):
            # `en` fits `en-GB` after `en` itself, and `en-GB` no other.
            fits = self._locale in {locale.casefold(), locale.casefold().partition("-")[0]}
            if fits and (text := text_of(texts, locale)):
                self._localized = True
                return text
        return text_of(node, key)


def is_discords(content: Node) -> bool:
    """Whether an object has something that only Discord's commands have."""
    node = spelled(content)
    kind, options = type_number(node.get("type"), "command"), node.get("options")
    is_typed = node.get("type") is not None and isinstance(kind, int)
    has_options = isinstance(options, list) and all(isinstance(option, dict) for option in options)
    return is_typed or has_options or not _ONLY_DISCORDS.isdisjoint(node)


class CommandKey(NamedTuple):
    """Which command of a bot an object is."""

    command: tuple[str, int | str]  # its name and its type
    is_of_server: bool  # whether only one server has it
    is_entry_point: bool  # whether it opens the bot's activity


def command_key(content: Node) -> CommandKey:
    """Return which command of a bot an object is."""
    node = spelled(content)
    kind = type_number(node.get("type"), "command")
    return CommandKey(
        (text_of(node, "name"), kind), bool(node.get("guild_id")), kind == _ENTRY_POINT
    )
