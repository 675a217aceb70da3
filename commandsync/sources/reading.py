"""The commands of a file or folder, whatever kind of source it is, and of Discord's answer."""

from collections.abc import Mapping
from pathlib import Path

from commandsync.errors import FileError
from commandsync.sources import contents, files, python
from commandsync.sources.entry import SourceReading

_PYTHON = frozenset({".py", ".pyw"})
_SCRIPTS = frozenset({".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"})
_DATA = frozenset({".json", ".csv", ""})  # "": a pipe of the shell has no suffix
_EXPECTED = "a source is Python code, Discord's commands as JSON, or a list as JSON or CSV"
_NOT_READ = (
    "let the bot write its commands to a JSON file: "
    "JSON.stringify(commands.map((command) => command.data.toJSON()))"
)


def read(
    source: str, *, columns: Mapping[str, str] | None = None, locale: str = ""
) -> SourceReading:
    """Read the commands that a file or folder declares.

    A folder with Python files is read as Python, any other as JSON with one command per file. The
    content of a JSON file tells whether it is Discord's or a custom list.

    Args:
        source: The path of a file or folder.
        columns: For a custom list, the column or key of each field (`name`, `description`,
            `syntax`, `category`) that is not named like the field.
        locale: The language of Discord's texts, such as `de`; empty for the default texts.

    Raises:
        FileError: It cannot be read, is too large, or contains something else than commands. A
            source is read in full or not at all: a missing command would look like a deleted one.
        UsageError: `columns` has a key that is not a field.
    """
    path, suffix = Path(source).as_posix(), Path(source).suffix.casefold()
    if Path(path).is_dir():
        return _read_folder(Path(path), columns or {}, locale)
    if suffix in _PYTHON:
        return python.read(path)
    if suffix in _SCRIPTS:
        raise FileError(f"{path}: JavaScript is not read", hint=_NOT_READ)
    if suffix not in _DATA and Path(path).is_file():
        raise FileError(f"{path} is not a kind of source", hint=_EXPECTED)
    data = files.read_bytes(path)
    if suffix == ".csv":
        return contents.of_csv(data, path, columns or {})
    return contents.of_json({path: data}, columns=columns or {}, locale=locale)


def read_answer(data: bytes, *, locale: str = "") -> SourceReading:
    """Read the body of Discord's answer to `GET /applications/{id}/commands`, as `read` does."""
    return contents.of_json({"": data}, columns={}, locale=locale)


def _read_folder(folder: Path, columns: Mapping[str, str], locale: str) -> SourceReading:
    inside = list(files.files_of(folder))
    suffixes = {path.suffix.casefold() for path in inside}
    if suffixes & _PYTHON:
        return python.read(folder.as_posix())
    paths = list(filter(files.is_command_file, inside))
    if not paths:
        message = f"{folder.as_posix()} has no Python or JSON file"
        raise FileError(message, hint=_NOT_READ if suffixes & _SCRIPTS else _EXPECTED)
    data = files.read_all(paths, folder)
    return contents.of_json(data, columns=columns, locale=locale, folder=folder.as_posix())
