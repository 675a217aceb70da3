"""What an import changes, as a value between the job and the reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commandsync.diagnostics import Location, Notice
    from commandsync.records.snapshot import Entry
    from commandsync.sources.exclusion import Excluded
    from commandsync.sources.merge import Merge


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file with its text before and after; None where it does not exist yet."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """What an import changes, and what it leaves to a person.

    Attributes:
        path: The manifest.
        sources: The sources that were read, relative to the manifest's folder.
        locale: The language that was asked for, instead of the manifest's.
        repeatable: Whether the manifest names sources and this language, for the next import.
        ours: The commands of the manifest before it.
        merge: The changes of the commands, and the reviews.
        edits: The files of the manifest that change.
        imported: The file of what was imported last, if it changes; it is written last.
        excluded: The commands that are left out, each with its reason.
        notes: What was tolerated or could not be read in the sources.
        places: The places of the fields of the commands that change or are for review, by index.
    """

    path: str
    sources: tuple[str, ...]
    locale: str
    repeatable: bool
    ours: tuple[Entry, ...]
    merge: Merge
    edits: tuple[FileEdit, ...]
    imported: FileEdit | None
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[Notice, ...] = ()
    places: Mapping[int, Mapping[str, Location]] = field(default_factory=dict, repr=False)

    @property
    def files(self) -> tuple[FileEdit, ...]:
        """Every file that changes, in the order in which they are written."""
        return (*self.edits, self.imported) if self.imported else self.edits

    def place(self, index: int, key: str = "") -> Location | None:
        """Return the place of a command of the manifest, or of one of its fields."""
        return self.places.get(index, {}).get(key, self.ours[index].location)
