"""Edits of one entry's fields -> changes to the text of its file."""

import re
from collections.abc import Collection
from collections.abc import Mapping as AnyMapping
from collections.abc import Sequence as AnySequence

from commandsync.manifest import layout
from commandsync.manifest.layout import OddLayoutError, after_colon, column
from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.patch import (
    Patch,
    begin,
    break_before,
    content_end,
    is_alias,
    is_flow,
    line_break,
    line_end,
)
from commandsync.manifest.scalars import Value, written
from commandsync.manifest.style import STEP, quoting_of, style_of

_HEADER = re.compile(r"[|>]([-+0-9]*)")
_INDENT = re.compile(r"[\r\n]([ ]*)[^ \r\n]")


def edit_fields(
    patch: Patch, entry: Mapping, changes: AnyMapping[str, Value | None], keys: tuple[str, ...]
) -> None:
    """Edit the fields of an entry, which may have the `keys` in this order; None removes one."""
    fields = [(key, entry[key]) for key in entry.written_keys()]
    kept = {str(key): n for n, (key, _) in enumerate(fields) if changes.get(key, "") is not None}
    if is_alias(patch.text, entry) or not kept:
        raise OddLayoutError(entry.at)
    values = {name: value for name, value in changes.items() if value is not None}
    for name in kept.keys() & values.keys():
        _replace(patch, *fields[kept[name]], values.pop(name), in_flow=is_flow(patch.text, entry))
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
    text, style = patch.text, style_of(patch.text, entry)
    if is_flow(text, entry):
        items = [(after, style.flow_field(name, value)) for after, name, value in added]
        layout.edit_brackets(patch, entry, removed=removed, added=items)
        return
    spans, separator = layout.spans_of(text, entry), line_break(text)
    indent = column(text, spans[0][0])
    for n in removed:
        start, end = spans[n]
        if set(range(n)) <= removed:  # another key comes up to the dash
            following = spans[n + 1][0]
            patch.cut(start, end if text[end:following].strip() else following)
        else:
            patch.cut(break_before(text, start), line_end(text, end))
    for after, name, value in added:
        lines = style.block_field(name, value, indent=indent, separator=separator)
        at = line_end(text, spans[after][1])
        patch.insert(at, f"{separator}{' ' * indent}{lines}", rank=layout.FIELD)


def _replace(patch: Patch, key: Scalar, old: Node, value: Value, *, in_flow: bool) -> None:
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
        layout.edit_brackets(patch, old, removed=removed, added=[(last, line) for line in lines])
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
