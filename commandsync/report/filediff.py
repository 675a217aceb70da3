"""The difference between two texts of a file, by line, with the numbers of the lines."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from commandsync.records.alignment import aligned
from commandsync.report.escape import path as shown_path
from commandsync.report.escape import visible_line
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint
from commandsync.sources.merge import FileEdit

_CONTEXT = 2  # unchanged lines shown on either side of a change
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
    a = b = 1
    for is_same, ours, theirs in aligned(old, new):
        if is_same:
            yield from (_Row("│", number, line) for number, line in enumerate(theirs, b))
        else:
            yield from (_Row("-", number, line) for number, line in enumerate(ours, a))
            yield from (_Row("+", number, line) for number, line in enumerate(theirs, b))
        a, b = a + len(ours), b + len(theirs)
