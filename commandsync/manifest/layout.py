"""How lists are laid out in a file, in brackets or with dashes, and how their items are edited."""

import re
from collections.abc import Collection, Iterable
from collections.abc import Sequence as AnySequence
from typing import NamedTuple

from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.patch import (
    Patch,
    begin,
    break_before,
    content_end,
    line_break,
    line_end,
    line_start,
)

_COLON = re.compile(r"[ \t]*:")
_COMMENT_LINE = re.compile(r"(?:\r\n|\r|\n)([ \t]*)#[^\r\n]*")
_EMPTY_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*[\r\n]")
_GAP = re.compile(r"[ \t]*,\s*")
_DASH = re.compile(r" *-(?=[ \t\r\n])")
_NO_CONTENT = re.compile(r"[ \t]*(?:#|$|[\r\n])")
VALUE, BELOW, FIELD, ITEM = range(4)
"""The ranks of what is put in at one place."""


class OddLayoutError(Exception):
    """A file is laid out in a way that is not edited: with the index of the place."""


class Line(NamedTuple):
    """An item with a dash: the indices of its dash, of the break before it, and of its end."""

    dash: int
    start: int
    end: int


def key_of(mapping: Mapping, name: str) -> Scalar:
    """Return a key as it is written."""
    return next(key for key in mapping.written_keys() if key == name)


def column(text: str, at: int) -> int:
    """Return how many characters are before a place on its line."""
    return at - line_start(text, at)


def after_colon(text: str, key: Scalar) -> int:
    """Return the index after the colon of a key; `OddLayoutError` if it is on another line."""
    match = _COLON.match(text, key.end)
    if match is None:
        raise OddLayoutError(key.at)
    return match.end()


def lines_of(text: str, items: AnySequence[Node]) -> list[Line]:
    """Return where the items of a list with dashes are.

    Comments below an item belong to it if they are indented more than its dash; `OddLayoutError`
    if a dash is not the first character of its line.
    """
    lines = []
    for item in items:
        dash = _dash(text, item.at)
        end = line_end(text, content_end(text, item))
        while (comment := _COMMENT_LINE.match(text, end)) and len(comment[1]) > column(text, dash):
            end = comment.end()
        lines.append(Line(dash, break_before(text, dash), end))
    return lines


def _dash(text: str, at: int) -> int:
    """Return the index of the dash of an item, which may be on a line above it."""
    start = line_start(text, at)
    while (match := _DASH.match(text, start)) is None:
        if not start or not (start == line_start(text, at) or _NO_CONTENT.match(text, start)):
            raise OddLayoutError(at)
        start = line_start(text, start - 1)
    return match.end() - 1


def has_empty_lines(text: str, lines: AnySequence[Line], index: int) -> bool:
    """Whether an empty line is between an item and the one before it, or the first and the next."""
    second = max(index, 1)
    if second >= len(lines):
        return False
    return _EMPTY_LINE.search(text, lines[second - 1].end, lines[second].dash) is not None


def spans_of(text: str, node: Sequence | Mapping) -> list[tuple[int, int]]:
    """Return where each item of a list, or each field of a mapping, begins and ends."""
    if isinstance(node, Sequence):
        return [(item.at, content_end(text, item)) for item in node]
    return [(key.at, content_end(text, node[key])) for key in node.written_keys()]


def gap_of(text: str, node: Sequence | Mapping) -> str:
    """Return what separates the items in brackets: a comma and the whitespace between the first."""
    spans = spans_of(text, node)
    if len(spans) > 1:
        gap = _GAP.fullmatch(text, spans[0][1], spans[1][0])
        return gap[0] if gap else ", "
    opening = text[begin(text, node) + 1 : spans[0][0]] if spans else ""
    return f",{opening}" if opening and not opening.strip() and "\n" in opening else ", "


def edit_lines(
    patch: Patch,
    lines: AnySequence[Line],
    *,
    colon: int,
    removed: Collection[int],
    added: Iterable[tuple[int, str]],
    rank: int = ITEM,
) -> None:
    """Edit a list with dashes; new items are lines, each after the item of an index.

    An empty list is written at `colon`, the index after the colon of its key.
    """
    text, is_first = patch.text, True
    for index, line in enumerate(lines):
        if index not in removed:
            is_first = False
            continue
        patch.cut(line.start, line.end)
        start = line.end if is_first else lines[index - 1].end
        following = lines[index + 1].start if index + 1 < len(lines) else line.end
        end = following if is_first else line.start
        if not text[start:end].strip():
            patch.cut(start, end)
    added = list(added)
    for after, item in added:
        patch.insert(lines[after].end, f"{line_break(text)}{item}", rank=rank)
    if not added and len(removed) == len(lines):
        patch.insert(colon, " []")


def edit_brackets(
    patch: Patch,
    node: Sequence | Mapping,
    *,
    removed: Collection[int],
    added: Iterable[tuple[int, str]],
) -> None:
    """Edit a list or mapping in brackets; new items come after that of an index, or after -1."""
    spans, gap = spans_of(patch.text, node), gap_of(patch.text, node)
    kept = [index for index in range(len(spans)) if index not in removed]
    first, last = (kept[0], kept[-1]) if kept else (len(spans), -1)
    for index in removed:
        _cut_item(patch, spans, index, first=first, end=node.end - 1)
    alone = ""  # the separator between new ones, where nothing else is kept
    for after, item in sorted(added, key=lambda pair: pair[0]):
        at = spans[after][1] if after >= 0 else begin(patch.text, node) + 1
        if first <= after:
            patch.insert(at, f"{gap}{item}", rank=ITEM)
        elif last > after:
            patch.insert(at, f"{item}{gap}", rank=ITEM)
        else:
            patch.insert(at, f"{alone}{item}", rank=ITEM)
            alone = gap


def _cut_item(
    patch: Patch, spans: AnySequence[tuple[int, int]], index: int, *, first: int, end: int
) -> None:
    """Cut an item in brackets and the comma before it, or behind it if no item before it stays."""
    patch.cut(*spans[index])
    start = spans[index][1]
    if index > first:
        start, end = spans[index - 1][1], spans[index][0]
    elif index + 1 < len(spans):
        end = spans[index + 1][0]
    if "#" not in patch.text[start:end]:  # else a comma too many makes the edit invalid
        patch.cut(start, end)
