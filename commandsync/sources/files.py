"""The files of a source: read within a limit, and found in a folder."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from commandsync.errors import FileError
from commandsync.records.texts import has_wildcard, pattern
from commandsync.sources.entry import Trait

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


def matching(source: str) -> tuple[Path, list[Path]]:
    """Return a folder with its files; of a pattern, its folder and the files that it matches."""
    root = _fixed(source)
    at, wanted = len(root.parts), Path(source).parts[len(root.parts) :] or ("**", "*")
    return root, [file for file in files_of(root) if _fits(file.parts[at:], wanted)]


def _fixed(source: str) -> Path:
    """Return the part of a source before its first wildcard: all of what exists."""
    if Path(source).exists():
        return Path(source)
    return Path(*takewhile(lambda part: not has_wildcard(part), Path(source).parts))


def is_folder_or_pattern(source: str) -> bool:
    """Whether a source is a folder, or the pattern of several files."""
    return Path(source).is_dir() or _fixed(source) != Path(source)


def _fits(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    if not (parts and wanted):
        return not (parts or wanted)
    if wanted[0] == "**":  # any folders, also none
        return _fits(parts, wanted[1:]) or _fits(parts[1:], wanted)
    return pattern(wanted[0]).match(parts[0]) and _fits(parts[1:], wanted[1:])


def path_pattern(path: str, patterns: Iterable[str]) -> str:
    """Return the first pattern with a `/` that fits the end of a path, or of a folder above it."""
    parts = path.split("/")
    for text in patterns:
        count = text.strip("/").count("/") + 1
        ends = ("/".join(parts[:end][-count:]) for end in range(count, len(parts) + 1))
        if "/" in text and any(map(pattern(text.strip("/")).match, ends)):
            return text
    return ""


def folder_traits(path: str, source: str) -> frozenset[Trait]:
    """Return what the names of the folders in a source say about the commands in a file."""
    folders = Path(path).parts[len(_fixed(source).parts) : -1]
    traits = {Trait.DISABLED: r"_?disabled", Trait.GUILD_ONLY: r"[0-9]{17,20}"}
    return frozenset(
        trait
        for trait, name in traits.items()
        if any(re.fullmatch(name, folder, re.IGNORECASE) for folder in folders)
    )


def is_command_file(path: Path) -> bool:
    """Whether a file in a folder of commands is one of them."""
    return (
        path.suffix.casefold() == ".json"
        and path.name not in _NOT_COMMANDS
        and not path.name.endswith(IMPORTED)
    )
