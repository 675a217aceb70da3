"""How lists are laid out in a file, in brackets or with dashes, and how their items are edited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.patch import (
    begin,
    break_before,
    content_end,
    is_empty,
    line_break,
    line_end,
    line_start,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Sequence as AnySequence

    from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
    from commandsync.manifest.patch import Patch

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
    """Return the index after the colon of a key.

    Raises:
        OddLayoutError: The colon is on another line.
    """
    match = _COLON.match(text, key.end)
    if match is None:
        raise OddLayoutError(key.at)
    return match.end()


def lines_of(text: str, items: AnySequence[Node]) -> list[Line]:
    """Return where the items of a list with dashes are.

    Comments below an item belong to it if they are indented more than its dash.

    Raises:
        OddLayoutError: A dash is not the first character of its line.
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


def gap_of(text: str, node: Node, parts: AnySequence[Node]) -> str:
    """Return what separates the items in brackets: a comma and the whitespace between the first.

    Args:
        text: The text of the file.
        node: The list or mapping.
        parts: Its items, or its keys and values by turns.
    """
    keys_too = isinstance(node, dict)
    before = parts[1 if keys_too else 0 :][:1]
    behind = parts[2 if keys_too else 1 :][:1]
    if before and behind:
        gap = _GAP.fullmatch(text, content_end(text, before[0]), behind[0].at)
        return gap[0] if gap else ", "
    opening = text[begin(text, node) + 1 : parts[0].at] if parts else ""
    return f",{opening}" if opening and not opening.strip() and "\n" in opening else ", "


def edit_lines(
    patch: Patch,
    lines: AnySequence[Line],
    *,
    colon: int,
    removed: Collection[int] = (),
    added: Iterable[tuple[int, str]] = (),
    rank: int = ITEM,
) -> None:
    """Edit a list with dashes.

    Args:
        patch: The patch to add to.
        lines: Where its items are.
        colon: The index after the colon of its key.
        removed: The indices of items to remove.
        added: Items with the lines that they are, each after the item of an index.
        rank: The rank of these.
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
        if is_empty(text, start, end):
            patch.cut(start, end)
    added = list(added)
    for after, item in added:
        patch.insert(lines[after].end, f"{line_break(text)}{item}", rank=rank)
    if not added and len(removed) == len(lines):
        patch.insert(colon, " []")


def edit_brackets(
    patch: Patch,
    node: Sequence | Mapping,
    spans: AnySequence[tuple[int, int]],
    *,
    gap: str,
    removed: Collection[int] = (),
    added: Iterable[tuple[int, str]] = (),
) -> None:
    """Edit a list or mapping in brackets.

    Args:
        patch: The patch to add to.
        node: The list or mapping.
        spans: Where its items or fields begin and end.
        gap: What to write between two of them.
        removed: The indices of those to remove.
        added: New ones, each after the one of an index; -1 is the beginning.
    """
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
    """Cut an item in brackets, and the comma before it, or behind it before the first that stays.

    A comment between the two stays: the comma too many that is left makes the edit invalid.
    """
    patch.cut(*spans[index])
    start = spans[index][1]
    if index > first:
        start, end = spans[index - 1][1], spans[index][0]
    elif index + 1 < len(spans):
        end = spans[index + 1][0]
    if "#" not in patch.text[start:end]:
        patch.cut(start, end)
