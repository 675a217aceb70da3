"""The commands of a file or folder, whatever kind of source it is, and of Discord's answer.

Code is read by `python` or `javascript`, JSON by `jsonfile`; a CSV file and BotFather's lines by
`listfile`.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath

from commandsync.errors import FileError
from commandsync.extras import missing
from commandsync.sources import python, sourcefile
from commandsync.sources.entry import SourceReading
from commandsync.sources.jsonfile import of_json
from commandsync.sources.listfile import botfather_entries, csv_entries
from commandsync.sources.sourcefile import PYTHON, SCRIPTS

_MARKDOWN = frozenset({".md", ".markdown"})
_LISTS = _MARKDOWN | {".csv", ".txt"}
_DATA = _LISTS | {".json", ""}  # "": a pipe of the shell has no suffix
_EXPECTED = (
    "a source is the bot's code, Discord's commands as JSON, or a list as JSON, CSV or lines "
    "`name - text`"
)


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


def of_list(data: bytes, path: str, columns: Mapping[str, str]) -> SourceReading:
    """Read a CSV file or a list in BotFather's format; raises as `of_json` does."""
    suffix = PurePosixPath(path).suffix.casefold()
    if suffix == ".csv":
        rows = csv_entries(data, path, columns)
    else:
        rows = botfather_entries(data, path, fenced=suffix in _MARKDOWN)
    entries = tuple(islice(rows, sourcefile.MOST_COMMANDS + 1))
    sourcefile.check_number(len(entries), path)
    return SourceReading(entries=entries, files=(path,))
