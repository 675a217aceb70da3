"""Edits of one entry's fields -> changes to the text of its file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from commandsync.manifest import layout
from commandsync.manifest.layout import OddLayoutError, after_colon, column, gap_of
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.patch import (
    Patch,
    begin,
    break_before,
    content_end,
    is_alias,
    is_empty,
    is_flow,
    line_break,
    line_end,
)
from commandsync.manifest.style import STEP, Value, quoting_of, style_of, written

if TYPE_CHECKING:
    from collections.abc import Collection
    from collections.abc import Mapping as AnyMapping
    from collections.abc import Sequence as AnySequence

    Fields = AnySequence[tuple[Scalar, Node]]

_HEADER = re.compile(r"[|>]([-+0-9]*)")
_INDENT = re.compile(r"[\r\n]([ ]*)[^ \r\n]")


def edit_fields(
    patch: Patch, entry: Mapping, changes: AnyMapping[str, Value | None], keys: tuple[str, ...]
) -> None:
    """Edit the fields of an entry.

    Args:
        patch: The patch to add to.
        entry: The entry.
        changes: The new values; None removes a key.
        keys: The keys that an entry may have, in their order.

    Raises:
        OddLayoutError: It cannot be edited as it is laid out.
    """
    fields = [(key, entry[key]) for key in entry.written_keys()]
    kept = {str(key): n for n, (key, _) in enumerate(fields) if changes.get(key, "") is not None}
    if is_alias(patch.text, entry) or not kept:
        raise OddLayoutError(entry.at)
    values = {name: value for name, value in changes.items() if value is not None}
    for name in kept.keys() & values.keys():
        _replace(patch, *fields[kept[name]], values.pop(name), in_flow=is_flow(patch.text, entry))
    edit = _edit_brackets if is_flow(patch.text, entry) else _edit_lines
    removed = set(range(len(fields))).difference(kept.values())
    edit(patch, entry, fields, removed, _placed(values, kept, keys))


def _placed(
    values: AnyMapping[str, Value], kept: AnyMapping[str, int], keys: AnySequence[str]
) -> list[tuple[int, str, Value]]:
    """Return new fields in their order, each with the index of the field it comes after."""
    last = list(kept)[-1]
    return [
        (kept[fitting_key(name, kept, keys) or last], name, values[name])
        for name in sorted(values, key=keys.index)
    ]


def fitting_key(name: str, present: Collection[str], keys: AnySequence[str]) -> str:
    """Return which of the present keys a new one belongs after; empty if after none of them."""
    before = keys[: keys.index(name)]
    return next((key for key in reversed(before) if key in present), "")


def _edit_brackets(
    patch: Patch,
    entry: Mapping,
    fields: Fields,
    removed: set[int],
    added: list[tuple[int, str, Value]],
) -> None:
    text, style = patch.text, style_of(patch.text, entry)
    spans = [(key.at, content_end(text, value)) for key, value in fields]
    items = [(after, style.flow_field(name, value)) for after, name, value in added]
    gap = gap_of(text, entry, [part for field in fields for part in field])
    layout.edit_brackets(patch, entry, spans, gap=gap, removed=removed, added=items)


def _edit_lines(
    patch: Patch,
    entry: Mapping,
    fields: Fields,
    removed: set[int],
    added: list[tuple[int, str, Value]],
) -> None:
    text, style = patch.text, style_of(patch.text, entry)
    indent, separator = column(text, fields[0][0].at), line_break(text)
    ends = [content_end(text, value) for _, value in fields]
    for n in removed:
        start, end = fields[n][0].at, ends[n]
        if set(range(n)) <= removed:  # another key comes up to the dash
            following = fields[n + 1][0].at
            patch.cut(start, following if is_empty(text, end, following) else end)
        else:
            patch.cut(break_before(text, start), line_end(text, end))
    for after, name, value in added:
        lines = style.block_field(name, value, indent=indent, separator=separator)
        at = line_end(text, ends[after])
        patch.insert(at, f"{separator}{' ' * indent}{lines}", rank=layout.FIELD)


def _replace(patch: Patch, key: Scalar, old: Node, value: Value, *, in_flow: bool) -> None:
    """Replace a value, written as the old one was."""
    text = patch.text
    if isinstance(old, Sequence) and isinstance(value, tuple) and not is_alias(text, old):
        _replace_items(patch, key, old, value)
        return
    sample = text[begin(text, old) : content_end(text, old)] if isinstance(old, Scalar) else ""
    start, end = _cut_value(patch, key, old, sample)
    new = written(value, quoting_of(text, key, sample), in_flow=in_flow, sample=sample)
    space = "" if text[start - 1].isspace() else " "
    patch.insert(start, f"{space}{new.line}")
    indent = _body_indent(sample) or " " * (column(text, key.at) + STEP)
    for line in new.below:
        patch.insert(end, line_break(text) + (line and f"{indent}{line}"), rank=layout.BELOW)


def _cut_value(patch: Patch, key: Scalar, old: Node, sample: str) -> tuple[int, int]:
    """Cut a value; return where another begins, and where its last line ends."""
    text, start, end = patch.text, begin(patch.text, old), content_end(patch.text, old)
    if header := _HEADER.match(sample):  # a comment may follow it
        patch.cut(start, start + len(header[0]))
        patch.cut(line_end(text, start), line_end(text, end))
    else:
        is_below = isinstance(old, Sequence) and not is_flow(text, old)
        start = after_colon(text, key) if is_below else start
        patch.cut(start, end)
    return start, line_end(text, end)


def _body_indent(sample: str) -> str:
    """Return the indentation of a block; empty where it is not a block, or begins with spaces."""
    header, indent = _HEADER.match(sample), _INDENT.search(sample)
    return indent[1] if header and indent and not header[1].strip("-+") else ""


def _replace_items(patch: Patch, key: Scalar, old: Sequence, value: tuple[str, ...]) -> None:
    """Make a list of texts another one: the items that stay are not written again."""
    text, last = patch.text, len(old) - 1
    removed = _items_to_remove([str(item) for item in old], value)
    source = text[old[last].at : old[last].end] if old else ""
    quoting = quoting_of(text, key, source)
    lines = [written(item, quoting, in_flow=True).line for item in value[len(old) - len(removed) :]]
    if is_flow(text, old):
        spans, items = [(item.at, item.end) for item in old], [(last, line) for line in lines]
        gap = gap_of(text, old, old)
        layout.edit_brackets(patch, old, spans, gap=gap, removed=removed, added=items)
        return
    places, colon = layout.lines_of(text, old), after_colon(text, key)
    dash = f"{' ' * column(text, places[0].dash)}- "
    items = [(last, f"{dash}{line}") for line in lines]
    layout.edit_lines(patch, places, colon=colon, removed=removed, added=items, rank=layout.BELOW)


def _items_to_remove(known: AnySequence[str], wanted: tuple[str, ...]) -> set[int]:
    """Return the indices of the items to remove so that the others begin the wanted list."""
    removed = {n for n, item in enumerate(known) if item not in wanted}
    kept = tuple(item for item in known if item in wanted)
    return removed if kept == wanted[: len(kept)] else set(range(len(known)))
