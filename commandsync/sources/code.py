"""What the readers of code share: its files, and one list of what all of them declare."""

import gc
import re
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


def contents(
    files: Iterable[str],
    named: str,
    declaring: re.Pattern[bytes],
    parse: Callable[[str, bytes], T],
) -> Iterator[T | Notice]:
    """Yield what the files that may declare commands contain.

    A file that cannot be read is a note, if it is not the one that the user named.
    """
    for file in files:
        try:
            content = read_bytes(file)
        except FileError as error:
            if file == named:
                raise
            yield Notice(error.message, error.hint, Location(file))
        else:
            if declaring.search(content):  # a file that declares commands has one of a few words
                yield parse(file, content)


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
