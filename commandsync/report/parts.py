"""Records and their changes as fields to show, and the differences between two texts by line.

A command at Discord is one object: nobody reads that as one text. `whole_fields` returns its keys,
with a line for each option and sub-command, and `shown_changes` its parts that differ, with a
remark on those that users of the bot notice.

The differences of a field (`diff_rows`) are cut, and each format escapes them in its own way. The
differences of a file (`file_lines`) are text with the numbers of the lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from commandsync.api.credentials import redacted
from commandsync.plan.changes import Edit, PartChange, Replace, part_changes
from commandsync.records.display import aligned, common_length
from commandsync.records.snapshot import Node
from commandsync.records.texts import Text, compact, object_of
from commandsync.report.lines import BOLD, DIM, GREEN, RED, Value, paint, visible_line
from commandsync.report.lines import path as shown_path

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit


_TYPES = {1: "slash command", 2: "user menu", 3: "message menu"}
_OPTION_TYPES = {
    1: "sub-command",
    2: "sub-command group",
    3: "string",
    4: "integer",
    5: "boolean",
    6: "user",
    7: "channel",
    8: "role",
    9: "mentionable",
    10: "number",
    11: "attachment",
}
_SHOWN = {"name", "type", "description", "options", "required", "choices"}  # apart from others
BREAKING = "breaking"
"""The remark on a change that users of a bot notice: something does not work as it did."""


class Shown(NamedTuple):
    """One field that differs, or one part of an object."""

    label: str
    old: str
    new: str
    is_whole: bool = False  # whether a part of an object is new or gone: its label says so
    breaking: bool = False


def whole_fields(text: Text) -> dict[str, str]:
    """Return the fields of a record but its name; of an object its keys, and lines of options."""
    node = object_of(text)
    if node is None:
        return dict(zip(text._fields[1:], text[1:], strict=True))
    others = {key: _value(value) for key, value in node.items() if key not in _SHOWN}
    return {
        "type": _TYPES.get(node.get("type", 1), _value(node.get("type"))),
        "description": _value(node.get("description", "")),
        **others,
        "options": "\n".join(_option_lines(node, "")),
    }


def shown_changes(change: Edit | Replace) -> list[Shown]:
    """Return the fields or parts that differ, without the new name of a rename."""
    renamed = isinstance(change, Edit) and change.renames
    old, new = object_of(change.before), object_of(change.after)
    if old is None or new is None:
        fields = [Shown(*field) for field in change.fields]
        return fields[1:] if renamed else fields
    shown = [_shown(part) for part in part_changes(old, new)]
    return shown[1:] if renamed else shown


def _shown(part: PartChange) -> Shown:
    is_listed = part.path[-2:-1] in {("options",), ("choices",)}
    if is_listed and (part.old is None or part.new is None):
        label = f"{part.label} {'added' if part.old is None else 'removed'}"
        old, new = ("" if value is None else _line(value) for value in (part.old, part.new))
        return Shown(label, old, new, is_whole=True, breaking=part.breaking)
    return Shown(part.label, _value(part.old), _value(part.new), breaking=part.breaking)


def _value(value: Any) -> str:  # noqa: ANN401 - JSON
    if value is None:
        return ""
    return value if isinstance(value, str) else compact(value)


def _option_lines(node: Node, indent: str) -> Iterator[str]:
    """Yield a line for each option of an object, and below a sub-command for its options."""
    options = node.get("options", ())
    for option in options if isinstance(options, list | tuple) else ():
        if isinstance(option, Mapping):
            yield f"{indent}{option.get('name', '')}: {_line(option)}"
            yield from _option_lines(option, f"{indent}  ")


def _line(part: Node) -> str:
    """Return an option or a choice on one line, without its name."""
    if "value" in part:
        return _value(part["value"])
    kind = _OPTION_TYPES.get(part.get("type", 0), _value(part.get("type")))
    words = [f"required {kind}" if part.get("required") else kind]
    choices = part.get("choices")
    if isinstance(choices, list | tuple):
        names = [_value(choice.get("name")) for choice in choices if isinstance(choice, Mapping)]
        words.append(f"one of {', '.join(names)}")
    words += [f"{key} {_value(value)}" for key, value in part.items() if key not in _SHOWN]
    return f"{_value(part.get('description', ''))} ({'; '.join(words)})".lstrip()


WIDTH = 100  # characters of a foreign line that are shown
AROUND = 24  # unchanged characters on either side of a difference within a line
_CHANGED_WIDTH = 200  # of a removed or added line
_CONTEXT = 1  # unchanged lines shown on either side of a difference
_MOST_LINES = 20  # removed, or added, in one place; the manifest contains the whole text
_MOST_ROWS = 60  # of one field


class DiffRow(NamedTuple):
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


def diff_rows(old: str, new: str, *, full: bool = False, after: int = AROUND) -> list[DiffRow]:
    """Return the differences between two texts, by line, and within lines that are long.

    `full` cuts no line and leaves out no removed or added one; `after` is how many unchanged
    characters a line shows after a difference.
    """
    ours, theirs = redacted(old).split("\n"), redacted(new).split("\n")
    rows: list[DiffRow] = []
    parts = aligned(ours, theirs)
    for part in parts:
        if part.is_same:
            rows += _unchanged(part.old, after=part is not parts[0], before=part is not parts[-1])
        else:
            rows += _replaced(part.old, part.new, full=full, after=after)
    if full:
        return rows
    shown = [
        DiffRow(row.sign, cut(row.text, WIDTH if row.sign == "│" else _CHANGED_WIDTH))
        for row in rows[:_MOST_ROWS]
    ]
    return [*shown, DiffRow("…", "more differences follow")] if len(rows) > _MOST_ROWS else shown


def _unchanged(lines: list[str], *, after: bool, before: bool) -> Iterator[DiffRow]:
    """Show the lines after a difference, or before one: between two, all of a few."""
    begin = _CONTEXT if after else 0
    end = max(len(lines) - _CONTEXT, 0) if before else len(lines)
    left_out = end - begin
    if after and before and left_out <= 1:
        begin = end
    yield from (DiffRow("│", line) for line in lines[:begin])
    if after and before and left_out > 1:
        yield DiffRow("…", f"{left_out:,} unchanged lines")
    yield from (DiffRow("│", line) for line in lines[end:])


def _replaced(ours: list[str], theirs: list[str], *, full: bool, after: int) -> Iterator[DiffRow]:
    most = max(len(ours), len(theirs)) if full else _MOST_LINES
    left_out = [len(ours) - most, len(theirs) - most]
    ours, theirs = ours[:most], theirs[:most]
    if len(ours) == len(theirs) and not full:
        pairs = [_around(old, new, after) for old, new in zip(ours, theirs, strict=True)]
        ours, theirs = [old for old, _ in pairs], [new for _, new in pairs]
    rows = ([DiffRow("-", line) for line in ours], [DiffRow("+", line) for line in theirs])
    for shown, count in zip(rows, left_out, strict=True):
        yield from shown
        if count > 0:
            yield DiffRow("…", f"{count:,} more lines")


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
