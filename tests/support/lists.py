"""Lists of commands as services accept them, checked without the package's own rules."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

SUB_COMMAND, GROUP = 1, 2


def discord_problems(array: list[dict[str, Any]], *, description: int = 100) -> list[str]:
    """Return what Discord's documentation does not allow in an array of commands."""
    return list(_problems(array, level=0, description=description))


def _problems(nodes: list[dict[str, Any]], *, level: int, description: int) -> Iterator[str]:
    names = [node["name"] for node in nodes]
    if len(set(names)) != len(names):
        yield f"a name is there twice: {names}"
    if level and not 1 <= len(nodes) <= 25:
        yield f"{len(nodes)} options"
    for node in nodes:
        inner = node.get("options")
        yield from _texts(node, description)
        if node.keys() - {"options"} != {"name", "description", "type"}:
            yield f"keys: {node}"
        if node["type"] != (GROUP if level and inner is not None else SUB_COMMAND):
            yield f"type: {node}"
        if inner is not None:
            yield from _problems(inner, level=level + 1, description=description)
            yield from ["too deep"] * (level == 2)


def _texts(node: dict[str, Any], description: int) -> Iterator[str]:
    name = node["name"]
    if not (1 <= utf16(name) <= 32 and all(map(is_in_discord_names, name))) or name != name.lower():
        yield f"name: {node}"
    if not 1 <= utf16(node["description"]) <= description:
        yield f"description: {node}"


def is_in_discord_names(character: str) -> bool:
    """Return whether a name of Discord can have a character, by Unicode's names of its scripts."""
    if character in "-_'" or unicodedata.category(character)[0] in "LN":
        return True
    name = unicodedata.name(character, "")
    return "DEVANAGARI" in name or name.startswith("THAI CHARACTER ")


def telegram_problems(array: list[dict[str, Any]]) -> list[str]:
    """Return what Telegram's documentation does not allow in a list of commands."""
    found = [
        str(each)
        for each in array
        if each.keys() != {"command", "description"}
        or not re.fullmatch("[a-z0-9_]{1,32}", each["command"], re.ASCII)
        or not 1 <= utf16(each["description"]) <= 256
    ]
    names = [each["command"] for each in array]
    return found + ["too many"] * (len(array) > 100) + ["twice"] * (len(set(names)) < len(names))


def leaves(nodes: list[dict[str, Any]], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name and description of each command, group and sub-command of an array."""
    for node in nodes:
        yield above + node["name"], node["description"]
        yield from leaves(node.get("options", []), f"{above}{node['name']} ")


def utf16(text: str) -> int:
    """Return a length as JavaScript counts it."""
    return sum(2 if ord(character) > 0xFFFF else 1 for character in text)
