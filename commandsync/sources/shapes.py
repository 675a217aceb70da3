"""Where the commands of a JSON file are: in lists, in wrappers, by their categories or names."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from commandsync.sources.jsonfile import JsonValue
from commandsync.sources.listfile import SIGNS, USUAL

_WRAPPERS = ("commands", "slash_commands")
_LISTS = frozenset({"all", "data", "items", "list", "results"})  # names that are not categories
_EXPECTED = "expected a list of commands, or one command"
_DEEPEST = 4  # categories and wrappers in each other
_KNOWN = frozenset(chain.from_iterable(USUAL.values()))


class Found(NamedTuple):
    """A command of a file: an object, to which its name is added if that is its key."""

    value: JsonValue
    category: str = ""  # the key of the list or object that it is in, if that is its category
    is_named: bool = False  # by its key


def commands_in(
    value: JsonValue, category: str = "", *, with_help: bool, depth: int = 0
) -> Iterator[Found]:
    """Yield each command of a file, whatever it is in; a text is one only in a category.

    Args:
        value: The file's value.
        category: The category of what is in it.
        with_help: Whether a text may be the help of the command that its key names. In a folder
            it may not: another file of the bot, such as its configuration, has texts too.
        depth: How many objects it is in.

    Raises:
        FileError: It has something else than commands.
    """
    if depth > _DEEPEST:
        raise value.problem("the commands are nested too deep", _EXPECTED)
    match value.content:
        case list():
            for member in value.members().values():
                yield from _member(member, category, with_help=with_help, depth=depth)
        case dict():
            yield from _object(value, category, with_help=with_help, depth=depth)
        case _:
            raise value.problem("not a list of commands", _EXPECTED)


def _member(value: JsonValue, category: str, *, with_help: bool, depth: int) -> Iterator[Found]:
    """Yield a command of a list, or those of a category with its name and its commands."""
    if not isinstance(value.content, dict):
        raise value.problem("not a command", _EXPECTED)
    inner = value.members().get("commands")
    if inner is None or not isinstance(inner.content, list | dict):
        yield Found(value, category)
        return
    names = (value.content.get(key) for key in ("category", "name", "title", "label", "id"))
    name = next((name for name in names if isinstance(name, str) and name), category)
    yield from commands_in(inner, name, with_help=with_help, depth=depth + 1)


def _object(root: JsonValue, category: str, *, with_help: bool, depth: int) -> Iterator[Found]:
    members = root.members()
    nested = {key: part for key, part in members.items() if isinstance(part.content, list | dict)}
    wrapping = {key: category for key in _WRAPPERS if key in nested} or {
        key: category for key in nested.keys() & _LISTS if isinstance(nested[key].content, list)
    }
    if not wrapping and isinstance(root.content.get("name"), str):
        yield Found(root, category)
    elif not wrapping and all(_is_command(part.content) for part in nested.values()):
        yield from _named(members, root, category, with_help=with_help and depth > 0)
    else:
        for key, above in (wrapping or {key: key for key in nested}).items():
            yield from commands_in(nested[key], above, with_help=with_help, depth=depth + 1)


def _named(
    members: Mapping[str, JsonValue], root: JsonValue, category: str, *, with_help: bool
) -> Iterator[Found]:
    """Yield the commands of an object whose keys are their names."""
    kinds = (dict, str) if with_help else (dict,)
    named = {key: part for key, part in members.items() if isinstance(part.content, kinds)}
    if not named or (with_help and len(named) < len(members)):
        raise root.problem("contains something else than commands, or nothing", _EXPECTED)
    for key, part in named.items():
        fields = part.content if isinstance(part.content, dict) else {"description": part.content}
        yield Found(replace(part, content={"name": key, **fields}), category, is_named=True)


def _is_command(content: object) -> bool:
    keys = {key.casefold() for key in content} if isinstance(content, dict) else set()
    return bool(keys & SIGNS) or (bool(keys) and keys <= _KNOWN)
