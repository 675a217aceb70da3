"""Commands out of a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
"""

from __future__ import annotations

import gc
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.files import files_of, read_bytes, shown
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.constant import Constants
from commandsync.sources.python.declarations import Declarations
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.inventory import Inventory
from commandsync.sources.python.names import Names
from commandsync.sources.python.parameter import Arguments
from commandsync.sources.python.parsedfile import may_declare
from commandsync.sources.python.scope import Outline
from commandsync.sources.python.trait import Traits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SUFFIXES = {".py", ".pyw"}


def read(paths: Sequence[str]) -> SourceReading:
    """Read the commands that Python files declare.

    What cannot be read without running the code is in the notes: a name that is computed, a file
    that is not valid Python.

    Args:
        paths: Files, and folders that are searched for Python files: not hidden ones, `tests`, or
            those of installed packages.

    Returns:
        The commands in the order of the files and their lines. Their keys are the names of their
        classes and functions, if no other command has the same.

    Raises:
        FileError: A path cannot be read.
    """
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
    with _without_collector():
        return _read(files, paths)


def _read(files: list[str], paths: Sequence[str]) -> SourceReading:
    names = Names(files)
    notes: list[Notice] = []
    outlines: list[Outline] = []
    for file in files:
        content = _content(file, notes, named=file in paths)
        if content is not None and may_declare(content):
            read_file = names.outline(file, content)
            if isinstance(read_file, Outline):
                outlines.append(read_file)
            else:
                notes.append(read_file)
    return _reading(names, outlines, notes)


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


def _files(path: str) -> Iterator[str]:
    folder = Path(path)
    if not folder.is_dir():
        yield shown(folder)
        return
    for file in files_of(folder):
        if file.suffix in _SUFFIXES and "tests" not in file.relative_to(folder).parts:
            yield shown(file)


def _content(file: str, notes: list[Notice], *, named: bool) -> bytes | None:
    """Read a file; one in a folder that cannot be read gets a note."""
    try:
        return read_bytes(file)
    except FileError as error:
        if named:
            raise
        notes.append(Notice(error.message, error.hint, Location(file)))
        return None


def _reading(names: Names, outlines: list[Outline], unread: list[Notice]) -> SourceReading:
    constants = Constants(names)
    inventory = Inventory(outlines, Declarations(names, constants), names)
    traits = Traits(names, constants)
    entries = Entries(
        inventory=inventory,
        cogs=Cogs(outlines, names, constants, traits),
        arguments=Arguments(names, constants),
        constants=constants,
        traits=traits,
    )
    made = [entry for declaration in inventory.declared for entry in entries.of(declaration)]
    keys = Counter(entry.key for entry in made)
    found: dict[tuple[str, str], SourceEntry] = {}
    notes = {*unread, *inventory.notes, *entries.notes}
    for entry in sorted(made, key=lambda entry: _position(entry.place)):
        unique = entry if keys[entry.key] == 1 else replace(entry, key=None)
        first = found.setdefault((entry.name, entry.syntax[:1]), unique)
        if first is not unique:
            message = f"{entry.name!r} is declared again (first at {first.place})"
            notes.add(Notice(message, "only the first is imported", entry.place))
    return SourceReading(
        entries=tuple(found.values()),
        notes=tuple(sorted(notes, key=lambda note: (_position(note.location), note.message))),
        complete=not unread,
    )


def _position(place: Location | None) -> tuple[list[str], int, int]:
    """Return what places are sorted by: folders, file, line, column."""
    known = place or Location("")
    return (known.path.split("/"), known.line, known.column)
