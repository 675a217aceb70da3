"""Changes as Markdown tables: every field that is written, long texts below, long tables folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.plan.changes import Add, Delete, Edit, Replace
from commandsync.records.texts import Resource
from commandsync.report import summary
from commandsync.report.escape import code, fenced, told_apart, visible_line
from commandsync.report.linediff import cut, diff_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from commandsync.diagnostics import Location
    from commandsync.plan.changes import Change

_CELL = 60  # characters of a deleted or changed text that a cell shows; a change follows the table
_ADDED_CELL = 200  # of an added text; a longer one follows the table
_WIDEST = 1_000  # characters of a line below a table
_MOST_LINES = 60  # of one text below a table, as of a difference
_LONG = 25  # lines that are shown without being folded
_BAR = r"\|"
_BELOW = "*see below*"
_FIELDS = tuple(  # of a whole record, as far as a kind has them; its name comes first
    dict.fromkeys(field for kind in Resource for field in kind.fields[1:])
)


def change_blocks(changes: Sequence[Change]) -> Iterator[str]:
    """Return the table of changes of one action, then the texts too long for it.

    Deletes begin with those of the most used records. What deletes a record is never folded.
    """
    wholes = [change for change in changes if isinstance(change, Add | Delete)]
    edits = [change for change in changes if isinstance(change, Edit | Replace)]
    head, rows, below = _wholes(sorted(wholes, key=_unused)) if wholes else _edits(edits)
    blocks = [table(head, rows), *below]
    dangerous = isinstance(changes[0], Delete | Replace)
    yield from blocks if dangerous else folded(blocks, summary.counted(len(rows), "row"))


def folded(blocks: Sequence[str], title: str) -> Iterator[str]:
    """Return blocks, folded below a title without foreign text if they are long."""
    if sum(block.count("\n") for block in blocks) <= _LONG:
        yield from blocks
        return
    yield f"<details>\n<summary>{title}</summary>"
    yield from blocks
    yield "</details>"


def difference_block(old: str, new: str) -> str:
    """Return the differences between two texts as a block that neither of them can end."""
    rows = diff_rows(old, new, width=_WIDEST)
    return fenced([f"{row.sign} {visible_line(row.text)}" for row in rows], "diff")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar would end a cell even inside a code span."""
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += [f"| {' | '.join(cell.replace('|', _BAR) for cell in row)} |" for row in rows]
    return "\n".join(lines)


def place(location: Location | None) -> str:
    """Return a place in the manifest for a cell; empty for none."""
    return "" if location is None else code(str(location))


def _wholes(changes: Sequence[Add | Delete]) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head, the rows and the long texts of whole records, without empty columns."""
    records = [change.texts[0]._asdict() for change in changes]
    fields = [field for field in _FIELDS if any(record.get(field) for record in records)]
    where = ["Where"] if isinstance(changes[0], Add) else []
    rows, below = [], []
    for change, record in zip(changes, records, strict=True):
        cells, texts = _row(change, {field: record.get(field, "") for field in fields})
        rows.append(cells)
        below += texts
    return ["Name", *where, *(field.capitalize() for field in fields)], rows, below


def _row(change: Add | Delete, texts: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Return the cells of a whole record, and its texts below the table; a delete writes none."""
    blocks = {} if isinstance(change, Delete) else _blocks(change, texts)
    width = _CELL if isinstance(change, Delete) else _ADDED_CELL
    cells = [_BELOW if field in blocks else _cell(text, width) for field, text in texts.items()]
    where = [] if isinstance(change, Delete) else [place(change.location)]
    below = [part for field, block in blocks.items() for part in (_label(change, field), block)]
    return [_name(change), *where, *cells], below


def _blocks(change: Add, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of an add that are too long for a cell, and its name if that is cut."""
    long = {field: text for field, text in texts.items() if not _fits(text, _ADDED_CELL)}
    blocks = {field: _block(text) for field, text in long.items()}
    cut_name = cut(change.name) != change.name
    return ({change.resource.fields[0]: _block(change.name)} if cut_name else {}) | blocks


def _cell(text: str, width: int) -> str:
    return code(cut(text, width)) if text else ""


def _edits(changes: Sequence[Edit | Replace]) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head and the rows of changed fields, and the differences between long texts."""
    rows, below = [], []
    for change in changes:
        for field in change.fields:
            old, new = field.old, field.new
            cells = [code(text) for text in told_apart(old, new)]
            if not (_fits(old) and _fits(new)):
                cells = [_BELOW, _BELOW]
                below += [_label(change, field.field), difference_block(old, new)]
            rows.append([_name(change), place(change.location), field.field, *cells])
    return ["Name", "Where", "Field", "Old", "New"], rows, below


def _name(change: Change) -> str:
    remark = summary.remark_on(change)
    name = summary.kind_prefix(change) + code(cut(change.name))
    return name + (f" **({remark})**" if remark else "")


def _label(change: Change, field: str) -> str:
    return f"{summary.kind_prefix(change)}{code(cut(change.name))}, {field}:"


def _block(text: str) -> str:
    lines = text.split("\n")
    shown = [f"+ {visible_line(cut(line, _WIDEST))}" for line in lines[:_MOST_LINES]]
    left_out = len(lines) - _MOST_LINES
    return fenced([*shown, *([f"… {left_out:,} more lines"] if left_out > 0 else [])], "diff")


def _fits(text: str, width: int = _CELL) -> bool:
    return len(text) <= width and "\n" not in text


def _unused(change: Add | Delete) -> int:
    """Return what sorts the most used records first, and leaves the order of others."""
    return -(change.uses or 0) if isinstance(change, Delete) else 0
