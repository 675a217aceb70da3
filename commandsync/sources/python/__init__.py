"""Commands out of a bot's Python code, read and never run.

discord.py, py-cord, nextcord and disnake: commands, hybrid commands, slash commands, groups, cogs.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.diagnostics import Location, Notice
from commandsync.errors import FileError
from commandsync.sources.entry import SourceEntry, SourceReading
from commandsync.sources.files import files_of, read_bytes, shown
from commandsync.sources.python.cog import Cogs
from commandsync.sources.python.constant import Constants
from commandsync.sources.python.declaration import Declaration, Declarations
from commandsync.sources.python.entries import Entries
from commandsync.sources.python.lineage import Kind, lineage
from commandsync.sources.python.names import Definition, Names
from commandsync.sources.python.parameter import Arguments
from commandsync.sources.python.parsedfile import MOST_BYTES, may_declare
from commandsync.sources.python.scope import Outline, Scope, last_name
from commandsync.sources.python.trait import Traits

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

_SUFFIXES = {".py", ".pyw"}
_FRAMEWORK = re.compile("discord|disnake|nextcord|redbot")
_BY_HAND = "declare it with a decorator in the code, or by hand in the manifest"


def read(paths: Sequence[str]) -> SourceReading:
    """Read the commands that Python files declare.

    What cannot be read without running the code is in the notes: a name that is computed, a file
    that is not valid Python.

    Args:
        paths: Files, and folders that are searched for Python files: not hidden ones, `tests`, or
            those of installed packages.

    Returns:
        The commands in the order of the files and their lines.

    Raises:
        FileError: A path cannot be read.
    """
    files = list(dict.fromkeys(file for path in paths for file in _files(path)))
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
    return _Reader(names, outlines, notes).reading()


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
        return read_bytes(file, most=MOST_BYTES)
    except FileError as error:
        if named:
            raise
        notes.append(Notice(error.message, error.hint, Location(file)))
        return None


class _Reader:
    """Reads what was found in all files."""

    def __init__(self, names: Names, outlines: list[Outline], notes: list[Notice]) -> None:
        self._names = names
        self._outlines = outlines
        self._complete = not notes  # so far, of files that could not be read
        self._notes = notes
        self._constants = Constants(names)
        self._declarations = Declarations(names, self._constants)

    def reading(self) -> SourceReading:
        declared = list(dict.fromkeys(self._declared()))
        traits = Traits(self._constants)
        entries = Entries(
            cogs=Cogs(self._outlines, self._names, self._constants, traits),
            arguments=Arguments(self._names, self._constants),
            constants=self._constants,
            traits=traits,
            instances=self._instances(declared),
            with_sub_commands={part.parent for part in declared if part.parent is not None},
        )
        found: dict[tuple[str, ...], SourceEntry] = {}
        for declaration in declared:
            for entry in entries.of(declaration):
                found.setdefault((entry.name, entry.syntax, entry.category or ""), entry)
        order = {part.scope.file.path: number for number, part in enumerate(self._outlines)}
        notes = [*self._notes, *entries.notes]
        return SourceReading(
            entries=tuple(sorted(found.values(), key=lambda entry: _position(entry.place, order))),
            notes=tuple(sorted(set(notes), key=lambda note: _position(note.location, order))),
            complete=self._complete,
        )

    def _declared(self) -> Iterator[Declaration]:
        for read_file in self._outlines:
            for function, scope in read_file.functions:
                yield from filter(None, [self._declarations.of_function(function, scope)])
            for call, scope in read_file.created:
                yield from filter(None, [self._declarations.of_call(call, scope)])
            for call, scope in read_file.registered:
                yield from self._registered(call, scope)

    def _registered(self, call: ast.Call, scope: Scope) -> Iterator[Declaration]:
        """Yield what a call registers; a note if that cannot be told."""
        if last_name(call.func) == "ContextMenu":
            yield from filter(None, [self._declarations.of_call(call, scope)])
            return
        for argument in call.args[:1]:
            declaration = self._declarations.of(argument, scope)
            if declaration is not None:
                yield declaration
            elif _FRAMEWORK.search(scope.file.text):
                message = "what is registered here is computed at run time"
                self._notes.append(Notice(message, _BY_HAND, scope.file.place(call)))

    def _instances(self, declared: list[Declaration]) -> dict[ast.ClassDef, list[Declaration]]:
        """Return the groups of each class of slash commands: its instances, or the class itself."""
        instances: dict[ast.ClassDef, list[Declaration]] = {}
        for declaration in declared:
            if declaration.instance_of is not None:
                instances.setdefault(declaration.instance_of, []).append(declaration)
        for read_file in self._outlines:
            for node, inside in read_file.classes.items():
                definition = Definition(node, inside.parent or inside)
                if node not in instances and lineage(definition, self._names).kind is Kind.GROUP:
                    group = self._declarations.of_class(definition)
                    instances[node] = [group] if group is not None else []
        return instances


def _position(place: Location | None, order: Mapping[str, int]) -> tuple[int, int, int]:
    if place is None:
        return (-1, 0, 0)
    return (order.get(place.path, -1), place.line, place.column)
