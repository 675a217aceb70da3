"""Commands in a JSON file, which may have any shape, with the places of its values.

The commands are found in lists and wrappers, by their categories or names (`commands_in`). A
command there is Discord's or one of a custom list; all commands of a source decide it for those
that may be either (`of_json`). Every problem with a file is one error with its place.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from commandsync.api.content import TooManyValuesError, decode_json
from commandsync.diagnostics import Hint, Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.listfile import (
    KNOWN,
    OWN,
    SIGNS,
    columns_of,
    member_at,
    row_entry,
    value_at,
)
from commandsync.sources.objects import CommandReader, command_key, is_discords
from commandsync.sources.sourcefile import check_number

_WRAPPERS = frozenset({"all", "commands", "data", "items", "list", "results", "slash_commands"})
_NAMES = ("category", "name", "title", "label", "id")  # of a category in a list
_EXPECTED_CONTENT = "expected a list of commands, or one command"
_DEEPEST = 4  # categories and wrappers in each other

_UNDECIDED = (
    "nothing says whether these are slash commands: they are read as Discord's",
    'add "type": 1 to slash commands, or "usage" or "category" to those of a list of your own',
)
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()
_REASONS: dict[type[Exception], str] = {
    RecursionError: "it is nested too deeply",
    UnicodeDecodeError: "it is not UTF-8, UTF-16 or UTF-32",
}


class JsonFile:
    """The text of a JSON file; without a path its values have no place.

    Raises:
        FileError: It is not valid JSON, is nested too deep, or has too many values.
    """

    def __init__(self, data: bytes, path: str) -> None:
        self.path, name = path, path or "the answer"
        try:
            self.text = decode_json(data)
            content = json.loads(self.text)
        except json.JSONDecodeError as error:
            place = Location(name, error.lineno, error.colno)
            raise FileError(f"{place}: not valid JSON: {error.msg.lower()}") from error
        except TooManyValuesError as error:
            raise FileError(f"{name} is too large: {error}") from error
        except (ValueError, RecursionError) as error:
            why = _REASONS.get(type(error), "a number has too many digits")
            raise FileError(f"{name} is not valid JSON: {why}") from error
        self.root = JsonValue(content, _skip(self.text, 0), self)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def location(self, at: int) -> Location | None:
        """Return the place of a character, given its index in the text."""
        if not self.path:
            return None
        line = bisect_right(self._line_starts, at)
        return Location(self.path, line, at - self._line_starts[line - 1] + 1)


@dataclass(frozen=True, slots=True)
class JsonValue:
    """A value of a JSON file: its content, and the index of its first character."""

    content: Any
    at: int
    file: JsonFile

    @property
    def place(self) -> Location | None:
        """Where it begins."""
        return self.file.location(self.at)

    def members(self) -> dict[Any, "JsonValue"]:
        """Return the members of an object by their keys, or of a list by their indices."""
        text, at = self.file.text, _skip(self.file.text, self.at + 1)
        members: dict[Any, JsonValue] = {}
        while text[at] not in "]}":
            key: Any = len(members)
            if text[self.at] == "{":
                key, at = _DECODER.raw_decode(text, at)
                at = _skip(text, _skip(text, at) + 1)  # the colon
            if key in members:
                raise self.problem(f"the key {key!r} is defined twice")
            content, end = _DECODER.raw_decode(text, at)
            members[key] = JsonValue(content, at, self.file)
            at = _skip(text, end)
            if text[at] == ",":
                at = _skip(text, at + 1)
        return members

    def problem(self, message: str, hint: str | Hint = "") -> FileError:
        """Return an error about it."""
        return FileError(f"{self.place or 'the answer'}: {message}", hint=hint)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


class FoundCommand(NamedTuple):
    """A command of a file, with its name if that is its key; or a list or object of commands."""

    value: JsonValue
    category: str = ""  # the key of the object around it, if that is its category
    is_keyed: bool = False  # whether its name or its category is a key
    is_command: bool = False
    depth: int = 0  # how many objects it is in


def of_json(
    data: Mapping[str, bytes], *, columns: Mapping[str, str], locale: str, folder: str = ""
) -> SourceReading:
    """Read JSON files, by their paths.

    With a `folder`, a file in a folder below it has the name of that one as category. A command is
    Discord's if it has something that only Discord's have, or if nothing in the source says else.

    Raises:
        FileError: It is not JSON with commands, or a mapped column is in none of them.
        UsageError: `columns` has a key that is not a field.
    """
    mapped, reader = columns_of(columns), CommandReader(locale)
    found = [*chain.from_iterable(_commands_of(path, data[path], folder) for path in data)]
    found = _without_others(found, columns)
    kinds = {_is_own(command, columns) for command in found}
    entries: list[SourceEntry] = []
    for command in found:
        value, category, is_own = command.value, command.category, _is_own(command, columns)
        if kinds == {True, None} or is_own:
            entries.append(row_entry(value.content, mapped, value.place, category or None))
        else:
            read = _of_discord(reader, value, category)
            # The object of a command that may also be one of a custom list is not known.
            entries += read if is_own is False else [replace(each, discord=None) for each in read]
        check_number(len(entries), value.file.path)
    _check_columns(columns if True in kinds else {}, [command.value for command in found])
    unclear = Notice(*_UNDECIDED, found[0].value.place) if kinds == {None} else None
    notes = filter(None, [*reader.notes(), unclear])
    return SourceReading(entries=tuple(entries), notes=tuple(notes), files=tuple(data))


def _without_others(
    found: Sequence[FoundCommand], columns: Mapping[str, str]
) -> list[FoundCommand]:
    """Return the commands but those that a list of a bot's commands never has.

    These are Entry Point commands, and a server's command with the name and type of a global one,
    in place of which that server sees it.
    """
    keys = [
        None if _is_own(command, columns) else command_key(command.value.content)
        for command in found
    ]
    every = {key.command for key in keys if key and not key.is_of_server}
    return [
        command
        for command, key in zip(found, keys, strict=True)
        if not key or not (key.is_entry_point or (key.is_of_server and key.command in every))
    ]


def _of_discord(reader: CommandReader, value: JsonValue, folder: str) -> list[SourceEntry]:
    try:
        return list(reader.entries(value.content, value.place, folder=folder))
    except FileError as error:
        raise value.problem(error.message, error.hint) from None


def _commands_of(path: str, content: bytes, folder: str) -> Iterator[FoundCommand]:
    """Yield the commands of a file, those in a folder below with its name as their category."""
    above = PurePosixPath(path).parent
    category = above.name if folder and above != PurePosixPath(folder) else ""
    yield from commands_in(JsonFile(content, path).root, category, with_help=not folder)


def _is_own(command: FoundCommand, columns: Mapping[str, str]) -> bool | None:
    """Whether a command belongs to a custom list; False for Discord's, None if it may be either."""
    content = command.value.content
    if value_at(content, columns.get("syntax", "syntax")) is None and is_discords(content):
        return False
    name = content.get("name")
    says_nothing = not isinstance(name, str) or (name == name.lower() and " " not in name.strip())
    has_own = any(value_at(content, key) is not None for key in (*columns.values(), *OWN))
    has_own = has_own or isinstance(content.get("type"), str)  # of its own, such as "slash"
    return True if has_own or command.is_keyed or not says_nothing else None


def _check_columns(columns: Mapping[str, str], rows: Sequence[JsonValue]) -> None:
    """Raise a `FileError` if no command has a column that is mapped."""
    for field, column in columns.items():
        if all(member_at(row.content, column) is None for row in rows):
            hint = f"map the one that contains the {field}, under columns: in import:"
            raise rows[0].problem(f"no command has the key {column!r}", hint)


def commands_in(root: JsonValue, category: str = "", *, with_help: bool) -> Iterator[FoundCommand]:
    """Yield each command of a file, whatever it is in.

    The `category` is that of commands that have none. If `with_help`, a text in a category is the
    help of the command that its key names; in a folder it is not: other files of a bot, as its
    configuration, have texts too. Raises `FileError` if the file has something other than commands.
    """
    waiting = [FoundCommand(root, category)]
    while waiting:
        found = waiting.pop()
        if found.is_command:
            yield found
        elif isinstance(found.value.content, list):
            waiting += [_listed(found, member) for member in found.value.members().values()][::-1]
        elif isinstance(found.value.content, dict) and found.depth < _DEEPEST:
            waiting += _of_object(found, with_help=with_help and found.depth > 0)[::-1]
        else:
            raise found.value.problem("not a list of commands", _EXPECTED_CONTENT)


def _listed(found: FoundCommand, member: JsonValue) -> FoundCommand:
    """Return a member of a list: a command, or a category with a name and its commands."""
    if not isinstance(member.content, dict):
        raise member.problem("not a command", _EXPECTED_CONTENT)
    if not isinstance(member.content.get("commands"), list | dict):
        return found._replace(value=member, is_command=True)
    names = (member.content.get(key) for key in _NAMES)
    name = next((name for name in names if isinstance(name, str) and name), found.category)
    inner = member.members()["commands"]
    return FoundCommand(inner, name, is_keyed=True, depth=found.depth + 1)


def _of_object(found: FoundCommand, *, with_help: bool) -> list[FoundCommand]:
    nested = _with_type(found.value, list, dict)
    deeper = found._replace(depth=found.depth + 1)
    if wrapping := [nested[key] for key in nested if key in _WRAPPERS]:
        return [deeper._replace(value=part) for part in wrapping]
    if isinstance(found.value.content.get("name"), str):
        return [found._replace(is_command=True)]
    if not all(map(_is_command, nested.values())):  # categories
        return [deeper._replace(value=nested[key], category=key, is_keyed=True) for key in nested]
    return _named(found, with_help=with_help)


def _named(found: FoundCommand, *, with_help: bool) -> list[FoundCommand]:
    """Return the commands of an object whose keys are their names."""
    named = _with_type(found.value, dict, *([str] if with_help else []))
    if not named or (with_help and len(named) < len(found.value.content)):
        message = "contains something other than commands, or nothing"
        raise found.value.problem(message, _EXPECTED_CONTENT)
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
