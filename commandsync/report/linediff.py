"""The differences between two texts of one field, line by line, with a little context.

The lines are cut but not escaped: each format escapes them in its own way.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH = 100
"""Characters of a foreign line that are shown."""

AROUND = 24
"""Unchanged characters that are shown on either side of a difference within a line."""

_CHANGED_WIDTH = 200  # of a removed or added line
_CONTEXT = 1  # unchanged lines shown on either side of a difference
_MOST_LINES = 20  # removed, or added, in one place; the manifest contains the whole text
_MOST_ROWS = 60  # of one field
_MOST_COMPARISONS = 10_000  # pairs of lines; beyond, no common lines are searched for


class Row(NamedTuple):
    """One line of a difference: removed, added, unchanged, or a remark on lines left out."""

    sign: Literal["-", "+", "│", "…"]
    text: str


def shortened(text: str, width: int = WIDTH) -> tuple[str, str]:
    """Return the beginning of a text, and a remark on how much is left out: empty for nothing."""
    if len(text) <= width:
        return text, ""
    shown = width - 20
    return text[:shown], f"… ({len(text) - shown:,} more characters)"


def cut(text: str, width: int = WIDTH) -> str:
    """Return the beginning of a text with the remark on how much of it is left out."""
    return "".join(shortened(text, width))


def diff_rows(
    old: str,
    new: str,
    *,
    full: bool = False,
    after: int = AROUND,
    width: int = _CHANGED_WIDTH,
) -> list[Row]:
    """Return the differences between two texts, by line, and within lines that are long.

    `full` cuts no line and leaves out no removed or added one; `after` is how many unchanged
    characters a line shows after a difference, and `width` how many a removed or added line shows.
    """
    ours, theirs = old.split("\n"), new.split("\n")
    start = common_length(ours, theirs)
    end = common_length(ours[start:][::-1], theirs[start:][::-1])
    rows = [Row("│", line) for line in ours[max(0, start - _CONTEXT) : start]]
    changed = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    rows += _changed(*changed, full=full, after=after)
    rows += [Row("│", line) for line in ours[len(ours) - end :][:_CONTEXT]]
    if full:
        return rows
    shown = [
        Row(row.sign, cut(row.text, WIDTH if row.sign == "│" else width))
        for row in rows[:_MOST_ROWS]
    ]
    return [*shown, Row("…", "more differences follow")] if len(rows) > _MOST_ROWS else shown


def _changed(ours: list[str], theirs: list[str], *, full: bool, after: int) -> Iterator[Row]:
    if len(ours) * len(theirs) > _MOST_COMPARISONS:
        yield from _replaced(ours, theirs, full=full, after=after)
        return
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from _unchanged(ours[a:b])
        else:
            yield from _replaced(ours[a:b], theirs[c:d], full=full, after=after)


def _unchanged(lines: list[str]) -> Iterator[Row]:
    """Show the lines between two differences: all of a few, else both ends."""
    left_out = len(lines) - 2 * _CONTEXT
    rows = [Row("│", line) for line in lines]
    if left_out > 1:
        rows[_CONTEXT:-_CONTEXT] = [Row("…", f"{left_out:,} lines that stay")]
    yield from rows


def _replaced(ours: list[str], theirs: list[str], *, full: bool, after: int) -> Iterator[Row]:
    most = max(len(ours), len(theirs)) if full else _MOST_LINES
    left_out = [len(ours) - most, len(theirs) - most]
    ours, theirs = ours[:most], theirs[:most]
    if len(ours) == len(theirs) and not full:
        pairs = [_around(old, new, after) for old, new in zip(ours, theirs, strict=True)]
        ours, theirs = [old for old, _ in pairs], [new for _, new in pairs]
    rows = ([Row("-", line) for line in ours], [Row("+", line) for line in theirs])
    for shown, count in zip(rows, left_out, strict=True):
        yield from shown
        if count > 0:
            yield Row("…", f"{count:,} more lines")


def _around(old: str, new: str, after: int) -> tuple[str, str]:
    """Cut the common ends of two long lines, but for some context."""
    if max(len(old), len(new)) <= WIDTH:
        return old, new
    same = common_length(old, new)
    begin = max(0, same - AROUND)
    shared_end = common_length(old[same:][::-1], new[same:][::-1])
    left_out = max(0, shared_end - after)
    lead, rest = "…" if begin else "", "…" if left_out else ""
    return (
        lead + old[begin : len(old) - left_out] + rest,
        lead + new[begin : len(new) - left_out] + rest,
    )


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items, or characters, two sequences have in common at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # comparing slices is quicker than comparing items
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low
