"""Rows as a table: rich's where there is a terminal, plain aligned columns where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from commandsync.report.escape import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST = 40  # a longer cell is shown whole, but the column is not widened for it
_GAP = "  "
_RUNNER_COMMAND = re.compile(r"^(\s*):(?=:)")


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None, color: bool
) -> str:
    """Return a table.

    Args:
        head: The names of the columns; the first one is never cut.
        rows: The cells, foreign text among them; an empty one is shown as such.
        width: The terminal's columns; None for text that is not for a terminal.
        color: Whether the head is painted.
    """
    shown = [[_first(row[0]), *map(visible, row[1:])] for row in rows]
    if width is None:
        return _plain([list(head), *shown])
    return _fitted(head, shown, width=width, color=color)


def _first(cell: str) -> str:
    """Return a cell that may stand at the beginning of a line, where runners look for commands."""
    return _RUNNER_COMMAND.sub(r"\1\\x3a", visible(cell))


def _plain(lines: list[list[str]]) -> str:
    columns = zip(*lines, strict=True)
    widths = [min(_WIDEST, max(map(_width, column))) for column in columns]
    return "".join(f"{_line(line, widths)}\n" for line in lines)


def _line(cells: list[str], widths: list[int]) -> str:
    padded = (cell + " " * (wide - _width(cell)) for cell, wide in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip()


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(one) in "WF" else 0 if combining(one) else 1 for one in text)


def _fitted(head: Sequence[str], rows: list[list[str]], *, width: int, color: bool) -> str:
    from io import StringIO  # noqa: PLC0415 - only a terminal needs them

    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    grid = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for number, name in enumerate(head):
        grid.add_column(Text(name), no_wrap=number == 0, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    out = StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        legacy_windows=False,
        _environ={},
    )
    console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
