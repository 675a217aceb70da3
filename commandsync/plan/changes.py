"""The four things that can happen to a record, as a closed union of values, and what differs.

deepdiff compares the fields of a record, and the nested objects of a platform (options, choices,
permissions), so that a plan can name what changed in them. Equal records never come here.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any, ClassVar, Literal, NamedTuple

from commandsync.diagnostics import Location
from commandsync.records.snapshot import Levels, Node
from commandsync.records.texts import Resource, Text

Action = Literal["add", "edit", "replace", "delete"]


class FieldChange(NamedTuple):
    """One field of a record with two different texts."""

    field: str
    old: str
    new: str


def field_changes(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Return the fields that differ in two texts of one resource, in their order."""
    old: dict[str, str] = before._asdict()
    new: dict[str, str] = after._asdict()
    changed = {name for name, *_ in _changed_paths(old, new)}
    return tuple(FieldChange(n, old=old[n], new=new[n]) for n in old if n in changed)


def object_changes(before: Levels, after: Levels) -> tuple[str, ...]:
    """Name the differences of a platform's objects of one command, such as `reason choices`.

    A name has those of the options that lead there, and the key; `order` if nothing else differs.
    """
    parts: set[str] = set()
    for old, new in zip_longest(before, after):
        # Without an object the texts are sent alone.
        sides = (old or _texts_of(new), new or _texts_of(old))
        for path in _changed_paths(*map(_by_name, sides)):
            names: list[str] = []
            while path[:1] == ["options"] and path[1:]:
                names.append(path[1])
                path = path[2:]  # noqa: PLW2901 - the rest of it
            parts.add(" ".join([*names, *path[:1]]))
    order = {"order"} if before != after else set()
    return tuple(sorted(parts or order))


def _texts_of(node: Node) -> Node:
    return {key: node[key] for key in ("type", "name", "description") if key in node}


def _by_name(value: Any) -> Any:  # noqa: ANN401 - any part of an object
    """Return an object whose options and choices are known by their names, not by their places."""
    if isinstance(value, Mapping):
        return {key: _by_name(part) for key, part in value.items()}
    is_list = isinstance(value, list | tuple)
    if is_list and all(isinstance(part, Mapping) and "name" in part for part in value):
        return {str(part["name"]): _by_name(part) for part in value}
    return value


class _WholeTexts:
    """An operator of deepdiff by which two texts are equal or differ, however long they are.

    Of texts of several lines deepdiff itself makes a unified diff, in cubic time.
    """

    def match(self, level: Any) -> bool:  # noqa: ANN401 - a level of deepdiff, which has no types
        return isinstance(level.t1, str) and isinstance(level.t2, str)

    def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:  # noqa: ANN401 - as above
        if level.t1 != level.t2:
            diff_instance.custom_report_result("values_changed", level)
        return True


def _changed_paths(old: object, new: object) -> list[list[str]]:
    """Return the paths of the keys that differ in two mappings."""
    if old == new:
        return []
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    operators = [_WholeTexts()]
    tree = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0, custom_operators=operators)
    differences = (level for levels in tree.values() for level in levels)
    return [list(map(str, level.path(output_format="list"))) for level in differences]


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
    same_text: int = 0
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
    same_text: int = 0
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


def sent_texts(changes: Iterable[Change]) -> Iterator[tuple[str, Text]]:
    """Yield the texts that changes send, each with its name for messages."""
    for change in changes:
        if not isinstance(change, Delete):
            at = f" at {change.location}" if change.location else ""
            yield f"the text of {change.resource.with_article}{at}", change.after
