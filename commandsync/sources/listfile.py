"""A custom list, as JSON or CSV: its usual or mapped columns are the fields of a command.

A list in BotFather's format has a line `name - text` for each command of Telegram.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from commandsync.diagnostics import Location
from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.sources.entry import (
    NO_DESCRIPTION,
    Parameter,
    SourceEntry,
    parameter_text,
    traits_of,
)

_FIELDS = Resource.COMMAND.fields
_LINE = re.compile(r"\s*/?([A-Za-z0-9_]{1,32})\s+[-\u2013\u2014]\s+(\S.*?)\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_DELIMITERS = ",;\t"  # spreadsheets write ; where a comma separates the decimals
_UTF16 = (b"\xff\xfe", b"\xfe\xff")

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

_BOTFATHER = "each line is `name - text`, as BotFather takes it; in Markdown in a fenced block"
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
    blocks = filter(_are_commands, _blocks(lines)) if fenced else [lines]
    listed = [line for line in chain.from_iterable(blocks) if line[1].strip()]
    if not listed:
        raise FileError(f"{path} has no list of commands", hint=_BOTFATHER)
    for number, line in listed:
        match, place = _LINE.fullmatch(line), Location(path, number)
        if match is None:
            raise FileError(f"{place}: this is not a command", hint=_BOTFATHER)
        name, description = match.groups()
        yield SourceEntry(name=name, description=description, syntax=f"/{name}", place=place)


def _are_commands(block: Iterable[tuple[int, str]]) -> bool:
    return all(_LINE.fullmatch(line) or not line.strip() for _, line in block)


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Yield the lines of each fenced block of Markdown."""
    opened, block = "", list[tuple[int, str]]()
    for number, line in lines:
        fence = _FENCE.match(line)
        if opened and line.strip().startswith(opened) and not line.strip(f" {opened[0]}"):
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
