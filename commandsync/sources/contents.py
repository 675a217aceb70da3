"""The contents of files as entries: custom lists, and Discord's commands in their wrappers."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import PurePosixPath

from commandsync.diagnostics import Notice
from commandsync.errors import FileError
from commandsync.records.snapshot import Node
from commandsync.sources.applicationcommands import CommandReader, is_discords
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.jsonfile import JsonFile, JsonValue
from commandsync.sources.listfile import (
    OWN,
    columns_of,
    csv_entries,
    member_at,
    row_entry,
    value_at,
)
from commandsync.sources.objects import kept
from commandsync.sources.shapes import Found, commands_in

MOST_COMMANDS = 20_000
"""Of one source; no bot has a tenth of it."""

_UNDECIDED = (
    "nothing says whether these are slash commands: they are read as Discord's",
    'add "type": 1 to slash commands, or "usage" or "category" to those of a list of your own',
)


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
    found = [*chain.from_iterable(_found(path, data[path], folder) for path in data)]
    kinds = {_is_own(command, columns) for command in found}
    entries: list[SourceEntry] = []
    objects: list[Node] = []
    for command in found:
        value, category, is_own = command.value, command.category, _is_own(command, columns)
        if kinds == {True, None} or is_own:
            entries.append(row_entry(value.content, mapped, value.place, category or None))
        else:
            entries += _of_discord(reader, value, category)
            objects += [kept(value.content)] if is_own is False else []
        _check_number(len(entries), value.file.path)
    _check_columns(columns if True in kinds else {}, [command.value for command in found])
    unclear = Notice(*_UNDECIDED, found[0].value.place) if kinds == {None} else None
    notes = filter(None, [*reader.notes(), unclear])
    return SourceReading(entries=tuple(entries), notes=tuple(notes), objects=tuple(objects))


def _of_discord(reader: CommandReader, value: JsonValue, folder: str) -> list[SourceEntry]:
    try:
        return list(reader.entries(value.content, value.place, folder=folder))
    except FileError as error:
        raise value.problem(error.message, str(error.hint)) from None


def _found(path: str, content: bytes, folder: str) -> Iterator[Found]:
    """Yield the commands of a file, those in a folder below with its name as their category."""
    above = PurePosixPath(path).parent
    category = above.name if folder and above != PurePosixPath(folder) else ""
    yield from commands_in(JsonFile(content, path).root, category, with_help=not folder)


def _is_own(command: Found, columns: Mapping[str, str]) -> bool | None:
    """Whether a command is one of a custom list; False for Discord's, None if it may be either."""
    content = command.value.content
    if value_at(content, columns.get("syntax", "syntax")) is None and is_discords(content):
        return False
    name = content.get("name")
    says_nothing = not isinstance(name, str) or (name == name.lower() and " " not in name.strip())
    has_own = any(value_at(content, key) is not None for key in (*columns.values(), *OWN))
    return True if has_own or command.is_keyed or not says_nothing else None


def _check_columns(columns: Mapping[str, str], rows: Sequence[JsonValue]) -> None:
    """Raise a `FileError` if no command has a column that is mapped."""
    for field, column in columns.items():
        if all(member_at(row.content, column) is None for row in rows):
            hint = f"map the one that contains the {field}, under columns: in import:"
            raise rows[0].problem(f"no command has the key {column!r}", hint)


def of_csv(data: bytes, path: str, columns: Mapping[str, str]) -> SourceReading:
    """Read a CSV file; raises as `of_json` does."""
    entries = tuple(islice(csv_entries(data, path, columns), MOST_COMMANDS + 1))
    _check_number(len(entries), path)
    return SourceReading(entries=entries)


def _check_number(number: int, path: str) -> None:
    if number > MOST_COMMANDS:
        message = f"{path or 'the answer'} has more than {MOST_COMMANDS:,} commands"
        raise FileError(message, hint="is it the right file?")
