"""The changes of an import, as values: the imported file, and the tasks that are left."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from commandsync.diagnostics import Location, Notice, Problem
from commandsync.records.snapshot import ImportedCommand, ImportedFile, Override
from commandsync.sources.entry import SourceEntry, UnreadPart
from commandsync.sources.importing import Kept

_Keys: TypeAlias = Callable[[ImportedCommand], Iterable[object]]


class ImportDifference(NamedTuple):
    """A difference between two imported files: None for the side that does not have the command."""

    before: ImportedCommand | None
    after: ImportedCommand | None

    @property
    def is_shown(self) -> bool:
        """Whether more differs than the marks of how the command was imported."""
        if not (self.before and self.after):
            return True
        old, new = (replace(each, kept=False, recorded=False, digest="") for each in self if each)
        return old != new


def differences(before: ImportedFile, after: ImportedFile) -> list[ImportDifference]:
    """Return the differences of two imported files, in the order of the second, removals last."""
    left = dict.fromkeys(before.commands)  # in their order
    pairs: dict[int, ImportedCommand] = {}
    keys: tuple[tuple[_Keys, _Keys], ...] = (  # of a command before, and of one after
        (lambda each: [(*each.key, each.syntax)], lambda each: [(*each.key, each.syntax)]),
        (lambda each: [each.key], lambda each: [each.key]),
        (lambda each: [each.name], lambda each: each.formerly),
    )
    for old_keys, new_keys in keys:
        known = {key: command for command in reversed(left) for key in old_keys(command)}
        for index, command in enumerate(after.commands):
            found = (known.pop(key, None) for key in new_keys(command) if index not in pairs)
            if old := next(filter(None, found), None):
                pairs[index] = old
                del left[old]
    changed = (ImportDifference(pairs.get(n), command) for n, command in enumerate(after.commands))
    return [
        *(each for each in changed if each.before != each.after),
        *(ImportDifference(command, None) for command in left),
    ]


class FileEdit(NamedTuple):
    """A file with its text before and after; None where it does not exist yet."""

    path: str
    before: str | None
    after: str


class LeftOut(NamedTuple):
    """A command that is on no public list; the reason is the end of a sentence about it."""

    name: str
    reason: str
    place: Location | None = None


class CommandInFile(NamedTuple):
    """A command of a source: as its reader returns it, and as the imported file has it."""

    entry: SourceEntry
    command: ImportedCommand
    source: str  # the name of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The changes of an import, and the remaining tasks."""

    path: str  # the manifest
    sources: tuple[str, ...]  # that were read, relative to the manifest's folder
    before: ImportedFile  # both sides of a merge conflict together
    after: ImportedFile
    differences: tuple[ImportDifference, ...]
    imported: FileEdit | None  # the imported file, if it changes
    manifest: FileEdit | None  # the manifest, if it gets `import:` or is new
    left_out: tuple[LeftOut, ...] = ()
    kept: tuple[Kept, ...] = ()
    unread: tuple[UnreadPart, ...] = ()  # parts that declare a command and are not read
    acknowledged: tuple[UnreadPart, ...] = ()  # those that the manifest names under `import.unread`
    generated: tuple[str, ...] = ()  # files that are not read, since a program wrote them
    notes: tuple[Notice, ...] = ()  # on the sources
    overrides: tuple[Override, ...] = ()  # the entries of the manifest that mean a command
    strays: tuple[tuple[str, Location], ...] = ()  # those that meant one before, and mean none now
    problems: tuple[Problem, ...] = ()  # of the manifest with the new file
    # The keys of entries of the manifest that would keep what was edited by hand.
    edits: tuple[Mapping[str, str], ...] = ()
    was_edited: bool = False  # whether the file was edited by hand
    refusal: Notice | None = None  # why the import is refused: it would remove too much
    places: Mapping[tuple[str, str], Location] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> tuple[FileEdit, ...]:
        """Every file that changes, in the order in which they are written."""
        return tuple(edit for edit in (self.imported, self.manifest) if edit)

    @property
    def fails_check(self) -> bool:
        """Whether a check fails, even if no file changes."""
        return bool(self.unread or self.strays) or self.refusal is not None

    @property
    def added(self) -> int:
        """How many commands are added to the public lists."""
        return sum(1 for each in self.differences if is_public(each.after) > is_public(each.before))

    @property
    def removed(self) -> int:
        """How many commands leave the public lists."""
        return sum(1 for each in self.differences if is_public(each.before) > is_public(each.after))

    @property
    def edited(self) -> int:
        """How many public commands change, more than in how they were imported."""
        public = (each for each in self.differences if is_public(each.before))
        return sum(1 for each in public if is_public(each.after) and each.is_shown)

    def place_of(self, difference: ImportDifference) -> Location | None:
        """Return where the code declares a command; None if that is not known."""
        command = difference.after or difference.before
        return self.places.get((command.name, command.syntax)) if command else None


def is_public(command: ImportedCommand | None) -> bool:
    """Whether public lists show a command."""
    return command is not None and not command.left_out
