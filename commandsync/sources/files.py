"""The files of a source: read within a limit, and found in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def read_bytes(path: str | Path, *, most: int = MOST_BYTES) -> bytes:
    """Read a file of at most `most` bytes.

    Raises:
        FileError: It cannot be read, or it is larger.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or "it is not a path"
        raise FileError(
            f"cannot read {shown(path)}: {why.lower()}", hint="check the path"
        ) from None
    if len(data) > most:
        message = f"{shown(path)} is larger than {MOST_BYTES // 1024**2} MiB"
        raise FileError(message, hint="no bot has that many commands: is it the right file?")
    return data


def read_all(paths: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """Read the files of a folder, by their paths; together at most `MOST_BYTES`.

    Raises:
        FileError: One of them cannot be read, or they are too many or too large.
    """
    if len(paths) > MOST_FILES:
        message = f"{shown(folder)} has more than {MOST_FILES:,} JSON files"
        raise FileError(message, hint="name the folder that contains the commands")
    data, left = {}, MOST_BYTES
    for path in paths:
        data[shown(path)] = content = read_bytes(path, most=left)
        left -= len(content)
    return data


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and those below it, sorted, without following links.

    Hidden folders, and those that contain other people's packages, are passed over.

    Raises:
        FileError: There are too many.
    """
    looked_at = 0
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_own(name))
        looked_at += len(folders) + len(names)
        if looked_at > MOST_PLACES:
            message = f"{shown(folder)} has more than {MOST_PLACES:,} files"
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


def shown(path: str | Path) -> str:
    """Return a path as messages show it, with `/` between folders."""
    return path.as_posix() if isinstance(path, Path) else path


def _is_own(folder: str) -> bool:
    return not folder.startswith(".") and folder not in _PASSED_OVER
