"""The four things that can happen to a record, as a closed union of values."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import ClassVar, Literal, NamedTuple

from commandsync.diagnostics import Location
from commandsync.records.texts import Resource, Text

Action = Literal["add", "edit", "replace", "delete"]


class FieldChange(NamedTuple):
    """One field of a record with two different texts."""

    field: str
    old: str
    new: str


def field_changes(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Return the fields that differ in two texts of one resource, in their order.

    deepdiff makes a unified diff of each pair of different multi-line strings, in cubic time, and
    no option of it prevents that. So it compares numbers: equal texts have the same number, a text
    that only `after` has is None, and records that differ in the same way are compared once.
    """
    numbers: dict[str, int] = {}
    places = _differing(
        tuple(numbers.setdefault(text, len(numbers)) for text in before),
        tuple(map(numbers.get, after)),
    )
    return tuple(FieldChange(before._fields[n], old=before[n], new=after[n]) for n in places)


@cache  # the fields of two records are equal in a few thousand ways at most
def _differing(before: tuple[int, ...], after: tuple[int | None, ...]) -> tuple[int, ...]:
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    old, new = (dict(enumerate(numbers)) for numbers in (before, after))
    affected = DeepDiff(old, new, threshold_to_diff_deeper=0).affected_root_keys
    return tuple(sorted(affected))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    resource: Resource
    location: Location | None = None

    @property
    def texts(self) -> tuple[Text, ...]:
        """The text as wanted and the text as listed, where it has them."""
        return tuple(getattr(self, side) for side in ("after", "before") if hasattr(self, side))

    @property
    def name(self) -> str:
        """The name or title as wanted, or as listed where it is deleted."""
        return self.texts[0][0]

    @property
    def ends_record(self) -> bool:
        """Whether it deletes what has ended: the manifest asks for this very delete."""
        return isinstance(self, Delete) and self.until is not None

    @property
    def exempt(self) -> bool:
        """Whether it is a delete that no limit counts and no review has to show."""
        return self.ends_record or (isinstance(self, Delete) and self.exact_copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(_Change):
    """A record that the manifest has and the listing does not have."""

    action: ClassVar[Literal["add"]] = "add"
    after: Text
    # How many records with this very text were listed when the plan was made, those that the plan
    # itself changes or deletes left out; more of them later mean that it has been added since.
    listed: int = 0
    # How many others of those had its name, exactly, folded or cut; more of them later mean that it
    # may have been added since and rewritten.
    same_name: int = 0
    # When it ends by the manifest, after which it must not be added; None for no end.
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(_Change):
    """A listed command whose text changes; its id and uses stay."""

    action: ClassVar[Literal["edit"]] = "edit"
    id: str  # the service's identifier
    before: Text  # the text as listed
    after: Text  # the text as wanted
    fields: tuple[FieldChange, ...]

    @property
    def renames(self) -> bool:
        """Whether the name itself changes."""
        return self.before[0] != self.after[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace(_Change):
    """A listed announcement whose text changes: announcements cannot be edited.

    The new one is added first and the old one deleted after, so that an interruption leaves too
    much rather than too little. The fields are those of `Add`, `Edit` and `Delete`.
    """

    action: ClassVar[Literal["replace"]] = "replace"
    id: str
    before: Text
    after: Text
    fields: tuple[FieldChange, ...]
    listed: int = 0
    same_name: int = 0
    uses: int | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(_Change):
    """A listed record that the manifest does not have, or no longer has."""

    action: ClassVar[Literal["delete"]] = "delete"
    id: str  # the service's identifier
    before: Text  # the text as listed
    uses: int | None = None  # how often it was used, which is lost with it; None if not known
    # When it ended by the manifest, which asks for this delete; None for one that it does not have.
    until: datetime | None = None
    # Whether nothing is lost: it has no uses, and an equal record stays, or counts in its place.
    exact_copy: bool = False


Change = Add | Edit | Replace | Delete
