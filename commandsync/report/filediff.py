"""The difference between two versions of a file, as `diff -u` shows it."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING

from commandsync.report.escape import visible, visible_line
from commandsync.report.lines import BOLD, CYAN, GREEN, RED, joined, paint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.report.screen import Screen

_COLORS = {"+": GREEN, "-": RED, "@": CYAN}


def file_difference(path: str, *, old: Sequence[str], new: Sequence[str], screen: Screen) -> str:
    """Return the difference between the lines of two versions; empty where they are equal."""
    return joined(_lines(path, old, new), screen)


def _lines(path: str, old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    differences = unified_diff(old, new, lineterm="")
    for number, line in enumerate(differences):
        if number < len(("---", "+++")):
            yield paint(f"{line[:3]} {visible(path)}", BOLD)
            continue
        shown = visible_line(line[1:].rstrip("\r\n"))
        yield paint(line[0] + shown, _COLORS[line[0]]) if line[0] in _COLORS else f" {shown}"
