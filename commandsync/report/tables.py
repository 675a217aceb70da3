"""Changes as Markdown tables: every field that is written, long texts below, long tables folded."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location
from commandsync.plan.changes import Add, Change, Delete, Edit, FieldChange, Replace
from commandsync.records.texts import Resource
from commandsync.report import summary
from commandsync.report.linediff import cut, diff_rows
from commandsync.report.lines import code, distinct, fenced, visible_line

_CELL = 60  # characters of a changed text that a cell shows; a longer one follows the table
_WHOLE_CELL = 200  # of an added or deleted text, as above
_LONG = 25  # lines that are shown without being folded
_BELOW = "*see below*"
_FIELDS = tuple(  # of a whole record, as far as a kind has them; its name comes first
    dict.fromkeys(field for kind in Resource for field in kind.fields[1:])
)


def change_blocks(changes: Sequence[Change], files: str) -> Iterator[str]:
    """Return the table of changes of one action, then the texts too long for it, whole.

    Deletes begin with those of the most used records. What deletes a record is never folded. Places
    are links below the URL `files`, which may be empty.
    """
    match changes[0]:
        case Add() | Delete():
            head, rows, below = _wholes([c for c in changes if isinstance(c, Add | Delete)], files)
        case Edit(renames=True):
            head, rows, below = _renames([c for c in changes if isinstance(c, Edit)], files)
        case _:
            head, rows, below = _edits([c for c in changes if isinstance(c, Edit | Replace)], files)
    dangerous = isinstance(changes[0], Delete | Replace)
    shown = [table(head, rows)]
    yield from shown if dangerous else folded(shown, summary.counted(len(rows), "row"))
    yield from folded(below, summary.counted(len(below) // 2, "long text"))


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
    rows = diff_rows(old, new, full=True)
    return fenced([f"{row.sign} {visible_line(row.text)}" for row in rows], "diff")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; a bar would end a cell even inside a code span."""
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(each.replace("|", r"\|") for each in row) + " |" for row in rows]
    return "\n".join(lines)


def cell(text: str) -> str:
    """Return foreign text for a cell, which is empty without any."""
    return code(text) if text else ""


def place(location: Location | None, files: str) -> str:
    """Return a place in the manifest for a cell; empty for none.

    It is a link if the URL `files` of the manifest's folder is known.
    """
    if location is None:
        return ""
    shown, path = code(str(location)), posixpath.normpath(location.path)
    if not files or path.startswith(("../", "/")):
        return shown
    return f"[{shown}]({files}/{quote(path, errors='surrogateescape')}#L{location.line})"


def _wholes(
    changes: Sequence[Add | Delete], files: str
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head, the rows and the long texts of whole records, without empty columns."""
    records = [change.texts[0]._asdict() for change in changes]
    fields = [field for field in _FIELDS if any(record.get(field) for record in records)]
    where = ["Where"] if isinstance(changes[0], Add) else []
    rows, below = [], []
    # The most used records first; the order of others stays.
    for change in sorted(changes, key=lambda each: -(getattr(each, "uses", 0) or 0)):
        record = change.texts[0]._asdict()
        cells, texts = _whole(change, {field: record.get(field, "") for field in fields}, files)
        rows.append(cells)
        below += texts
    return ["Name", *where, *(field.capitalize() for field in fields)], rows, below


def _whole(
    change: Add | Delete, texts: Mapping[str, str], files: str
) -> tuple[list[str], list[str]]:
    """Return the cells of a whole record, and below the table its texts that are cut there."""
    below: list[str] = []
    sign, where = ("+", [place(change.location, files)]) if isinstance(change, Add) else ("-", [])
    if cut(change.name) != change.name:
        below += (_label(change, change.resource.fields[0]), _block(change.name, sign))
    cells = [cell(text) for text in texts.values()]
    for n, (field, text) in enumerate(texts.items()):
        if not _fits(text, _WHOLE_CELL):
            cells[n] = _BELOW
            below += (_label(change, field), _block(text, sign))
    return [_name(change), *where, *cells], below


def _renames(changes: Sequence[Edit], files: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head and the rows of renames, and the differences between their long texts."""
    rows, below = [], []
    for change in changes:
        also = []
        if cut(change.name) != change.name:
            below += [_label(change, change.fields[0].field), _block(change.name, "+")]
        for field in change.fields[1:]:
            old, new, blocks = _difference(change, field)
            also.append(f"{field.field}: " + (_BELOW if blocks else f"{old} → {new}"))
            below += blocks
        names = [code(cut(name)) for name in distinct(change.before[0], change.name)]
        rows.append([*names, "kept", place(change.location, files), "; ".join(also)])
    return ["Old name", "New name", "Uses", "Where", "Also changed"], rows, below


def _edits(
    changes: Sequence[Edit | Replace], files: str
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head and the rows of changed fields, and the differences between long texts."""
    rows, below = [], []
    for change in changes:
        for field in change.fields:
            old, new, blocks = _difference(change, field)
            rows.append([_name(change), place(change.location, files), field.field, old, new])
            below += blocks
    return ["Name", "Where", "Field", "Old", "New"], rows, below


def _difference(change: Edit | Replace, field: FieldChange) -> tuple[str, str, list[str]]:
    """Return the cells of a changed field, and the difference of texts that are too long."""
    if _fits(field.old) and _fits(field.new):
        old, new = map(code, distinct(field.old, field.new))
        return old, new, []
    return _BELOW, _BELOW, [_label(change, field.field), difference_block(field.old, field.new)]


def _name(change: Change) -> str:
    remark = summary.remark_on(change)
    name = summary.kind_prefix(change) + code(cut(change.name))
    return name + (f" **({remark})**" if remark else "")


def _label(change: Change, field: str) -> str:
    return f"{summary.kind_prefix(change)}{code(cut(change.name))}, {field}:"


def _block(text: str, sign: str) -> str:
    return fenced([f"{sign} {visible_line(line)}" for line in redacted(text).split("\n")], "diff")


def _fits(text: str, width: int = _CELL) -> bool:
    return len(text) <= width and "\n" not in text
