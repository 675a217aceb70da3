"""The four things that can happen to a record, as a closed union of values, and the differences.

deepdiff compares the fields of a record, and the nested objects of a platform (options, choices,
permissions), so that a plan can name their changes. Equal records never come here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any, ClassVar, Literal, NamedTuple

from commandsync.diagnostics import Location
from commandsync.records.snapshot import Levels, Node
from commandsync.records.texts import Resource, Text, compact, object_of

Action = Literal["add", "edit", "replace", "delete"]


class FieldChange(NamedTuple):
    """One field of a record with two different texts."""

    field: str
    old: str
    new: str


class PartChange(NamedTuple):
    """One part of an object that differs.

    If only the order of a list differs, `old` and `new` are the names in it. Options and
    choices are called by their names in the path, not by their places.
    """

    path: tuple[str, ...]  # the keys and names that lead there
    label: str  # the same in words, such as `option region: choice eu`
    old: Any  # JSON; None for a part that is new
    new: Any  # JSON; None for a part that is gone
    breaking: bool  # whether something that users did before does not work any more

    @property
    def field(self) -> str:
        """The path as one text: `options/region/choices/eu`; `~1` is a `/` of a name, `~0` a `~`.

        That is the notation of JSON pointers (RFC 6901), but for the `/` in front.
        """
        return "/".join(key.replace("~", "~0").replace("/", "~1") for key in self.path)


def field_changes(before: Text, after: Text) -> tuple[FieldChange, ...]:
    """Return the fields that differ in two texts of one resource, in their order.

    Of texts of objects, these are the parts that differ, with compact JSON for all but texts.
    """
    return all_field_changes([(before, after)])[0]


def all_field_changes(pairs: Sequence[tuple[Text, Text]]) -> list[tuple[FieldChange, ...]]:
    """Return the fields that differ in each pair of texts, as `field_changes` does for one."""
    found: list[list[FieldChange]] = [[] for _ in pairs]
    old: dict[tuple[int, str], str] = {}
    new: dict[tuple[int, str], str] = {}
    for number, (before, after) in enumerate(pairs):
        nodes = object_of(before), object_of(after)
        if nodes[0] is not None and nodes[1] is not None:
            found[number] = [
                FieldChange(part.field, old=_as_text(part.old), new=_as_text(part.new))
                for part in part_changes(nodes[0], nodes[1])
            ]
            continue
        for name, *values in zip(before._fields, before, after, strict=True):
            if values[0] != values[1]:
                old[number, name], new[number, name] = values
    # One mapping for all records: a call of deepdiff takes longer than the comparison.
    changed = {key for (key,) in _changed_paths(old, new)} if old else set()
    for number, name in filter(changed.__contains__, old):  # in the order of the fields
        key = number, name
        found[number].append(FieldChange(name, old=old[key], new=new[key]))
    return [tuple(changes) for changes in found]


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)


def part_changes(before: Node, after: Node) -> tuple[PartChange, ...]:
    """Return the parts that differ in two objects of one command, the name first."""
    changes = []
    for keys in _changed_paths(_known_by_name(before), _known_by_name(after)):
        path = tuple(keys)
        label = ": ".join(_labels(path, before, after))
        old, new = _at(before, path), _at(after, path)
        breaking = _is_breaking(path, before, after)
        changes.append(PartChange(path, label, old, new, breaking))
    for path in _reordered(before, after, ()):
        *parents, key = _labels(path, before, after)
        label = ": ".join([*parents, f"order of {key}"])
        old, new = (_names(_at(side, path[:-1]), path[-1]) for side in (before, after))
        changes.append(PartChange(path, label, old, new, breaking=False))
    return tuple(sorted(changes, key=lambda change: (change.path[0] != "name", change.path)))


_LISTS = ("options", "choices")
_NESTED = {1: "sub-command", 2: "sub-command group"}


def _known_by_name(node: Node) -> dict[str, Any]:
    """Return an object whose options and choices are known by their names.

    A missing list is an empty dict. A list in which two parts have one name, or one has no name,
    stays as it is.
    """
    named = {
        key: {str(part["name"]): _known_by_name(part) for part in node.get(key, ())}
        for key in _LISTS
        if _names(node, key) is not None
    }
    return {**node, **named}


def _names(node: Node, key: str) -> list[str] | None:
    """Return the names in a list of an object; None if they do not tell its parts apart."""
    parts = node.get(key, ())
    if not isinstance(parts, list | tuple):
        return None
    if not all(isinstance(part, Mapping) and "name" in part for part in parts):
        return None
    names = [str(part["name"]) for part in parts]
    return names if len(set(names)) == len(names) else None


def _at(node: Any, path: Sequence[str]) -> Any:  # noqa: ANN401 - any part of an object
    """Return the part of an object that a path leads to; None if it has none."""
    for key in path:
        if isinstance(node, Mapping):
            node = node.get(key)
        else:
            node = next((part for part in node or () if str(part["name"]) == key), None)
    return node


def _reordered(old: Node, new: Node, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the lists in which the parts that both sides have are in another order."""
    for key in _LISTS:
        before, after = _names(old, key) or [], _names(new, key) or []
        if [n for n in before if n in after] != [n for n in after if n in before]:
            yield (*path, key)
        for name in sorted({*before} & {*after}):
            way = (key, name)
            yield from _reordered(_at(old, way), _at(new, way), (*path, *way))


def _labels(path: Sequence[str], before: Node, after: Node) -> list[str]:
    """Return the words for each option or choice that a path leads through, and for its end."""
    words, at = [], 0
    while path[at : at + 1] and path[at] in _LISTS and path[at + 1 : at + 2]:
        at += 2
        part = _at(after, path[:at]) or _at(before, path[:at])
        kind = "choice" if path[at - 2] == "choices" else _NESTED.get(part.get("type"), "option")
        words.append(f"{kind} {path[at - 1]}")
    return [*words, *([" ".join(path[at:])] if path[at:] else [])]


def _is_breaking(path: Sequence[str], before: Node, after: Node) -> bool:
    """Whether a change takes away something that users could do, or asks more of them."""
    old, new, above = _at(before, path), _at(after, path), path[:-1]
    match path[-2:]:
        case ("options" | "choices", _) if new is None:
            return True
        case ("choices", _) if old is None:  # before, any value was taken
            return not _at(before, above)
        case ("options", _) if old is None:
            parent = _at(before, above[:-1])
            # Without sub-commands, the command or group is called itself.
            has_nested = any(part.get("type") in _NESTED for part in parent.get("options", ()))
            alone = new.get("type") in _NESTED and not has_nested
            return alone or bool(new.get("required"))
        case (_, "required" | "type"):
            return bool(new)
        case _:
            return False


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


class _Wholes:
    """An operator of deepdiff by which two texts, or two lists, are equal or differ as wholes.

    Of texts of several lines deepdiff itself makes a unified diff, in cubic time.
    """

    def match(self, level: Any) -> bool:  # noqa: ANN401 - a level of deepdiff, which has no types
        return any(
            isinstance(level.t1, kind) and isinstance(level.t2, kind) for kind in (str, list)
        )

    def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:  # noqa: ANN401 - as above
        if compact(level.t1) != compact(level.t2):  # a 1 in a list is not True
            diff_instance.custom_report_result("values_changed", level)
        return True


def _changed_paths(old: object, new: object) -> list[list[Any]]:
    """Return the paths of the keys that differ in two mappings."""
    from deepdiff import DeepDiff  # noqa: PLC0415 - most runs have no edit to show

    tree = DeepDiff(
        old,
        new,
        view="tree",
        threshold_to_diff_deeper=0,
        custom_operators=[_Wholes()],
        ignore_private_variables=False,  # an option's name may begin with `__`
    )
    differences = (level for levels in tree.values() for level in levels)
    return [level.path(output_format="list") for level in differences]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """The fields of every change."""

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
        """Whether it deletes a record that has ended: the manifest asks for this very delete."""
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
    # How many others of these records had its name, exactly, folded or cut; more later mean that it
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
    much rather than too little. The fields are as in `Add`, `Edit` and `Delete`.
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
    # When it ended by the manifest, which asks for this delete; None if that has no such record.
    until: datetime | None = None
    # Whether nothing is lost: it has no uses, and an equal record stays, or counts in its place.
    exact_copy: bool = False
    # Why it goes before adds and edits: another record gets its name, or the list is full. Empty
    # if it goes last.
    first: Literal["", "name", "full"] = ""


Change = Add | Edit | Replace | Delete


def sent_texts(changes: Iterable[Change]) -> Iterator[tuple[str, Text]]:
    """Yield the texts that changes send, each with its name for messages."""
    for change in changes:
        if not isinstance(change, Delete):
            at = f" at {change.location}" if change.location else ""
            yield f"the text of {change.resource.with_article}{at}", change.after
