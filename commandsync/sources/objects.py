"""The platform's own objects of commands: what an import keeps of them, and where commands are.

Kept is what a request that creates a command has in Discord's documentation, and the id. The rest
belongs to people, to one server or to one registration, or is not Discord's.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

from commandsync.records.snapshot import Levels, Node
from commandsync.sources.applicationcommands import KEYS, NESTING, spelled, type_number
from commandsync.sources.jsonfile import text_of

_TEXTS = frozenset({"name", "description"})
_LANGUAGES = frozenset(f"{text}_localizations" for text in _TEXTS)
_SHOWN = {f"{text}_localized" for text in _TEXTS}  # to one user
_COMMAND = KEYS["command"] - _SHOWN - {"application_id", "category", "guild_id", "version"}
_OPTION = KEYS["option"] - _SHOWN - {"nsfw"}
_MEMBERS = {"options": _OPTION, "choices": frozenset({"name", "name_localizations", "value"})}
_DEEPEST = 4  # command > group > sub-command > option > choice


def kept(content: Node) -> dict[str, Any]:
    """Return what is kept of an object, with Discord's keys in their order and numbers as types."""
    return {"type": type_number(None, "command"), **_kept(content, _COMMAND, 0)}


def _kept(content: Node, keys: frozenset[str], depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {}
    for key, value in sorted(spelled(content).items()):
        if key not in keys or value is None:
            continue
        if key in _MEMBERS:
            node |= _members(key, value, depth + 1)
        elif key == "type":
            node[key] = type_number(value, "option" if depth else "command")
        elif _is_sound(key, value):
            node[key] = value
    return node


def _members(key: str, value: object, depth: int) -> dict[str, Any]:
    objects = value if isinstance(value, list) and depth <= _DEEPEST else []
    members = [_kept(each, _MEMBERS[key], depth) for each in objects if isinstance(each, dict)]
    return {key: members} if members else {}


def _is_sound(key: str, value: object) -> bool:
    """Whether a value is of the type that its key has at Discord, as far as that is simple."""
    if key in _LANGUAGES:
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    if key in _TEXTS:
        return isinstance(value, str)
    return all(
        isinstance(each, str | int) or (isinstance(each, float) and math.isfinite(each))
        for each in (value if isinstance(value, list) else [value])
    )


def order_of(content: Node) -> tuple[str, str]:
    """Return the place of an object in a sorted list: slash commands first, by name."""
    return str(content["type"]), text_of(content, "name")


def by_name(objects: Iterable[Node]) -> dict[str, Levels]:
    """Return where each command and group of objects is, by its name in any language.

    Of equal names that of the default language counts, and then that of a slash command.
    """
    found = [levels for each in sorted(objects, key=order_of) for levels in _levels(each)]
    locales = {
        locale
        for levels in found
        for node in levels
        for locale in node.get("name_localizations", ())
    }
    names: dict[str, Levels] = {}
    for locale in ("", *sorted(locales)):
        for levels in found:
            name = " ".join(
                text_of(node.get("name_localizations", {}), locale) or text_of(node, "name")
                for node in levels
            )
            names.setdefault(name, levels)
    return names


def _levels(node: Node, above: Levels = ()) -> Iterator[Levels]:
    """Yield the levels down to a node, and to all below it; a group has `options` without any."""
    options = node.get("options", ())
    nested = [option for option in options if option.get("type") in NESTING]
    levels = (*above, {**node, "options": ()} if nested else node)
    yield levels
    for option in nested:
        yield from _levels(option, levels)
