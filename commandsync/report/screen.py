"""The place that text is printed on: a terminal, or a file that a program reads."""

from __future__ import annotations

from dataclasses import dataclass
from unicodedata import combining, east_asian_width


@dataclass(frozen=True, slots=True)
class Screen:
    """What a terminal can show; anything else has neither colours nor a width.

    Attributes:
        color: Whether it shows colours.
        width: Its columns; None where it is not a terminal.
        full: Whether texts are shown whole, however long they are.
        quiet: Whether only the result's line and errors are shown.
    """

    color: bool = False
    width: int | None = None
    full: bool = False
    quiet: bool = False


PLAIN = Screen()


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a line takes up."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(sign) in "WF" else 0 if combining(sign) else 1 for sign in text
    )
