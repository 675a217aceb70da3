"""A list of commands in a file: JSON of any shape, CSV, or the lines that BotFather takes.

The usual or mapped columns and keys of a custom list are the fields of a command (`row_entry`).

In JSON, the commands are found in lists and wrappers, by their categories or names
(`commands_in`). A command there is Discord's or one of a custom list; all commands of a source
decide it for those that may be either (`of_json`). Every problem with a file is one error with its
place. A list in BotFather's format has a line `name - text` for each command of Telegram.
"""

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from commandsync.api.content import TooManyValuesError, decode_json
from commandsync.diagnostics import Hint, Location, Notice
from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.sources.entry import (
    NO_DESCRIPTION,
    Parameter,
    SourceEntry,
    SourceReading,
    parameter_text,
    traits_of,
)
from commandsync.sources.objects import CommandReader, command_key, is_discords
from commandsync.sources.sourcefile import check_number

_FIELDS = Resource.COMMAND.fields

USUAL = {
    "name": ("name", "command", "cmd"),
    "description": ("description", "desc", "brief", "help", "summary"),
    "syntax": ("syntax", "usage", "args", "arguments", "params", "parameters"),
    "category": ("category", "group", "module", "cog", "section"),
}
"""The keys and columns that lists use for each field, the surest first."""

KNOWN = frozenset(chain.from_iterable(USUAL.values()))
SIGNS = frozenset({*USUAL["syntax"], *USUAL["category"], "aliases", "description", "desc"})
"""An object is a command if it has one of these keys."""

OWN = SIGNS - {"description"} | {"brief", "help"}
"""The keys that Discord's commands do not have."""

_SLASH = frozenset({"slash", "hybrid", "slash_command", "application"})  # types of commands
_MENTION = re.compile(r"</([^:<>]+):[0-9]+>")  # of a slash command, as Discord writes it
_OPENING = frozenset("<[(")
_BEFORE_NAME = r"(\{prefix\}|<prefix>|\[p(?:refix)?\]|[^\s<\[(]{0,5}?)"


def columns_of(mapping: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of the fields, from the mapping or else the usual ones."""
    if unknown := sorted(set(mapping) - set(_FIELDS)):
        hint = f"the fields are {', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
        raise UsageError(f"{unknown[0]!r} is not a field of a command", hint=hint)
    return {f: (mapping[f],) if f in mapping else columns for f, columns in USUAL.items()}


def value_at(row: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401 - of JSON
    """Return a value as `member_at` does; an empty or false one counts as absent, and is None."""
    value = member_at(row, column)
    if isinstance(value, str):
        value = value.strip()
    return None if value is False or value in ("", [], {}) else value


def member_at(row: Mapping[str, Any], column: str) -> Any:  # noqa: ANN401 - of JSON
    """Return a value by its key, or by the keys on the way to it, as `slash.mention`; else None.

    Upper and lower case do not matter.
    """
    folded = {key.casefold(): value for key, value in row.items()}
    first, _, rest = column.casefold().partition(".")
    if (value := folded.get(column.casefold())) is not None or not rest:
        return value
    inner = folded.get(first)
    return member_at(inner, rest) if isinstance(inner, dict) else None


def row_entry(
    row: Mapping[str, Any],
    columns: Mapping[str, Sequence[str]],
    place: Location | None,
    category: str | None = None,
) -> SourceEntry:
    """Return a command of a list as an entry; `FileError` if its values are not text.

    The `category` of the object around it counts if it has none itself.
    """
    name, description, own = (
        next(filter(None, (_text(row, column, place) for column in columns[field])), "")
        for field in ("name", "description", "category")
    )
    if not name:
        raise FileError(f"{place or 'the answer'}: the command has no {columns['name'][0]!r}")
    return SourceEntry(
        name=name,
        description=description or NO_DESCRIPTION,
        syntax=_syntax(name, row, columns["syntax"]),
        category=own or category,
        place=place,
        traits=traits_of({key: value for key, value in row.items() if value is True}),
    )


def _text(row: Mapping[str, Any], column: str, place: Location | None) -> str:
    value = value_at(row, column)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise FileError(f"{place or 'the answer'}: the value of {column!r} is not text")
    return "" if value is None else str(value)


def _syntax(name: str, row: Mapping[str, Any], columns: Sequence[str]) -> str:
    """Return how a command is called: as the row says, after its name if that is not in it."""
    kind = value_at(row, "type")
    sigil = "/" if isinstance(kind, str) and kind.casefold() in _SLASH else "{prefix}"
    for column in columns:
        match value_at(row, column):
            case str(text):
                return _written(name, sigil, _MENTION.sub(r"/\1", text), column)
            case (list() | dict()) as arguments:
                return f"{sigil}{name} {_arguments(arguments)}"
            case _:
                pass
    return sigil + name


def _written(name: str, sigil: str, text: str, column: str) -> str:
    whole = re.match(rf"{_BEFORE_NAME}{re.escape(name)}(?!\w)", text, re.IGNORECASE)
    if whole and whole[1] in {"", "<prefix>", "[p]", "[prefix]"}:
        return sigil + text[whole.end(1) :]
    is_whole = whole or (column == "syntax" and text[0] not in _OPENING)
    return text if is_whole else f"{sigil}{name} {text}"


def _arguments(value: Any) -> str:  # noqa: ANN401 - of JSON
    """Return the arguments of a command that are listed by their names or described each."""
    described = [part if isinstance(part, dict) else {"name": part} for part in value]
    says = any("required" in part for part in described)
    texts = []
    for part in described:
        name = str(part.get("name") or "…")
        required = bool(part.get("required", not (says or part.get("optional"))))
        parameter = Parameter(name=name.removesuffix("?"), required=required and name[-1:] != "?")
        texts.append(name if name[0] in _OPENING else parameter_text(parameter))
    return " ".join(texts)


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


def _commands_of(path: str, content: bytes, folder: str) -> Iterator[FoundCommand]:
    """Yield the commands of a file, those in a folder below with its name as their category."""
    above = PurePosixPath(path).parent
    category = above.name if folder and above != PurePosixPath(folder) else ""
    yield from commands_in(JsonFile(content, path).root, category, with_help=not folder)


def _of_discord(reader: CommandReader, value: JsonValue, folder: str) -> list[SourceEntry]:
    try:
        return list(reader.entries(value.content, value.place, folder=folder))
    except FileError as error:
        raise value.problem(error.message, error.hint) from None


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


_LINE = re.compile(r"\s*/?([A-Za-z0-9_]{1,32})\s+[-\u2013\u2014]\s+(\S.*?)\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DELIMITERS = ",;\t"  # spreadsheets write ; where a comma separates the decimals
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOTFATHER = "each line is `name - text`, as BotFather takes it; in Markdown in a fenced block"


def csv_entries(data: bytes, path: str, mapping: Mapping[str, str]) -> Iterator[SourceEntry]:
    """Yield the rows of a CSV file, whose first row names the columns.

    The columns are separated by commas, semicolons or tabs; empty rows are passed over. Raises
    `FileError` if it is not CSV in UTF-8 or UTF-16, a column is missing, or a row does not fit.
    """
    text = _decoded(data, path)
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        header = [name.strip().casefold() for name in next(reader, [])]
        columns = _columns_in(header, columns_of(mapping), path)
        line = reader.line_num + 1
        for row in reader:
            if any(cell.strip() for cell in row):
                place = Location(path, line)
                if len(row) != len(header):
                    message = f"the row has {len(row)} fields, and the header {len(header)}"
                    raise FileError(f"{place}: {message}", hint=f"quote texts with {delimiter!r}")
                yield row_entry(dict(zip(header, row, strict=True)), columns, place)
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"{Location(path, line)}: not valid CSV: {error}") from error


def botfather_entries(data: bytes, path: str, *, fenced: bool) -> Iterator[SourceEntry]:
    """Yield the commands of lines `name - text`; empty lines are passed over.

    In Markdown, such lines are in a `fenced` block, and blocks with other lines are passed over.
    Raises `FileError` if the file is not text, or has another line, or no such block.
    """
    lines = [*enumerate(_decoded(data, path).splitlines(), start=1)]
    blocks = _blocks(lines) if fenced else [lines]
    listed = [line for line in chain.from_iterable(blocks) if line[1].strip()]
    if not listed:
        raise FileError(f"{path} has no list of commands", hint=_BOTFATHER)
    for number, line in listed:
        match, place = _LINE.fullmatch(line), Location(path, number)
        if match is None:
            raise FileError(f"{place}: this is not a command", hint=_BOTFATHER)
        name, description = match.groups()
        yield SourceEntry(name=name, description=description, syntax=f"/{name}", place=place)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of each fenced block of Markdown that has only commands."""
    opened, block = "", list[tuple[int, str]]()
    for number, line in lines:
        fence = _FENCE.match(line)
        if opened and line.strip().startswith(opened) and not line.strip(f" {opened[0]}"):
            if all(_LINE.fullmatch(each) or not each.strip() for _, each in block):
                yield block
            opened = ""
        elif opened:
            block.append((number, line))
        elif fence:
            opened, block = fence[1], []


def _columns_in(
    header: list[str], columns: Mapping[str, Sequence[str]], path: str
) -> dict[str, Sequence[str]]:
    known: dict[str, Sequence[str]] = {}
    for field, names in columns.items():
        folded = [name.strip().casefold() for name in names]
        known[field] = there = [name for name in folded if name in header]
        for name in there:
            if header.count(name) > 1:
                raise FileError(f"{Location(path)}: two columns are named {name!r}")
        if not there and (field == "name" or names is not USUAL[field]):
            raise FileError(
                f"{Location(path)}: no column is named {names[0]!r}",
                hint=f"the first row names the columns; map the one that contains the {field}",
            )
    return known


def _decoded(data: bytes, path: str) -> str:
    encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
