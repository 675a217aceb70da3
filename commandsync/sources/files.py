"""The files of a source: read within a limit, and found in a folder."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from commandsync.errors import FileError

MOST_BYTES = 10 * 1024 * 1024
"""Of one file, and of all JSON files of a folder."""

MOST_FILES = 10_000
"""JSON files of a folder."""

IMPORTED = ".imported.json"
"""How the file of what was imported last ends, beside each manifest; it is not a source."""

MOST_PLACES = 250_000
"""Files and folders that are looked at."""

_NOT_COMMANDS = frozenset({"package.json", "package-lock.json", "tsconfig.json"})
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "venv", "env", "site-packages"})


def read_bytes(path: str, *, most: int = MOST_BYTES) -> bytes:
    """Read a file of at most `most` bytes; `FileError` if it is larger, or cannot be read."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or "it is not a path"
        message = f"cannot read {path}: {why.lower()}"
        raise FileError(message, hint="check the path") from None
    if len(data) > most:
        message = f"{path} is larger than {MOST_BYTES // 1024**2} MiB"
        raise FileError(message, hint="no bot has that many commands: is it the right file?")
    return data


def read_all(paths: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """Read files by their paths; `FileError` if they are too many, or together too large."""
    if len(paths) > MOST_FILES:
        message = f"{folder.as_posix()} has more than {MOST_FILES:,} JSON files"
        raise FileError(message, hint="name the folder that contains the commands")
    data: dict[str, bytes] = {}
    left = MOST_BYTES
    for path in map(Path.as_posix, paths):
        data[path] = read_bytes(path, most=left)
        left -= len(data[path])
    return data


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and those below it, sorted, without following links.

    Hidden folders and installed packages are passed over; `FileError` if there are too many files.
    """
    looked_at = 0
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in set(folders) - _PASSED_OVER if name[0] != ".")
        looked_at += len(folders) + len(names)
        if looked_at > MOST_PLACES:
            message = f"{folder.as_posix()} has more than {MOST_PLACES:,} files"
            raise FileError(message, hint="name the folder that contains the commands")
        for name in sorted(names):
            path = Path(above, name)
            if not name.startswith(".") and not path.is_symlink():
                yield path


def is_command_file(path: Path) -> bool:
    """Whether a file in a folder of commands is one of them."""
    return (
        path.suffix.casefold() == ".json"
        and path.name not in _NOT_COMMANDS
        and not path.name.endswith(IMPORTED)
    )
