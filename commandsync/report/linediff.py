"""The differences between two texts, by line: of one field, and of a file.

Those of a field (`diff_rows`) are cut, and each format escapes them in its own way. Those of a file
(`file_lines`) are text with the numbers of the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from commandsync.api.credentials import redacted
from commandsync.records.display import aligned, common_length
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint, visible_line
from commandsync.report.lines import path as shown_path

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit

WIDTH = 100  # characters of a foreign line that are shown
AROUND = 24  # unchanged characters on either side of a difference within a line
_CHANGED_WIDTH = 200  # of a removed or added line
_CONTEXT = 1  # unchanged lines shown on either side of a difference
_MOST_LINES = 20  # removed, or added, in one place; the manifest contains the whole text
_MOST_ROWS = 60  # of one field


class Row(NamedTuple):
    """One line of a difference: removed, added, unchanged, or a remark on lines left out."""

    sign: Literal["-", "+", "│", "…"]
    text: str


def shortened(text: str, width: int = WIDTH) -> tuple[str, str]:
    """Return the beginning of a text, and a remark on how much is left out: empty for nothing."""
    text = redacted(text)
    if len(text) <= width:
        return text, ""
    shown = width - 20
    return text[:shown], f"… ({len(text) - shown:,} more characters)"


def cut(text: str, width: int = WIDTH) -> str:
    """Return the beginning of a text with the remark on how much of it is left out."""
    return "".join(shortened(text, width))


def diff_rows(old: str, new: str, *, full: bool = False, after: int = AROUND) -> list[Row]:
    """Return the differences between two texts, by line, and within lines that are long.

    `full` cuts no line and leaves out no removed or added one; `after` is how many unchanged
    characters a line shows after a difference.
    """
    ours, theirs = redacted(old).split("\n"), redacted(new).split("\n")
    rows: list[Row] = []
    parts = aligned(ours, theirs)
    for part in parts:
        if part.is_same:
            rows += _unchanged(part.old, after=part is not parts[0], before=part is not parts[-1])
        else:
            rows += _replaced(part.old, part.new, full=full, after=after)
    if full:
        return rows
    shown = [
        Row(row.sign, cut(row.text, WIDTH if row.sign == "│" else _CHANGED_WIDTH))
        for row in rows[:_MOST_ROWS]
    ]
    return [*shown, Row("…", "more differences follow")] if len(rows) > _MOST_ROWS else shown


def _unchanged(lines: list[str], *, after: bool, before: bool) -> Iterator[Row]:
    """Show the lines after a difference, or before one: between two, all of a few."""
    begin = _CONTEXT if after else 0
    end = max(len(lines) - _CONTEXT, 0) if before else len(lines)
    left_out = end - begin
    if after and before and left_out <= 1:
        begin = end
    yield from (Row("│", line) for line in lines[:begin])
    if after and before and left_out > 1:
        yield Row("…", f"{left_out:,} unchanged lines")
    yield from (Row("│", line) for line in lines[end:])


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


_FILE_CONTEXT = 2  # unchanged lines shown on either side of a change
_FILE_COLORS = {"-": RED, "+": GREEN, "│": DIM}


def edit_lines(edits: Iterable[FileEdit]) -> Iterator[str]:
    """Return the changed lines of files, with an empty line below each file."""
    for edit in edits:
        yield from (*file_lines(edit), "")


def file_lines(edit: FileEdit) -> Iterator[str]:
    """Return the path of a file and its changed lines, each after its number."""
    yield paint(shown_path(edit.path) + ("" if edit.before is not None else " (new)"), BOLD)
    rows = list(_file_rows((edit.before or "").splitlines(), edit.after.splitlines()))
    changed = [index for index, (sign, _, _) in enumerate(rows) if sign != "│"]
    shown = {near for at in changed for near in range(at - _FILE_CONTEXT, at + _FILE_CONTEXT + 1)}
    last = -1
    for index in sorted(shown & set(range(len(rows)))):
        if 0 <= last < index - 1:
            yield paint("       …", DIM)
        last = index
        sign, number, text = rows[index]
        yield Value(paint(f"{number:>6} {sign} {visible_line(text)}".rstrip(), _FILE_COLORS[sign]))
    if not changed:
        yield paint("       only line ends change", DIM)


def _file_rows(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the lines: removed, added or unchanged, with the number in the text that has them."""
    a = b = 1
    for is_same, ours, theirs in aligned(old, new):
        yield from () if is_same else (("-", number, line) for number, line in enumerate(ours, a))
        sign = "│" if is_same else "+"
        yield from ((sign, number, line) for number, line in enumerate(theirs, b))
        a, b = a + len(ours), b + len(theirs)
