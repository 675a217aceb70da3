"""The contents of files as entries: custom lists, and Discord's commands in their wrappers."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import PurePosixPath

from commandsync.errors import FileError
from commandsync.sources.applicationcommands import CommandReader
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.jsonfile import JsonFile, JsonValue
from commandsync.sources.listfile import columns_of, csv_entries, row_entry

MOST_COMMANDS = 20_000
"""Of one source; no bot has a tenth of it."""

_WRAPPERS = ("commands", "slash_commands")
_EXPECTED = "expected a list of commands, or one command"


def of_json(
    data: Mapping[str, bytes], *, columns: Mapping[str, str], locale: str, folder: str = ""
) -> SourceReading:
    """Read JSON files, by their paths.

    With a `folder`, a file in a folder below it has the name of that one as category. Raises
    `FileError` for what is not JSON with commands, and `UsageError` for unknown `columns`.
    """
    mapped, reader = columns_of(columns), CommandReader(locale)
    entries: list[SourceEntry] = []
    for path, content in data.items():
        below = PurePosixPath(path).parent if folder else None
        category = below.name if below and below != PurePosixPath(folder) else None
        for command in _commands(JsonFile(content, path).root):
            if not isinstance(command.content, dict):
                raise command.problem("not a command", _EXPECTED)
            if mapped["syntax"] in command.content:  # Discord's commands have no syntax
                entries.append(row_entry(command, mapped))
            else:
                entries += reader.entries(command, folder=category)
            _check_number(len(entries), path)
    return SourceReading(entries=tuple(entries), notes=reader.notes())


def of_csv(data: bytes, path: str, columns: Mapping[str, str]) -> SourceReading:
    """Read a CSV file; raises as `of_json` does."""
    entries: list[SourceEntry] = []
    for entry in csv_entries(data, path, columns):
        entries.append(entry)
        _check_number(len(entries), path)
    return SourceReading(entries=tuple(entries))


def _commands(root: JsonValue) -> Iterable[JsonValue]:
    """Return each command of a file: of a list, of the lists in an object, or the object itself."""
    match root.content:
        case list():
            return root.members().values()
        case dict():
            return _wrapped(root)
        case _:
            raise root.problem("not a list of commands", _EXPECTED)


def _wrapped(root: JsonValue) -> Iterable[JsonValue]:
    lists = {key: value for key, value in root.members().items() if isinstance(value.content, list)}
    wrapping = [lists[key] for key in _WRAPPERS if key in lists]
    if not wrapping and isinstance(root.content.get("name"), str):
        return [root]
    if not wrapping and len(lists) != 1:
        message = f"contains {len(lists) or 'no'} lists, and none is named commands"
        raise root.problem(message, _EXPECTED)
    return chain.from_iterable(map(_commands, wrapping or lists.values()))


def _check_number(number: int, path: str) -> None:
    if number > MOST_COMMANDS:
        message = f"{path or 'the answer'} has more than {MOST_COMMANDS:,} commands"
        raise FileError(message, hint="is it the right file?")
