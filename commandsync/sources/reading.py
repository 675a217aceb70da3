"""The commands of a file or folder, whatever kind of source it is, and of Discord's answer.

Code is read by `python` or `javascript`; a CSV file and BotFather's lines by `listfile`. JSON may
have any shape: the commands are found in lists and wrappers, by their categories or names. A
command there is Discord's or one of a custom list; all commands of a source decide it for those
that may be either.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from commandsync.diagnostics import Notice
from commandsync.errors import FileError
from commandsync.extras import missing
from commandsync.records.snapshot import Node
from commandsync.sources import python, sourcefile
from commandsync.sources.applicationcommands import CommandReader, is_discords
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.imported import kept
from commandsync.sources.jsonfile import JsonFile, JsonValue
from commandsync.sources.listfile import (
    KNOWN,
    OWN,
    SIGNS,
    botfather_entries,
    columns_of,
    csv_entries,
    member_at,
    row_entry,
    value_at,
)
from commandsync.sources.sourcefile import PYTHON, SCRIPTS

_MARKDOWN = frozenset({".md", ".markdown"})
_LISTS = _MARKDOWN | {".csv", ".txt"}
_DATA = _LISTS | {".json", ""}  # "": a pipe of the shell has no suffix
_EXPECTED = (
    "a source is the bot's code, Discord's commands as JSON, or a list as JSON, CSV or lines "
    "`name - text`"
)
_WRAPPERS = frozenset({"all", "commands", "data", "items", "list", "results", "slash_commands"})
_NAMES = ("category", "name", "title", "label", "id")  # of a category in a list
_EXPECTED_CONTENT = "expected a list of commands, or one command"
_DEEPEST = 4  # categories and wrappers in each other

MOST_COMMANDS = 20_000
"""Of one source; no bot has a tenth of it."""

_UNDECIDED = (
    "nothing says whether these are slash commands: they are read as Discord's",
    'add "type": 1 to slash commands, or "usage" or "category" to those of a list of your own',
)


class FoundCommand(NamedTuple):
    """A command of a file, with its name if that is its key; or a list or object of commands."""

    value: JsonValue
    category: str = ""  # the key of the object around it, if that is its category
    is_keyed: bool = False  # whether its name or its category is a key
    is_command: bool = False
    depth: int = 0  # how many objects it is in


def read(
    source: str,
    *,
    columns: Mapping[str, str] | None = None,
    locale: str = "",
    exclude: Collection[str] = (),
    texts: Mapping[str, str] | None = None,
) -> SourceReading:
    """Read the commands that a file or folder declares, or the files that a pattern matches.

    A folder is read as Python, as JavaScript or as JSON with one command per file: the first of
    which it has files with commands. The content of a JSON file tells whether it is Discord's or a
    custom list.

    Args:
        source: The path of a file or folder, or a pattern such as `commands/**/*.json`.
        columns: For a custom list, the column or key of each field (`name`, `description`,
            `syntax`, `category`) that is not named like the field.
        locale: The language of Discord's texts, such as `de`; empty for the default texts.
        exclude: Patterns of names and paths; a JSON file that one fits may be invalid.
        texts: The bot's texts by their keys, for code that names them; None if they are unknown.

    Raises:
        FileError: It cannot be read, is too large, or contains something other than commands. A
            source is read in full or not at all: a missing command would look like a deleted one.
        UsageError: `columns` has a key that is not a field; or JavaScript cannot be read without
            the extra.
    """
    path, suffix = Path(source).as_posix(), Path(source).suffix.casefold()
    if sourcefile.is_folder_or_pattern(path):
        return _read_files(path, columns or {}, locale, exclude, texts)
    if suffix in PYTHON:
        return python.read(path)
    if suffix in SCRIPTS:
        return _read_scripts(path, locale=locale, texts=texts)
    if suffix not in _DATA and Path(path).is_file():
        raise FileError(f"{path} is not a source of commands", hint=_EXPECTED)
    data = sourcefile.read_bytes(path)
    if suffix in _LISTS:
        return of_list(data, path, columns or {})
    return of_json({path: data}, columns=columns or {}, locale=locale)


def read_answer(data: bytes, *, locale: str = "") -> SourceReading:
    """Read the body of Discord's answer to `GET /applications/{id}/commands`, as `read` does."""
    return of_json({"": data}, columns={}, locale=locale)


def _read_files(
    source: str,
    columns: Mapping[str, str],
    locale: str,
    exclude: Collection[str],
    texts: Mapping[str, str] | None,
) -> SourceReading:
    folder, inside = sourcefile.matching(source)
    paths = [path for path in inside if sourcefile.is_command_file(path)]
    code = _read_code(folder, inside, locale, texts)
    if code and (_is_found(code) or not paths):
        return code
    if not paths:
        raise FileError(f"{source} has no file of code or JSON", hint=_EXPECTED)
    data = _own(sourcefile.read_all(paths, folder))
    of_folder = partial(of_json, columns=columns, locale=locale, folder=folder.as_posix())
    unwanted = {path: data.pop(path) for path in [*data] if sourcefile.path_pattern(path, exclude)}
    reading = of_folder(data)
    for path, content in unwanted.items():
        with suppress(FileError):
            entries = of_folder({path: content}).entries
            reading = replace(reading, entries=(*reading.entries, *entries))
    return reading


def _own(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a folder that are not the configuration of a tool."""
    return {path: data for path, data in contents.items() if not sourcefile.is_foreign(data)}


def _read_code(
    folder: Path, inside: Sequence[Path], locale: str, texts: Mapping[str, str] | None
) -> SourceReading | None:
    """Return the commands of Python code, else those of JavaScript; None without code."""
    suffixes, reading = {path.suffix.casefold() for path in inside}, None
    if suffixes & {*PYTHON}:
        reading = python.read(folder.as_posix(), inside)
    if suffixes & {*SCRIPTS} and not (reading and _is_found(reading)):
        reading = _read_scripts(folder.as_posix(), inside, locale=locale, texts=texts)
    return reading


def _is_found(reading: SourceReading) -> bool:
    return bool(reading.entries or reading.notes or reading.unread)


def _read_scripts(
    path: str,
    inside: Sequence[Path] | None = None,
    *,
    locale: str,
    texts: Mapping[str, str] | None,
) -> SourceReading:
    try:
        from commandsync.sources import javascript  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise missing("JavaScript is read with", "javascript", error) from error
    return javascript.read(path, inside, locale=locale, texts=texts)


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
    return SourceReading(
        entries=tuple(entries), notes=tuple(notes), files=tuple(data), objects=tuple(objects)
    )


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


def of_list(data: bytes, path: str, columns: Mapping[str, str]) -> SourceReading:
    """Read a CSV file or a list in BotFather's format; raises as `of_json` does."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".csv":
        rows = csv_entries(data, path, columns)
    else:
        rows = botfather_entries(data, path, fenced=suffix in _MARKDOWN)
    entries = tuple(islice(rows, MOST_COMMANDS + 1))
    _check_number(len(entries), path)
    return SourceReading(entries=entries, files=(path,))


def _check_number(number: int, path: str) -> None:
    if number > MOST_COMMANDS:
        message = f"{path or 'the answer'} has more than {MOST_COMMANDS:,} commands"
        raise FileError(message, hint="is it the right file?")


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
