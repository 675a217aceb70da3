"""Where the commands of a JSON file are: in lists, in wrappers, by their categories or names."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from commandsync.sources.jsonfile import JsonValue
from commandsync.sources.listfile import KNOWN, SIGNS

_WRAPPERS = frozenset({"all", "commands", "data", "items", "list", "results", "slash_commands"})
_NAMES = ("category", "name", "title", "label", "id")  # of a category in a list
_EXPECTED = "expected a list of commands, or one command"
_DEEPEST = 4  # categories and wrappers in each other


class Found(NamedTuple):
    """A command of a file, with its name if that is its key; or what contains commands."""

    value: JsonValue
    category: str = ""  # the key of what it is in, if that is its category
    is_keyed: bool = False  # whether its name or its category is a key
    is_command: bool = False
    depth: int = 0  # how many objects it is in


def commands_in(root: JsonValue, category: str = "", *, with_help: bool) -> Iterator[Found]:
    """Yield each command of a file, whatever it is in.

    The `category` is that of commands that have none. If `with_help`, a text in a category is the
    help of the command that its key names; in a folder it is not: other files of a bot, as its
    configuration, have texts too. Raises `FileError` if the file has something other than commands.
    """
    waiting = [Found(root, category)]
    while waiting:
        found = waiting.pop()
        if found.is_command:
            yield found
        elif isinstance(found.value.content, list):
            waiting += [_listed(found, member) for member in found.value.members().values()][::-1]
        elif isinstance(found.value.content, dict) and found.depth < _DEEPEST:
            waiting += _of_object(found, with_help=with_help and found.depth > 0)[::-1]
        else:
            raise found.value.problem("not a list of commands", _EXPECTED)


def _listed(found: Found, member: JsonValue) -> Found:
    """Return a member of a list: a command, or a category with a name and its commands."""
    if not isinstance(member.content, dict):
        raise member.problem("not a command", _EXPECTED)
    if not isinstance(member.content.get("commands"), list | dict):
        return found._replace(value=member, is_command=True)
    names = (member.content.get(key) for key in _NAMES)
    name = next((name for name in names if isinstance(name, str) and name), found.category)
    inner = member.members()["commands"]
    return Found(inner, name, is_keyed=True, depth=found.depth + 1)


def _of_object(found: Found, *, with_help: bool) -> list[Found]:
    nested = _with_type(found.value, list, dict)
    deeper = found._replace(depth=found.depth + 1)
    if wrapping := [nested[key] for key in nested if key in _WRAPPERS]:
        return [deeper._replace(value=part) for part in wrapping]
    if isinstance(found.value.content.get("name"), str):
        return [found._replace(is_command=True)]
    if not all(map(_is_command, nested.values())):  # categories
        return [deeper._replace(value=nested[key], category=key, is_keyed=True) for key in nested]
    return _named(found, with_help=with_help)


def _named(found: Found, *, with_help: bool) -> list[Found]:
    """Return the commands of an object whose keys are their names."""
    named = _with_type(found.value, dict, *([str] if with_help else []))
    if not named or (with_help and len(named) < len(found.value.content)):
        message = "contains something other than commands, or nothing"
        raise found.value.problem(message, _EXPECTED)
    commands = []
    for name, part in named.items():
        fields = part.content if isinstance(part.content, dict) else {"description": part.content}
        value = replace(part, content={"name": name, **fields})
        commands.append(found._replace(value=value, is_keyed=True, is_command=True))
    return commands


def _with_type(root: JsonValue, *kinds: type) -> dict[str, JsonValue]:
    return {key: part for key, part in root.members().items() if isinstance(part.content, kinds)}


def _is_command(part: JsonValue) -> bool:
    keys = {key.casefold() for key in part.content} if isinstance(part.content, dict) else set()
    return bool(keys & SIGNS) or (bool(keys) and keys <= KNOWN)
