"""What an import changes in a manifest, and what it leaves to a person, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from commandsync.records.texts import CommandText
    from commandsync.sources.entry import SourceEntry


class Declared(NamedTuple):
    """A command and the source that it is from, as the user named it."""

    source: str
    entry: SourceEntry


class ReviewReason(StrEnum):
    """Why something is left as it is in the manifest."""

    BOTH_CHANGED = "edited here, and changed in the source"
    DIFFERS = "written by hand, and different in the source"
    KEPT = "edited here, and gone from the source"
    DELETED = "deleted here, and changed in the source"
    NAME_TAKEN = "renamed in the source, and its old name belongs to another command now"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEdit:
    """One field to change, with its text in the manifest before and after."""

    field: str
    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A command to add.

    Attributes:
        entry: The command.
        text: Its text in the manifest, with its prefix and its category.
        after: The index of the manifest's entry to write it after; None at the end.
    """

    entry: SourceEntry
    text: CommandText
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A command to edit.

    Attributes:
        index: The index of the manifest's entry.
        entry: The command as the source has it; None if only `formerly` changes.
        fields: The fields to change.
        formerly: The names it had before; None if they stay.
    """

    index: int
    entry: SourceEntry | None = None
    fields: tuple[FieldEdit, ...] = ()
    formerly: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A command to remove, since its source does not have it any more; `index` as in `Edited`."""

    index: int


EntryChange: TypeAlias = Added | Edited | Removed


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Something that only a person can decide; the manifest keeps its text.

    Attributes:
        reason: Why it is left.
        name: The command's name in the manifest, or in the source if the manifest has none.
        index: The index of the manifest's entry; None if it has none.
        entry: The command as the source has it; None if it has none.
        field: The field; empty for the whole command.
        here: The field's text in the manifest.
        there: And in the source.
    """

    reason: ReviewReason
    name: str
    index: int | None = None
    entry: SourceEntry | None = None
    field: str = ""
    here: str = ""
    there: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """The outcome of a three-way merge.

    Attributes:
        changes: The changes of the manifest: edits and removals in its order, then what is added.
        reviews: What is left to a person.
        imported: What the next import compares with.
        unwanted: The commands that were deleted from the manifest by hand.
    """

    changes: tuple[EntryChange, ...] = ()
    reviews: tuple[Review, ...] = ()
    imported: tuple[Declared, ...] = ()
    unwanted: tuple[Declared, ...] = ()

    @property
    def added(self) -> list[Added]:
        """The commands to add."""
        return [change for change in self.changes if isinstance(change, Added)]

    @property
    def edited(self) -> list[Edited]:
        """The commands to edit."""
        return [change for change in self.changes if isinstance(change, Edited)]

    @property
    def removed(self) -> list[Removed]:
        """The commands to remove."""
        return [change for change in self.changes if isinstance(change, Removed)]
