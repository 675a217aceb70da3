"""Edits of a manifest file in place: every character outside the changed values stays.

What is written where comes from the places of the nodes; the file is never written anew. The result
is read again and compared with what the edits mean, so that an anchor, an alias or an odd layout
ends in an error, never in another change than the one that was asked for.
"""

from collections import defaultdict
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from contextlib import suppress
from typing import Any, cast

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.entries import ListEdits, edit_list
from commandsync.manifest.events import parse
from commandsync.manifest.layout import OddLayoutError, Patch
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.problems import FileProblems, Problems
from commandsync.manifest.scalars import Value
from commandsync.manifest.source import Allowance, Source
from commandsync.records.texts import canonical

_BYTE_ORDER_MARK = "\ufeff"


def edit(text: str, edits: AnyMapping[str, ListEdits], *, path: str) -> str:
    """Edit the lists of a manifest file, by their keys, or of one that a manifest includes.

    Comments, the order, quotes, line breaks, a byte order mark and a missing last line break stay.
    New entries are written like their neighbours. Raises `ManifestError` if the file is not valid
    YAML, or cannot be edited safely in its layout, and `IndexError` if the file has no entry of
    that index.
    """

    def change(patch: Patch, root: Mapping, wanted: dict[str, Any]) -> int:
        at = 0
        for name, list_edits in edits.items():
            at = _place(root, name, list_edits)
            edit_list(patch, root, name, list_edits)
            wanted[name] = _edited(wanted.get(name, []), list_edits)
        return at

    return _changed(text, path, change)


def with_key(text: str, key: str, *, path: str) -> str:
    """Return a valid manifest with a new key, as lines of YAML, below its version.

    Raises `ManifestError` if it is laid out in a way that is not edited.
    """

    def change(patch: Patch, root: Mapping, wanted: dict[str, Any]) -> int:
        wanted |= _plain(_root(Source("", key)))
        line = f"\n{key.rstrip()}".replace("\n", patch.line_break)
        patch.insert(patch.source.line_end(root["version"].end), line)
        return root["version"].at

    return _changed(text, path, change)


def _changed(text: str, path: str, change: Callable[[Patch, Mapping, dict[str, Any]], int]) -> str:
    """Return a text that says what is wanted; `change` enters how and what, and says where."""
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    source = Source(path, text.removeprefix(_BYTE_ORDER_MARK))
    root = _root(source)
    patch, wanted = Patch(source), _plain(root)
    try:
        at = change(patch, root, wanted)
        with suppress(ManifestError):
            if _plain(_root(Source("", result := patch.result()))) == wanted:
                return mark + result
    except OddLayoutError as error:
        (at,) = error.args
    message = "the edit cannot be made in place"
    hint = "make it by hand: anchors, aliases and odd layouts are not edited"
    raise ManifestError([Problem(source.location(at), message, hint, source.excerpt(at))])


def field_places(text: str, collection: str, *, path: str) -> list[dict[str, Location]]:
    """Return the places of the values of each entry of a valid file, by their keys."""
    source = Source(path, text.removeprefix(_BYTE_ORDER_MARK))
    entries = cast("list[Mapping]", _root(source).get(collection, []))
    return [{key: source.location(value.at) for key, value in entry.items()} for entry in entries]


def _root(source: Source) -> Mapping:
    """Parse a file; `ManifestError` unless it is a valid mapping."""
    problems = Problems()
    root = parse(FileProblems(source, problems), Allowance()).root
    problems.raise_if_any()
    if isinstance(root, Mapping):
        return root
    message = "a manifest must have keys at its top level, such as version: and commands:"
    raise ManifestError([Problem(source.location(0), message)])


def _plain(node: Node) -> Any:  # noqa: ANN401 - what a node says
    """Return what a node says: strings as they are compared, None, lists and dicts."""
    match node:
        case Scalar():
            return None if node.is_null else canonical(node)
        case Sequence():
            return [_plain(item) for item in node]
        case _:
            return {str(key): _plain(value) for key, value in node.items()}


def _edited(entries: list[Any], edits: ListEdits) -> list[Any]:
    for index, changes in edits.changed.items():
        entry = entries[index]
        for key, value in changes.items():
            if value is None:
                entry.pop(key, None)
            else:
                entry[key] = _compared(value)
    added: defaultdict[int, list[Any]] = defaultdict(list)
    for after, values in edits.added:
        place = len(entries) - 1 if after is None else after
        added[place].append({key: _compared(value) for key, value in values.items()})
    kept = [[] if n in edits.removed else [entry] for n, entry in enumerate(entries)]
    return [*added[-1], *(entry for n, own in enumerate(kept) for entry in (*own, *added[n]))]


def _compared(value: Value) -> str | list[str]:
    return canonical(value) if isinstance(value, str) else [canonical(text) for text in value]


def _place(root: Mapping, name: str, edits: ListEdits) -> int:
    """Return the index of the first entry that is edited, or of its list."""
    entries = root.get(name)
    touched = {*edits.changed, *edits.removed, *(after for after, _ in edits.added if after)}
    if isinstance(entries, Sequence) and entries and touched:
        return entries[min(touched)].at
    return 0 if entries is None else entries.at
