"""Lines of text for a screen: values are cut at its width, sentences are wrapped between words."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import category, east_asian_width

from commandsync.api.redaction import redacted
from commandsync.characters import EMOJI

# The numbers of colours and styles in a terminal's escapes.
RED, GREEN, YELLOW, BLUE, CYAN, DIM, BOLD = 31, 32, 33, 34, 36, 2, 1

_PAINT = re.compile(r"\x1b\[[0-9]+m")
_MARKS = frozenset({"Mn", "Me"})  # they take up no column
_SKIN = "\U0001f3fb-\U0001f3ff"
_SEQUENCE = re.compile(
    rf"[{EMOJI}][\ufe0f{_SKIN}]*(?:\u200d[{EMOJI}][\ufe0f{_SKIN}]*)+|[{EMOJI}][\ufe0f{_SKIN}]+"
    r"|[0-9#*]\ufe0f\u20e3"
)
_PAINT_OR_SIGN = re.compile(r"\x1b\[[0-9]+m|.", re.DOTALL)


class Screen(NamedTuple):
    """What a terminal can show; anything else has neither colours nor a width."""

    color: bool = False
    width: int | None = None  # its columns
    full: bool = False  # whether texts are shown whole, however long they are
    quiet: bool = False  # whether only the result's line and errors are shown


PLAIN = Screen()


def columns_of(text: str) -> int:
    """Return how many columns of a terminal a line takes up; an emoji of several signs has two."""
    if text.isascii():
        return len(text)
    return sum(
        2 if east_asian_width(sign) in "WF" else 0 if category(sign) in _MARKS else 1
        for sign in _SEQUENCE.sub("ww", text)
    )


class Value(str):
    """A line with a value of a record: it is cut where the screen ends."""

    __slots__ = ()


class Command(str):
    """A line to be copied: it stays whole on every screen."""

    __slots__ = ()


def paint(text: str, color: int) -> str:
    """Paint a text; `joined` removes it again where no colours are shown."""
    return f"\x1b[{color}m{text}\x1b[0m" if text else text


def highlight(text: str) -> str:
    """Mark a part of a painted line, which keeps its colour."""
    return f"\x1b[7m{text}\x1b[27m" if text else text


def joined(lines: Iterable[str], screen: Screen) -> str:
    """Join lines; foreign text in them is visible, so each escape is one of `paint`."""
    text = "".join(f"{row}\n" for line in lines for row in _rows(line, screen))
    return text if screen.color else _PAINT.sub("", text)


def _rows(line: str, screen: Screen) -> Iterable[str]:
    whole = Command if not screen.full else (Command, Value)
    if screen.width is None or isinstance(line, whole):
        return (line,)
    if isinstance(line, Value):
        return (cut_at(line, screen.width),)
    return _wrapped(line, screen.width)


def _columns(line: str) -> int:
    return columns_of(_PAINT.sub("", line))


def cut_at(line: str, width: int) -> str:
    """Return a line, or its beginning with an ellipsis in the last of so many columns."""
    line = redacted(line)
    if _columns(line) <= width:
        return line
    kept, left = "", width - 1
    for match in _PAINT_OR_SIGN.finditer(line):
        if match[0].startswith("\x1b"):
            kept += match[0]
            continue
        left -= columns_of(match[0])
        if left < 0:
            break
        kept += match[0]
    return f"{kept}…\x1b[0m" if "\x1b" in kept else f"{kept}…"


def _wrapped(line: str, width: int) -> Iterator[str]:
    """Break a line between words; what follows is indented further than its beginning."""
    first, *words = line.lstrip(" ").split(" ")
    indentation = " " * (len(line) - len(line.lstrip(" ")))
    row = indentation + first
    for word in words:
        if _columns(row) + 1 + _columns(word) > width:
            yield row
            row = f"{indentation}  {word}"
        else:
            row = f"{row} {word}"
    yield row
