"""The difference between two texts of a file, by line, with the numbers of the lines."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from commandsync.report.escape import path as shown_path
from commandsync.report.escape import visible_line
from commandsync.report.linediff import common_length
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.sources.outcome import FileEdit

_CONTEXT = 2  # unchanged lines shown on either side of a change
_MOST_COMPARISONS = 1_000_000  # pairs of lines between two that are certainly the same
_COLORS = {"-": RED, "+": GREEN, "│": DIM}


class _Row(NamedTuple):
    sign: str  # "-" removed, "+" added, "│" unchanged
    number: int  # in the old text if it is removed, else in the new one
    text: str


def file_lines(edit: FileEdit) -> Iterator[str]:
    """Return the path of a file and its changed lines, each after its number."""
    yield paint(shown_path(edit.path) + ("" if edit.before is not None else " (new)"), BOLD)
    rows = list(_rows((edit.before or "").splitlines(), edit.after.splitlines()))
    changed = [index for index, row in enumerate(rows) if row.sign != "│"]
    shown = {near for at in changed for near in range(at - _CONTEXT, at + _CONTEXT + 1)}
    last = -1
    for index in sorted(shown & set(range(len(rows)))):
        if 0 <= last < index - 1:
            yield paint("       …", DIM)
        last = index
        row = rows[index]
        line = f"{row.number:>6} {row.sign} {visible_line(row.text)}".rstrip()
        yield Value(paint(line, _COLORS[row.sign]))
    if not changed:
        yield paint("       only line ends change", DIM)


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[_Row]:
    """Yield the lines of both texts, in time that grows with their length.

    A line that each of them has once is the same in both, unless lines moved past each other: the
    parts between such lines are compared alone.
    """
    a = b = 0
    for at, there in (*_same_lines(old, new), (len(old), len(new))):
        yield from _changed(old[a:at], new[b:there], a, b)
        if at < len(old):
            yield _Row("│", there + 1, new[there])
        a, b = at + 1, there + 1


def _changed(old: Sequence[str], new: Sequence[str], a: int, b: int) -> Iterator[_Row]:
    """Yield the lines of two parts that begin at these indexes."""
    begin, end = _shared(old, new)
    yield from (_Row("│", b + n + 1, line) for n, line in enumerate(new[:begin]))
    a, b, end_lines = a + begin, b + begin, new[len(new) - end :]
    old, new = old[begin : len(old) - end], new[begin : len(new) - end]
    codes = [("replace", 0, len(old), 0, len(new))]
    if len(old) * len(new) <= _MOST_COMPARISONS:
        codes = list(SequenceMatcher(None, old, new, autojunk=False).get_opcodes())
    for tag, start, stop, first, last in codes:
        if tag == "equal":
            yield from (_Row("│", b + n + 1, new[n]) for n in range(first, last))
            continue
        yield from (_Row("-", a + n + 1, old[n]) for n in range(start, stop))
        yield from (_Row("+", b + n + 1, new[n]) for n in range(first, last))
    yield from (_Row("│", b + len(new) + n + 1, line) for n, line in enumerate(end_lines))


def _shared(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many lines at the beginning, and at the end, are the same in both parts.

    Of the places where a block that is added or removed could begin, its least indented line is
    the one: there an entry begins.
    """
    short, long = sorted((old, new), key=len)
    begin, end = common_length(short, long), common_length(short[::-1], long[::-1])
    if len(short) < len(long) and begin + end >= len(short):
        begin = min(range(begin, len(short) - end - 1, -1), key=lambda at: _indent(long[at]))
    return begin, min(end, len(short) - begin)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _same_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest series of lines that each text has once, in the order of both."""
    counts, others = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(new) if others[line] == 1}
    pairs = [
        (index, places[line])
        for index, line in enumerate(old)
        if counts[line] == 1 and line in places
    ]
    ends: list[int] = []  # the smallest index in `new` that a series of each length ends with
    series: list[int] = []  # and its pair
    before: list[int] = []  # the pair before each pair in its series
    for number, (_, there) in enumerate(pairs):
        length = bisect_left(ends, there)
        before.append(series[length - 1] if length else -1)
        ends[length : length + 1] = [there]
        series[length : length + 1] = [number]
    result = []
    number = series[-1] if series else -1
    while number >= 0:
        result.append(pairs[number])
        number = before[number]
    return result[::-1]
