"""Changes as Markdown tables: every field that is written, long texts below, long tables folded."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from urllib.parse import quote

from commandsync.api.credentials import redacted
from commandsync.diagnostics import Location
from commandsync.plan.changes import Add, Change, Delete, Edit, Replace
from commandsync.report import summary
from commandsync.report.lines import code, distinct, fenced, visible_line
from commandsync.report.parts import BREAKING, Shown, cut, diff_rows, shown_changes, whole_fields

_CELL = 60  # characters of a changed text that a cell shows; a longer one follows the table
_WHOLE_CELL = 200  # of an added or deleted text, as above
_LONG = 25  # lines that are shown without being folded
_BELOW = "*see below*"


def change_blocks(changes: Sequence[Change], files: str) -> Iterator[str]:
    """Return the table of changes of one action, then the texts too long for it, whole.

    Deletes begin with the most used records, and are never folded. Places are links below the URL
    `files`, which may be empty.
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
    head, *others = (
        "| " + " | ".join(each.replace("|", r"\|") for each in row) + " |"
        for row in (columns, *rows)
    )
    return "\n".join([head, "|" + " --- |" * len(columns), *others])


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
    records = [whole_fields(change.texts[0]) for change in changes]
    # Options are the last column, in whichever record they come first.
    known = sorted(dict.fromkeys(chain.from_iterable(records)), key=lambda key: key == "options")
    fields = [field for field in known if any(record.get(field) for record in records)]
    where = ["Where"] if isinstance(changes[0], Add) else []
    rows, below = [], []
    # The most used records first; the order of others stays.
    for change in sorted(changes, key=lambda each: -(getattr(each, "uses", 0) or 0)):
        record = whole_fields(change.texts[0])
        cells, texts = _whole(change, {field: record.get(field, "") for field in fields}, files)
        rows.append(cells)
        below += texts
    titles = [field.capitalize() if field.isalpha() else code(field) for field in fields]
    return ["Name", *where, *titles], rows, below


def _whole(
    change: Add | Delete, texts: Mapping[str, str], files: str
) -> tuple[list[str], list[str]]:
    """Return the cells of a whole record, and below the table its texts that are cut there."""
    below: list[str] = []
    sign, where = ("+", [place(change.location, files)]) if isinstance(change, Add) else ("-", [])
    if cut(change.name) != change.name:
        below += (label(change, change.resource.fields[0]), _block(change.name, sign))
    cells = [cell(text) for text in texts.values()]
    for n, (field, text) in enumerate(texts.items()):
        if not _fits(text, _WHOLE_CELL):
            cells[n] = _BELOW
            below += (label(change, field), _block(text, sign))
    return [_name(change), *where, *cells], below


def _renames(changes: Sequence[Edit], files: str) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head and the rows of renames, and the differences between their long texts."""
    rows, below = [], []
    for change in changes:
        also = []
        if cut(change.name) != change.name:
            below += [label(change, change.resource.fields[0]), _block(change.name, "+")]
        for field in shown_changes(change):
            old, new, blocks = _difference(change, field)
            values = _BELOW if blocks else f"{old} → {new}"
            also.append(f"{_field(change, field)}: {values}")
            below += blocks
        names = [code(cut(name)) for name in distinct(change.before[0], change.name)]
        rows.append([*names, "kept", place(change.location, files), "; ".join(also)])
    kept = "Id" if changes[0].resource.exact else "Uses"
    return ["Old name", "New name", kept, "Where", "Also changed"], rows, below


def _edits(
    changes: Sequence[Edit | Replace], files: str
) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the head and the rows of changed fields, and the differences between long texts."""
    rows, below = [], []
    for change in changes:
        for field in shown_changes(change):
            old, new, blocks = _difference(change, field)
            name = _field(change, field)
            rows.append([_name(change), place(change.location, files), name, old, new])
            below += blocks
    return ["Name", "Where", "Field", "Old", "New"], rows, below


def _difference(change: Edit | Replace, field: Shown) -> tuple[str, str, list[str]]:
    """Return the cells of a changed field, and the difference of texts that are too long."""
    if field.is_whole and _fits(field.old + field.new, _WHOLE_CELL):
        return cell(field.old), cell(field.new), []
    if _fits(field.old) and _fits(field.new):
        old, new = map(code, distinct(field.old, field.new))
        return old, new, []
    return _BELOW, _BELOW, [label(change, field.label), difference_block(field.old, field.new)]


def _field(change: Change, field: Shown) -> str:
    """Return the name of a field; parts of an object have names that are foreign text."""
    name = code(cut(field.label)) if change.resource.exact else field.label
    return f"{name} **({BREAKING})**" if field.breaking else name


def _name(change: Change) -> str:
    remark = summary.remark_on(change)
    name = summary.kind_prefix(change) + code(cut(change.name))
    return name + (f" **({remark})**" if remark else "")


def label(change: Change, field: str) -> str:
    """Return the words for a field of a change, in front of its text."""
    name = code(cut(field)) if change.resource.exact else field
    return f"{summary.kind_prefix(change)}{code(cut(change.name))}, {name}:"


def _block(text: str, sign: str) -> str:
    return fenced([f"{sign} {visible_line(line)}" for line in redacted(text).split("\n")], "diff")


def _fits(text: str, width: int = _CELL) -> bool:
    return len(text) <= width and "\n" not in text
