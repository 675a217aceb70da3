"""Discord's own object of one command, as a source says it: the kept keys, complete or nothing.

Bots' own exports spell keys in camel case, and types as words: all of that is read (`spelled`).
Kept are the keys of a request that creates a command in Discord's documentation, and the id.
"""

import math
import re
from functools import lru_cache
from typing import Any

from commandsync.records.snapshot import Node

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
_COMMAND = KEYS["command"] - _SHOWN - {"application_id", "category", "guild_id", "version"}
_OPTION = KEYS["option"] - _SHOWN - {"nsfw"}
_MEMBERS = {"options": _OPTION, "choices": frozenset({"name", "name_localizations", "value"})}
_COMMAND_TYPES, _MENU_TYPES, _OPTION_TYPES = range(1, 5), range(2, 4), range(1, 12)
_DEEPEST = 4  # command > group > sub-command > option > choice


def object_of(*levels: Node) -> Node | None:
    """Return the object of a command; of a sub-command the one of its group, with it alone.

    The levels lead from the command down to the sub-command. None if something is missing that
    Discord requires.
    """
    *above, content = levels
    for group in reversed(above):
        content = {**group, "options": [content]}
    node = {"type": type_number(None, "command"), **_kept(content, _COMMAND, 0)}
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
