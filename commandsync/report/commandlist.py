"""A command list as Markdown: a table, padded as formatters pad it, or a list per category."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from commandsync.records.texts import CommandText, Resource, by_category
from commandsync.report.lines import columns_of
from commandsync.report.markdowntext import inline, literal

MENTION = "mention"
COLUMNS = (*Resource.COMMAND.fields, MENTION, "options")
"""The columns that a list can have: the fields of a command, and what its platform says of it."""

_TYPED = frozenset({"name", "syntax"})  # what users type is shown as code
_WIDEST = 1000  # columns of a table; a wider one is not padded: one long text would pad every row
_DEEPEST = 6  # level of a heading


@dataclass(frozen=True, slots=True)
class Layout:
    """How commands are listed: the one category, without a heading, or all; their fields."""

    category: str | None = None
    format: Literal["table", "list"] = "table"
    columns: tuple[str, ...] = ("syntax", "description")


def command_list(commands: Iterable[CommandText], layout: Layout, *, level: int) -> str:
    """Return the Markdown of a list, without a line end at its end; empty where nothing is listed.

    The level is that of the headings of categories, from 1; 6 is the deepest.
    """
    if "category" in layout.columns and layout.category is None:
        return _block(tuple(commands), layout)
    groups = by_category(commands)
    if layout.category is not None:
        return _block(groups.get(layout.category, ()), layout)
    if len(groups) == 1:
        return "".join(_block(members, layout) for members in groups.values())
    blocks = []
    for name, members in groups.items():
        if heading := inline(name.replace("\n", " ")):
            # Hashes at its end would be taken for a part of its mark.
            heading = f"{heading[:-1]}\\#" if heading.endswith("#") else heading
            blocks.append(f"{'#' * min(level, _DEEPEST)} {heading}")
        blocks.append(_block(members, layout))
    return "\n\n".join(blocks)


def _block(commands: Sequence[CommandText], layout: Layout) -> str:
    if not commands:
        return ""
    if layout.format == "list":
        return "\n".join(_item(command, layout.columns) for command in commands)
    rows = [
        [_shown(field, getattr(command, field, "")) for field in layout.columns]
        for command in commands
    ]
    return _table([[field.capitalize() for field in layout.columns], *rows])


def _item(command: CommandText, columns: Iterable[str]) -> str:
    """Return an item that begins with its first text in the type of code, or in bold type."""
    first, *rest = ((name, text) for name in columns if (text := getattr(command, name, "")))
    start = _shown(*first) if first[0] in {*_TYPED, MENTION} else f"**{_shown(*first)}**"
    more = [_shown(*each, before=" ", after=" " * (each is not rest[-1])) for each in rest]
    return f"- {start}: {' '.join(more)}" if more else f"- {start}"


def _shown(field: str, text: str, *, before: str = "", after: str = "") -> str:
    if field == MENTION:  # escaped, it is not one
        return text
    return literal(text) if field in _TYPED else inline(text, before=before, after=after)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a bar ends a cell, in a code span too."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [[*map(columns_of, row)] for row in escaped]
    widest = [max(column) for column in zip(*widths, strict=True)]
    if sum(widest) > _WIDEST:
        widths = [[0] * len(row) for row in rows]
        widest = [0] * len(rows[0])
    head, *body = (
        _row(
            cell + " " * (most - width)
            for cell, width, most in zip(row, row_widths, widest, strict=True)
        )
        for row, row_widths in zip(escaped, widths, strict=True)
    )
    return "\n".join((head, _row("-" * max(most, 3) for most in widest), *body))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
