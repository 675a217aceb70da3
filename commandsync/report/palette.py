"""Colours of the terminal, or none: the one place that knows its control sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Style = Literal["add", "edit", "delete", "rename", "dim", "bold", "warning"]

_CODES: dict[Style, str] = {
    "add": "32",
    "edit": "33",
    "delete": "31",
    "rename": "36",
    "dim": "2",
    "bold": "1",
    "warning": "33",
}


@dataclass(frozen=True, slots=True)
class Palette:
    """Paints text; without colours it gives it back as it is."""

    color: bool = False

    def paint(self, text: str, style: Style) -> str:
        """Return text in a style, to the end of the text and no further."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color and text else text
