"""What the readers of code share: its files, and one list of what all of them declare."""

import gc
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.files import files_of, folder_traits, read_bytes

BY_HAND = "write it as a constant in the code, or the command in the manifest"
NOT_IMPORTED = "its commands are not imported"
PYTHON = (".py", ".pyw")
SCRIPTS = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")
"""How files of JavaScript and TypeScript end."""

T = TypeVar("T")


@contextmanager
def without_collector() -> Iterator[None]:
    """Leave the garbage collector off: it would look at all syntax trees, half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def code_files(
    root: Path, inside: Iterable[Path] | None, suffixes: Collection[str], tests: Collection[str]
) -> Iterator[str]:
    """Yield the file, or those `inside` a folder with one of the suffixes; not its `tests`."""
    if not root.is_dir():
        yield root.as_posix()
        return
    for file in files_of(root) if inside is None else inside:
        if file.suffix in suffixes and not set(tests) & set(file.relative_to(root).parts):
            yield file.as_posix()


def parsed(path: str, parse: Callable[[str, bytes], T]) -> T | Notice:
    """Return what a file contains, or why it cannot be read."""
    try:
        return parse(path, read_bytes(path))
    except FileError as error:
        return Notice(error.message, error.hint, Location(path))


def declaring(
    files: Iterable[str], named: str, may_declare: Callable[[str, bytes], object]
) -> Iterator[str]:
    """Yield the files that may declare commands, by their contents, and those without one.

    Raises `FileError` if the file that the user named cannot be read.
    """
    for file in files:
        try:
            is_wanted = may_declare(file, read_bytes(file))
        except FileError:
            if file == named:
                raise
            is_wanted = True
        if is_wanted:
            yield file


def code_reading(
    entries: Collection[SourceEntry], notes: Iterable[Notice], root: Path, *, complete: bool
) -> SourceReading:
    """Return what code declares, in the order of the files and their lines.

    A key that several commands have is none, and of equal commands the first one counts.
    """
    keys = Counter(entry.key for entry in entries)
    unique_entries: dict[tuple[str, str, bool], SourceEntry] = {}
    all_notes = set(notes)
    for entry in sorted(entries, key=lambda entry: _position(entry.place)):
        unique = entry if keys[entry.key] == 1 else replace(entry, key=None)
        apart = bool(folder_traits(str(entry.place), root.as_posix()))
        first = unique_entries.setdefault((entry.name, entry.syntax[:1], apart), unique)
        if first is not unique:
            message = f"{entry.name!r} is declared again (first at {first.place})"
            all_notes.add(Notice(message, "only the first is imported", entry.place))
    return SourceReading(
        entries=tuple(unique_entries.values()),
        notes=tuple(sorted(all_notes, key=lambda note: (_position(note.location), note.message))),
        complete=complete,
    )


def _position(place: Location | None) -> tuple[list[str], int, int]:
    """Return what places are sorted by: folders, file, line, column."""
    known = place or Location("")
    return (known.path.split("/"), known.line, known.column)
