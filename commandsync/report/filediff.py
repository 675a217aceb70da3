"""The difference between two texts of a file, by line, with the numbers of the lines."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from commandsync.report.escape import path as shown_path
from commandsync.report.escape import visible_line
from commandsync.report.linediff import common_length
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.sources.outcome import FileEdit

_CONTEXT = 2  # lines
_COLORS = {"-": RED, "+": GREEN, "│": DIM}


def file_lines(edit: FileEdit) -> Iterator[str]:
    """Return the path of a file and its changed lines, each after its number.

    A line that is removed has its number in the old text, any other one that in the new text.
    """
    yield paint(shown_path(edit.path) + ("" if edit.before is not None else " (new)"), BOLD)
    old, new = (edit.before or "").splitlines(), edit.after.splitlines()
    last = 0
    for sign, number, line in _rows(old, new):
        if last and sign != "-" and number > last + 1:
            yield paint("       …", DIM)
        last = number if sign != "-" else last or number
        row = f"{number:>6} {sign} {visible_line(line)}".rstrip()
        yield Value(paint(row, _COLORS[sign]))
    if old == new:
        yield paint("       only line ends change", DIM)


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield each changed line and those around it: its sign, its number and its text."""
    start = max(0, common_length(old, new) - _CONTEXT)
    matcher = SequenceMatcher(None, old[start:], new[start:], autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        for tag, a, b, c, d in group:
            if tag == "equal":
                yield from (("│", start + n + 1, new[start + n]) for n in range(c, d))
                continue
            yield from (("-", start + n + 1, old[start + n]) for n in range(a, b))
            yield from (("+", start + n + 1, new[start + n]) for n in range(c, d))
