"""A custom list, as JSON or CSV, whose columns are mapped to the fields of a command."""

import csv
import io
from collections.abc import Iterator, Mapping

from commandsync.diagnostics import Location
from commandsync.errors import FileError, UsageError
from commandsync.records.texts import Resource
from commandsync.sources.entry import NO_DESCRIPTION, SourceEntry
from commandsync.sources.jsonfile import JsonValue

_FIELDS = Resource.COMMAND.fields
_REQUIRED = ("name", "syntax")
_DELIMITERS = ",;\t"  # spreadsheets write ; where a comma separates the decimals
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def columns_of(mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the column of every field: by the mapping, else the one with the field's name."""
    if unknown := sorted(set(mapping) - set(_FIELDS)):
        hint = f"the fields are {', '.join(_FIELDS[:-1])} and {_FIELDS[-1]}"
        raise UsageError(f"{unknown[0]!r} is not a field of a command", hint=hint)
    return {field: mapping.get(field, field) for field in _FIELDS}


def row_entry(row: JsonValue, columns: Mapping[str, str]) -> SourceEntry:
    """Return an object of a list as an entry; `FileError` if its values are not text."""
    texts = {}
    for column in columns.values():
        value = row.content.get(column)
        if value is None or value is False:
            continue
        if not isinstance(value, str | int) or value is True:
            raise row.problem(f"the value of {column!r} is not text")
        texts[column] = str(value)
    return _entry(texts, columns, row.place)


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
                yield _entry(dict(zip(header, row, strict=True)), columns, place)
            line = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"{Location(path, line)}: not valid CSV: {error}") from error


def _columns_in(header: list[str], columns: Mapping[str, str], path: str) -> dict[str, str]:
    known = {}
    for field, column in columns.items():
        name = column.strip().casefold()
        if header.count(name) > 1:
            raise FileError(f"{Location(path)}: two columns are named {column!r}")
        if name in header:
            known[field] = name
        elif column != field or field in _REQUIRED:
            raise FileError(
                f"{Location(path)}: no column is named {column!r}",
                hint=f"the first row names the columns; map the one that contains the {field}",
            )
    return known


def _entry(
    row: Mapping[str, str], columns: Mapping[str, str], place: Location | None
) -> SourceEntry:
    texts = {field: row.get(column, "").strip() for field, column in columns.items()}
    for field in _REQUIRED:
        if not texts[field]:
            where = place or "the answer"
            raise FileError(f"{where}: the command has no {columns[field]!r}")
    return SourceEntry(
        name=texts["name"],
        description=texts.get("description") or NO_DESCRIPTION,
        syntax=texts["syntax"],
        category=texts.get("category") or None,
        place=place,
    )


def _decoded(data: bytes, path: str) -> str:
    encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
