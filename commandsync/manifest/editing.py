"""Edits of a manifest file in place: every character outside the changed values stays.

What is written where comes from the places of the nodes; the file is never written anew. The result
is read again and compared with what the edits mean, so that an anchor, an alias or an odd layout
ends in an error, never in another change than the one that was asked for.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from commandsync.diagnostics import Problem
from commandsync.errors import ManifestError
from commandsync.manifest.entries import EntryEdits, edit_collection
from commandsync.manifest.events import parse
from commandsync.manifest.layout import OddLayoutError
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.patch import Patch
from commandsync.manifest.problems import FileProblems, Problems
from commandsync.manifest.source import Allowance, Source
from commandsync.records.texts import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Mapping as AnyMapping
    from collections.abc import Sequence as AnySequence

    from commandsync.manifest.style import Value

_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class AddEntry:
    """Add an entry.

    Attributes:
        collection: The key of the list, such as `commands`; it is added where it is missing.
        values: Keys with their texts; `formerly` may be a tuple of texts.
        after: The index of the entry before it, counted in the file as it is; None for the end.
    """

    collection: str
    values: AnyMapping[str, Value]
    after: int | None = None


@dataclass(frozen=True, slots=True)
class SetField:
    """Replace the value of a key of an entry, or add the key."""

    collection: str
    index: int
    key: str
    value: Value


@dataclass(frozen=True, slots=True)
class RemoveField:
    """Remove a key of an entry with its value; nothing happens where it is missing."""

    collection: str
    index: int
    key: str


@dataclass(frozen=True, slots=True)
class RemoveEntry:
    """Remove an entry."""

    collection: str
    index: int


Edit = AddEntry | SetField | RemoveField | RemoveEntry


def edit(text: str, edits: AnySequence[Edit], *, path: str) -> str:
    """Edit a manifest file, or one that a manifest includes.

    Comments, the order, quotes, line breaks, a byte order mark and a missing last line break stay.
    New entries are written like their neighbours.

    Args:
        text: The content of the file, with its line breaks as they are.
        edits: The edits; their indices are those of the file as it is, whatever they add or remove.
        path: The file, for error messages.

    Raises:
        ManifestError: The file is not valid YAML, or cannot be edited safely in its layout.
        IndexError: The file has no entry of that index.
    """
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    source = Source(path, text.removeprefix(_BYTE_ORDER_MARK))
    root = _root(source)
    patch, wanted = Patch(source.text), _plain(root)
    at = 0
    try:
        for collection, entry_edits in _by_collection(edits).items():
            at = _place(root, collection, entry_edits)
            edit_collection(patch, root, collection, entry_edits)
            wanted[collection] = _edited(wanted.get(collection, []), entry_edits)
        _check(result := patch.result(), wanted, at)
    except OddLayoutError as error:
        (at,) = error.args
        message = "the edit cannot be made in place"
        hint = "make it by hand: anchors, aliases and unusual layouts are not edited"
        problem = Problem(source.location(at), message, hint, source.excerpt(at))
        raise ManifestError([problem]) from error
    return mark + result


def _root(source: Source) -> Mapping:
    """Parse a file; `ManifestError` unless it is a valid mapping."""
    problems = Problems()
    report = FileProblems(source, problems)
    root = parse(report, Allowance()).root
    problems.raise_if_any()
    if isinstance(root, Mapping):
        return root
    message = "a manifest must have keys at its top level, such as version: and commands:"
    raise ManifestError([Problem(source.location(0), message)])


def _by_collection(edits: Iterable[Edit]) -> dict[str, EntryEdits]:
    grouped: defaultdict[str, EntryEdits] = defaultdict(EntryEdits)
    for change in edits:
        entries = grouped[change.collection]
        match change:
            case AddEntry():
                entries.added.append((change.after, change.values))
            case SetField():
                entries.changed[change.index][change.key] = change.value
            case RemoveField():
                entries.changed[change.index][change.key] = None
            case RemoveEntry():
                entries.removed.add(change.index)
            case _:
                assert_never(change)
    for entries in grouped.values():
        for index in entries.removed:
            entries.changed.pop(index, None)
    return grouped


def _plain(node: Node) -> Any:  # noqa: ANN401 - what a node says
    """Return what a node says: strings as they are compared, None, lists and dicts."""
    match node:
        case Scalar():
            return None if node.is_null else canonical(node)
        case Sequence():
            return [_plain(item) for item in node]
        case _:
            return {str(key): _plain(value) for key, value in node.items()}


def _edited(entries: list[Any], edits: EntryEdits) -> list[Any]:
    """Return what the entries of a list say after edits."""
    for index, changes in edits.changed.items():
        entry = entries[index]
        for key, value in changes.items():
            if value is None:
                entry.pop(key, None)
            else:
                entry[key] = _said(value)
    added: defaultdict[int, list[Any]] = defaultdict(list)
    for after, values in edits.added:
        place = len(entries) - 1 if after is None else after
        added[place].append({key: _said(value) for key, value in values.items()})
    result = added[-1]
    for index, entry in enumerate(entries):
        result += [] if index in edits.removed else [entry]
        result += added[index]
    return result


def _said(value: Value) -> str | list[str]:
    return canonical(value) if isinstance(value, str) else [canonical(text) for text in value]


def _check(text: str, wanted: dict[str, Any], at: int) -> None:
    """Raise an `OddLayoutError` unless a text is valid YAML that says what is wanted."""
    problems = Problems()
    root = parse(FileProblems(Source("", text), problems), Allowance()).root
    try:
        problems.raise_if_any()
    except ManifestError as error:
        raise OddLayoutError(at) from error
    if root is None or _plain(root) != wanted:
        raise OddLayoutError(at)


def _place(root: Mapping, collection: str, edits: EntryEdits) -> int:
    """Return the index of the first entry that is edited, or of its list."""
    entries = root.get(collection)
    touched = {*edits.changed, *edits.removed, *(after for after, _ in edits.added if after)}
    if isinstance(entries, Sequence) and entries and touched:
        return entries[min(touched)].at
    return 0 if entries is None else entries.at
