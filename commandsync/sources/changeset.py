"""The changes of an import to a manifest, and its reviews, which a person decides, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from commandsync.diagnostics import Location, Notice
from commandsync.plan.changes import FieldChange
from commandsync.records.snapshot import Entry
from commandsync.records.texts import CommandText
from commandsync.sources.entry import Excluded, SourceEntry, Unread


class Declared(NamedTuple):
    """A command and the source that it is from, as the user named it."""

    source: str
    entry: SourceEntry
    file: str = ""  # where it is declared, relative to the manifest's folder; empty if unknown


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A command that its source does not have, and of which nothing proves that it is gone."""

    index: int  # of the manifest's entry
    name: str
    reason: str


class ReviewReason(StrEnum):
    """Why something is left as it is in the manifest."""

    BOTH_CHANGED = "edited here, and changed in the source"
    DIFFERS = "written by hand, and different in the source"
    KEPT = "edited here, and gone from the source"
    DELETED = "deleted here, and changed in the source"
    NOT_WRITTEN = "cannot be edited in place: anchors, aliases and odd layouts are not"
    NAME_TAKEN = "renamed in the source, and its old name belongs to another command now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A command to add."""

    entry: SourceEntry
    text: CommandText  # its text in the manifest, with its prefix and its category
    after: int | None  # the index of the manifest's entry to write it after; None at the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A command to edit."""

    index: int  # the index of the manifest's entry
    entry: SourceEntry | None = None  # as in the source; None if only `formerly` changes
    fields: tuple[FieldChange, ...] = ()  # with the texts in the manifest before and after
    formerly: tuple[str, ...] | None = None  # the names it had before; None if they stay


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A command to remove, since its source does not have it any more; `index` as in `Edited`."""

    index: int


EntryChange: TypeAlias = Added | Edited | Removed
Change = TypeVar("Change", Added, Edited, Removed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Something that only a person can decide; the manifest keeps its text."""

    reason: ReviewReason  # why it is left
    name: str  # the command's name in the manifest, or in the source if the manifest has none
    index: int | None = None  # the index of the manifest's entry; None if it has none
    entry: SourceEntry | None = None  # the command as the source has it; None if it has none
    field: str = ""  # the field; empty for the whole command
    here: str = ""  # the field's text in the manifest
    there: str = ""  # and in the source; of a new command that cannot be added, its entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The outcome of a three-way merge."""

    changes: tuple[EntryChange, ...] = ()  # edits and removals in its order, then additions
    reviews: tuple[Review, ...] = ()  # for a person to decide
    imported: tuple[Declared, ...] = ()  # that the next import compares with
    held_back: tuple[HeldBack, ...] = ()  # removals without proof
    gone: tuple[Declared, ...] = ()  # as well, until a person decides: no source has it any more
    unwanted: tuple[Declared, ...] = ()  # the commands that were deleted from the manifest by hand

    def of(self, kind: type[Change]) -> list[Change]:
        """Return the changes of one kind."""
        return [change for change in self.changes if isinstance(change, kind)]


class FileEdit(NamedTuple):
    """A file with its text before and after; None where it does not exist yet."""

    path: str
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The changes of an import, and its reviews."""

    path: str  # the manifest
    sources: tuple[str, ...]  # the sources that were read, relative to the manifest's folder
    locale: str  # the language that was asked for, instead of the manifest's
    repeatable: bool  # whether the manifest names sources and this language, for the next import
    ours: tuple[Entry, ...]  # the commands of the manifest before it
    merge: Merge
    edits: tuple[FileEdit, ...]  # the files of the manifest that change
    imported: FileEdit | None  # `commands.imported.json`, if it changes; written last
    objects: int = 0  # how many of the platform's own objects that file has
    excluded: tuple[Excluded, ...] = ()
    notes: tuple[Notice, ...] = ()  # on the sources
    unread: tuple[Unread, ...] = ()  # candidates for commands that are not read
    acknowledged: tuple[Unread, ...] = ()  # those that the manifest names under `import.unread`
    refusal: Notice | None = None  # why the import is refused: it would remove too much
    generated: tuple[str, ...] = ()  # files that are not read, since a program wrote them
    # The places of the fields of the commands that change or are for review, by index.
    places: Mapping[int, Mapping[str, Location]] = field(default_factory=dict, repr=False)

    @property
    def is_partial(self) -> bool:
        """Whether a change has to be made by hand."""
        return any(review.reason is ReviewReason.NOT_WRITTEN for review in self.merge.reviews)

    @property
    def fails_check(self) -> bool:
        """Whether a check fails, even if no file changes."""
        return self.is_partial or bool(self.unread) or self.refusal is not None

    @property
    def files(self) -> tuple[FileEdit, ...]:
        """Every file that changes, in the order in which they are written.

        `commands.imported.json` is last: after an interruption the next import finds the commands
        in the manifest as the sources have them, and goes on.
        """
        return (*self.edits, self.imported) if self.imported else self.edits

    def place(self, index: int, key: str = "") -> Location | None:
        """Return the place of a command of the manifest, or of one of its fields."""
        return self.places.get(index, {}).get(key, self.ours[index].location)
