"""The difference between two texts of a file, by line, with the numbers of the lines."""

from collections.abc import Iterator, Sequence

from commandsync.records.alignment import aligned
from commandsync.report.escape import path as shown_path
from commandsync.report.escape import visible_line
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint
from commandsync.sources.changeset import FileEdit

_CONTEXT = 2  # unchanged lines shown on either side of a change
_COLORS = {"-": RED, "+": GREEN, "│": DIM}


def file_lines(edit: FileEdit) -> Iterator[str]:
    """Return the path of a file and its changed lines, each after its number."""
    yield paint(shown_path(edit.path) + ("" if edit.before is not None else " (new)"), BOLD)
    rows = list(_rows((edit.before or "").splitlines(), edit.after.splitlines()))
    changed = [index for index, (sign, _, _) in enumerate(rows) if sign != "│"]
    shown = {near for at in changed for near in range(at - _CONTEXT, at + _CONTEXT + 1)}
    last = -1
    for index in sorted(shown & set(range(len(rows)))):
        if 0 <= last < index - 1:
            yield paint("       …", DIM)
        last = index
        sign, number, text = rows[index]
        yield Value(paint(f"{number:>6} {sign} {visible_line(text)}".rstrip(), _COLORS[sign]))
    if not changed:
        yield paint("       only line ends change", DIM)


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the lines: removed, added or unchanged, with the number in the text that has them."""
    a = b = 1
    for is_same, ours, theirs in aligned(old, new):
        yield from () if is_same else (("-", number, line) for number, line in enumerate(ours, a))
        sign = "│" if is_same else "+"
        yield from ((sign, number, line) for number, line in enumerate(theirs, b))
        a, b = a + len(ours), b + len(theirs)
