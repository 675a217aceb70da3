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
_COMMENT = re.compile(r"\s#")
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
        items = [(after, f" {style.flow_field(name, value)}") for after, name, value in added]
        layout.edit_flow(patch, entry, removed=removed, added=items)
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
    if isinstance(old, Sequence) and old and not is_alias(text, old):
        known = tuple(map(str, old))
        if isinstance(value, tuple) and value[: len(known)] == known:
            _append_items(patch, old, value[len(known) :])
            return
    sample = text[begin(text, old) : content_end(text, old)] if isinstance(old, Scalar) else ""
    start, end = _cut_value(patch, key, old, sample)
    new = written(value, quoting_of(sample), in_flow=in_flow, sample=sample)
    space = "" if text[start - 1].isspace() else " "
    patch.insert(start, f"{space}{new.line}")
    indent = _body_indent(sample) or " " * (column(text, key.at) + STEP)
    for line in new.below:
        patch.insert(end, line_break(text) + (line and f"{indent}{line}"), rank=layout.BELOW)


def _cut_value(patch: Patch, key: Scalar, old: Node, sample: str) -> tuple[int, int]:
    """Cut a value; return where another begins, and where its last line ends."""
    text, start, end = patch.text, begin(patch.text, old), content_end(patch.text, old)
    header = _HEADER.match(sample)
    is_below = isinstance(old, Sequence) and not (is_flow(text, old) or is_alias(text, old))
    if header or is_below:  # a comment may follow on the line of the key
        start = after_colon(text, key) if is_below else start
        patch.cut(start, start + len(header[0] if header else ""))
        below = line_end(text, start), line_end(text, end)
        if is_below and _COMMENT.search(text, *below):
            raise OddLayoutError(old.at)
        patch.cut(*below)
    else:
        patch.cut(start, end)
    return start, line_end(text, end)


def _body_indent(sample: str) -> str:
    """Return the indentation of a block; empty where it is not a block, or begins with spaces."""
    header, indent = _HEADER.match(sample), _INDENT.search(sample)
    return indent[1] if header and indent and not header[1].strip("-+") else ""


def _append_items(patch: Patch, old: Sequence, new: tuple[str, ...]) -> None:
    """Add items to a list of texts, whose own items stay as they are written."""
    text, last = patch.text, old[-1]
    quoting = quoting_of(text[last.at : last.end])
    lines = [written(item, quoting, in_flow=True).line for item in new]
    if is_flow(text, old):
        patch.insert(content_end(text, last), "".join(f", {line}" for line in lines))
        return
    place = layout.lines_of(text, old)[-1]
    dash = f"{line_break(text)}{' ' * column(text, place.dash)}- "
    patch.insert(place.end, "".join(f"{dash}{line}" for line in lines), rank=layout.BELOW)
