"""Edits of a manifest file in place: every character outside the changed values stays.

`edit` finds what to write and where from the places of the nodes; the file is never written anew.
`edit_list` turns the edits of one list into changes to the text (`layout`). The result is read
again and compared with what the edits mean, so that an anchor, an alias or an odd layout ends in an
error, never in another change than the one that was asked for.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest import layout
from commandsync.manifest.events import parse
from commandsync.manifest.layout import (
    STEP,
    EntryStyle,
    OddLayoutError,
    Patch,
    Value,
    quoting_of,
    style_of,
    written,
)
from commandsync.manifest.model import TABLES
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.source import Allowance, FileProblems, Problems, Source
from commandsync.records.texts import canonical

Values = AnyMapping[str, Value]
_HEADER = re.compile(r"[|>]([-+0-9]*)")
_COMMENT = re.compile(r"\s#")
_INDENT = re.compile(r"[\r\n]([ ]*)[^ \r\n]")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(slots=True)
class ListEdits:
    """The edits of the entries of one list, by their indices in the file as it is."""

    # The new values of fields; None removes a key, if it is there.
    changed: defaultdict[int, dict[str, Value | None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    removed: set[int] = field(default_factory=set)
    # New entries, each after that of an index, or None for the end.
    added: list[tuple[int | None, Values]] = field(default_factory=list)


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
    """Return the plain value of a node: strings as they are compared, None, lists and dicts."""
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


def edit_list(patch: Patch, root: Mapping, name: str, edits: ListEdits) -> None:
    """Edit the entries of one list of a file; `OddLayoutError` where that is not possible."""
    entries = _entries(patch, root, name)
    collection = _List(patch, root, name, entries, tuple(TABLES[name].model_fields))
    for index in edits.changed.keys() - edits.removed:
        entry = entries[index]
        if not isinstance(entry, Mapping):
            raise OddLayoutError(entry.at)
        edit_fields(patch, entry, edits.changed[index], collection.keys)
    last = len(entries) - 1
    if max(edits.removed, default=last) > last:
        raise IndexError(max(edits.removed))
    added = [(last if after is None else after, values) for after, values in edits.added]
    if not entries:
        if added:
            collection.fill([values for _, values in added])
    elif patch.is_flow(entries):
        items = [(after, collection.flow_item(after, values)) for after, values in added]
        layout.edit_flow(patch, entries, removed=edits.removed, added=items)
    else:
        collection.edit_lines(edits.removed, added)


def _entries(patch: Patch, root: Mapping, name: str) -> Sequence:
    """Return the entries of a list; `OddLayoutError` if it is an alias, or empty as in JSON."""
    entries = root.get(name, Sequence(0))
    odd = patch.is_alias(entries) or (not entries and patch.is_flow(root))
    if isinstance(entries, Sequence) and not odd:
        return entries
    raise OddLayoutError(entries.at)


@dataclass(frozen=True, slots=True)
class _List:
    patch: Patch
    root: Mapping
    name: str
    entries: Sequence
    keys: tuple[str, ...]  # that an entry may have, in their order

    def edit_lines(self, removed: set[int], added: list[tuple[int, Values]]) -> None:
        """Edit a list whose entries begin with dashes."""
        patch, lines, items = self.patch, layout.lines_of(self.patch, self.entries), []
        for after, values in added:
            indent = patch.source.column(lines[after].dash)
            item = self.item(values, style_of(patch, self.entries[after]), indent)
            is_apart = layout.is_apart(patch.text, lines, after)
            items.append((after, patch.line_break + item if is_apart else item))
        layout.edit_lines(patch, lines, colon=self.colon(), removed=removed, added=items)

    def colon(self) -> int:
        """Return the index after the colon of the list's key."""
        return self.patch.after_colon(next(k for k in self.root.written_keys() if k == self.name))

    def flow_item(self, after: int, values: Values) -> str:
        """Return a new entry of a list in brackets, on a line of its own."""
        patch, neighbour = self.patch, self.entries[after]
        style = replace(style_of(patch, neighbour), in_flow=True)
        before = patch.text[neighbour.at - patch.source.column(neighbour.at) : neighbour.at]
        indent = before if not before.strip() else " " * STEP
        return f"{patch.line_break}{indent}{style.flow_entry(self.ordered(values, style))}"

    def fill(self, entries: list[Values]) -> None:
        """Put the first entries into a list, or add the list."""
        patch, root = self.patch, self.root
        indent = patch.source.column(next(root.written_keys()).at)
        lines = [self.item(values, EntryStyle(), indent + STEP) for values in entries]
        end = patch.content_end(root)
        if self.name in root:
            end = self.entries.end
            patch.cut(self.colon(), end)
        else:
            lines.insert(0, f"{' ' * indent}{self.name}:")
        patch.insert(patch.source.line_end(end), "".join(patch.line_break + line for line in lines))

    def item(self, values: Values, style: EntryStyle, indent: int) -> str:
        """Return the lines of a new entry, from its dash on."""
        values = self.ordered(values, style)
        dash = f"{' ' * indent}-{style.lead}"
        if style.in_flow:
            return f"{dash}{style.flow_entry(values)}"
        separator = self.patch.line_break
        inner = len(dash.splitlines()[-1])
        lines = [
            style.block_field(key, value, indent=inner, separator=separator)
            for key, value in values.items()
        ]
        return dash + f"{separator}{' ' * inner}".join(lines)

    def ordered(self, values: Values, style: EntryStyle) -> Values:
        """Return the fields of a new entry in the order of its neighbour's."""
        names = [key for key in style.samples if key in values]
        for key in sorted(values.keys() - set(names), key=self.keys.index):
            before = fitting_key(key, names, self.keys)
            names.insert(names.index(before) + 1 if before else 0, key)
        return {name: values[name] for name in names}


def edit_fields(
    patch: Patch, entry: Mapping, changes: AnyMapping[str, Value | None], keys: tuple[str, ...]
) -> None:
    """Edit the fields of an entry, which may have the `keys` in this order; None removes one."""
    fields = [(key, entry[key]) for key in entry.written_keys()]
    kept = {str(key): n for n, (key, _) in enumerate(fields) if changes.get(key, "") is not None}
    if patch.is_alias(entry) or not kept:
        raise OddLayoutError(entry.at)
    values = {name: value for name, value in changes.items() if value is not None}
    for name in kept.keys() & values.keys():
        _replace(patch, *fields[kept[name]], values.pop(name), in_flow=patch.is_flow(entry))
    removed = set(range(len(fields))).difference(kept.values())
    added = [
        (kept[fitting_key(name, kept, keys) or list(kept)[-1]], name, values[name])
        for name in sorted(values, key=keys.index)
    ]
    _edit(patch, entry, removed, added)


def fitting_key(name: str, present: Collection[str], keys: AnySequence[str]) -> str:
    """Return which of the present keys a new one belongs after; empty if after none of them."""
    before = keys[: keys.index(name)]
    return next((key for key in reversed(before) if key in present), "")


def _edit(
    patch: Patch, entry: Mapping, removed: set[int], added: list[tuple[int, str, Value]]
) -> None:
    source, style = patch.source, style_of(patch, entry)
    if style.in_flow:
        items = [(after, f" {style.flow_field(name, value)}") for after, name, value in added]
        layout.edit_flow(patch, entry, removed=removed, added=items)
        return
    spans, separator = patch.spans_of(entry), patch.line_break
    indent = source.column(spans[0][0])
    for n in removed:
        start, end = spans[n]
        if set(range(n)) <= removed:  # another key comes up to the dash
            following = spans[n + 1][0]
            patch.cut(start, end if source.text[end:following].strip() else following)
        else:
            patch.cut(patch.break_before(start), source.line_end(end))
    for after, name, value in added:
        lines = style.block_field(name, value, indent=indent, separator=separator)
        at = source.line_end(spans[after][1])
        patch.insert(at, f"{separator}{' ' * indent}{lines}", rank=layout.FIELD)


def _replace(patch: Patch, key: Scalar, old: Node, value: Value, *, in_flow: bool) -> None:
    text = patch.text
    if isinstance(old, Sequence) and old and not patch.is_alias(old):
        known = tuple(map(str, old))
        if isinstance(value, tuple) and value[: len(known)] == known:
            _append_items(patch, old, value[len(known) :])
            return
    sample = text[patch.begin(old) : patch.content_end(old)] if isinstance(old, Scalar) else ""
    start, end = _cut_value(patch, key, old, sample)
    new = written(value, quoting_of(sample), in_flow=in_flow, sample=sample)
    space = "" if text[start - 1].isspace() else " "
    patch.insert(start, f"{space}{new.line}")
    indent = _body_indent(sample) or " " * (patch.source.column(key.at) + STEP)
    for line in new.below:
        patch.insert(end, patch.line_break + (line and f"{indent}{line}"), rank=layout.BELOW)


def _cut_value(patch: Patch, key: Scalar, old: Node, sample: str) -> tuple[int, int]:
    """Cut a value; return where another begins, and where its last line ends."""
    source, start, end = patch.source, patch.begin(old), patch.content_end(old)
    header = _HEADER.match(sample)
    is_below = isinstance(old, Sequence) and not (patch.is_flow(old) or patch.is_alias(old))
    if header or is_below:  # a comment may follow on the line of the key
        start = patch.after_colon(key) if is_below else start
        patch.cut(start, start + len(header[0] if header else ""))
        below = source.line_end(start), source.line_end(end)
        if is_below and _COMMENT.search(source.text, *below):
            raise OddLayoutError(old.at)
        patch.cut(*below)
    else:
        patch.cut(start, end)
    return start, source.line_end(end)


def _body_indent(sample: str) -> str:
    """Return the indentation of a block; empty where it is not a block, or begins with spaces."""
    header, indent = _HEADER.match(sample), _INDENT.search(sample)
    return indent[1] if header and indent and not header[1].strip("-+") else ""


def _append_items(patch: Patch, old: Sequence, new: tuple[str, ...]) -> None:
    """Add items to a list of texts, whose own items stay as they are written."""
    last = old[-1]
    quoting = quoting_of(patch.text[last.at : last.end])
    lines = [written(item, quoting, in_flow=True).line for item in new]
    if patch.is_flow(old):
        patch.insert(patch.content_end(last), "".join(f", {line}" for line in lines))
        return
    place = layout.lines_of(patch, old)[-1]
    dash = f"{patch.line_break}{' ' * patch.source.column(place.dash)}- "
    patch.insert(place.end, "".join(f"{dash}{line}" for line in lines), rank=layout.BELOW)
