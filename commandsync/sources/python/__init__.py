"""Commands out of a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
"""

import gc
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.files import files_of, folder_traits, read_bytes
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.constant import Code
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.inventory import Inventory
from commandsync.sources.python.parameter import Arguments
from commandsync.sources.python.scope import Outline

_SUFFIXES = {".py", ".pyw"}
_DECLARING = re.compile(rb"command|group|context_menu|Cog|ContextMenu")


def read(path: str, inside: Sequence[Path] | None = None) -> SourceReading:
    """Read the commands that a Python file, or the Python files of a folder, declare.

    What cannot be read without running the code is in the notes: a name that is computed, a file
    that is not valid Python.

    Args:
        path: The file, or a folder.
        inside: The files of the folder that count; by default all without those in hidden folders,
            `tests` and installed packages.

    Returns:
        The commands in the order of the files and their lines. Their keys are the names of their
        classes and functions, if no other command has the same.

    Raises:
        FileError: The path cannot be read.
    """
    with _without_collector():
        return _reading(Path(path), inside)


@contextmanager
def _without_collector() -> Iterator[None]:
    """Leave the garbage collector off: it would look at all syntax trees, half of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _reading(root: Path, inside: Sequence[Path] | None) -> SourceReading:
    files = list(_files(root, inside))
    code = Code(files)
    contents = list(_contents(code, files, named=root.as_posix()))
    outlines = [content for content in contents if isinstance(content, Outline)]
    unread = {content for content in contents if isinstance(content, Notice)}
    inventory = Inventory(outlines, code)
    entries = Entries(inventory, Cogs(outlines, code), Arguments(code), code)
    made = [entry for declaration in inventory.declared for entry in entries.of(declaration)]
    keys = Counter(entry.key for entry in made)
    unique_entries: dict[tuple[str, str, bool], SourceEntry] = {}
    notes = {*unread, *inventory.notes, *entries.notes}
    for entry in sorted(made, key=lambda entry: _position(entry.place)):
        unique = entry if keys[entry.key] == 1 else replace(entry, key=None)
        apart = bool(folder_traits(str(entry.place), root.as_posix()))
        first = unique_entries.setdefault((entry.name, entry.syntax[:1], apart), unique)
        if first is not unique:
            message = f"{entry.name!r} is declared again (first at {first.place})"
            notes.add(Notice(message, "only the first is imported", entry.place))
    return SourceReading(
        entries=tuple(unique_entries.values()),
        notes=tuple(sorted(notes, key=lambda note: (_position(note.location), note.message))),
        complete=not unread,
    )


def _files(root: Path, inside: Sequence[Path] | None) -> Iterator[str]:
    if not root.is_dir():
        yield root.as_posix()
        return
    for file in files_of(root) if inside is None else inside:
        if file.suffix in _SUFFIXES and "tests" not in file.relative_to(root).parts:
            yield file.as_posix()


def _contents(code: Code, files: Iterable[str], *, named: str) -> Iterator[Outline | Notice]:
    """Yield what files contain; a note on one that cannot be read, unless the user named it."""
    for file in files:
        try:
            content = read_bytes(file)
        except FileError as error:
            if file == named:
                raise
            yield Notice(error.message, error.hint, Location(file))
        else:
            if _DECLARING.search(content):  # a file that declares commands has one of a few words
                yield code.outline(file, content)


def _position(place: Location | None) -> tuple[list[str], int, int]:
    """Return what places are sorted by: folders, file, line, column."""
    known = place or Location("")
    return (known.path.split("/"), known.line, known.column)
