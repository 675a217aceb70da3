r"""Untrusted text, escaped for each format, and the lines of text for a screen.

Readable text stays as it is: letters of all scripts, emoji with their joiners, and spaces between
words. A character that is invisible, controls a terminal or changes the direction of writing is
shown as an escape, and so is a command to a CI runner (`\x1b`, `\u202e`, `##\[`).

A runner obeys `##[command]` (and `##vso[`) anywhere in a line, `::command` only where a line begins
with it: the first is escaped here, and the second never begins a line.

`joined` makes the text: values are cut at the width of a screen, and sentences are wrapped between
words.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple
from unicodedata import category, east_asian_width, normalize

from commandsync.api.credentials import redacted
from commandsync.diagnostics import LIBRARY, Words
from commandsync.records.display import EMOJI, python_escape, unhidden

_CONTROL = re.compile(r"[\x00-\x1f]")
RUNNER_PREFIX = re.compile(r"##(?=\w*\[)")  # of a command to a CI runner, anywhere in a line
_LINE_COMMAND = re.compile(r"^(\s*):(?=:)", re.MULTILINE)
_RUNNER_COMMAND = re.compile(r"##(\w*)\[")
_SHORTEST_FENCE = 3


def visible(text: str) -> str:
    """Return text on one line, with invisible and unsafe characters as escapes."""
    if text.isascii() and text.isprintable() and "##" not in text:
        return text  # as nearly always, and quicker than three searches
    shown = _CONTROL.sub(lambda match: python_escape(match[0]), unhidden(text, python_escape))
    return _RUNNER_COMMAND.sub(r"##\1\\[", shown)


def visible_line(text: str) -> str:
    """Return a line of a longer text, made visible with the spaces at its end."""
    shown = visible(text)
    kept = shown.rstrip(" ")
    return kept + "·" * (len(shown) - len(kept))


def distinct(old: str, new: str) -> tuple[str, str]:
    """Return two different texts, spelt out in ASCII where they would look the same."""
    if normalize("NFC", visible(old)) == normalize("NFC", visible(new)):
        return ascii(old)[1:-1], ascii(new)[1:-1]
    return old, new


def path(text: str) -> str:
    """Return a file's path for the beginning of a line, where runners look for commands."""
    shown = visible(text)
    return f"./{shown}" if shown.lstrip().startswith("::") else shown


def beginning(text: str) -> str:
    """Return visible text for the beginning of a line, where runners look for commands."""
    return _LINE_COMMAND.sub(r"\1\\x3a", visible(text))


def json_text(text: str) -> str:
    r"""Return dumped JSON of the same value, with `\u` escapes where it would be misread.

    The escapes of `json.dumps` contain nothing that is replaced here.
    """
    safe = RUNNER_PREFIX.sub(r"\\u0023\\u0023", text.replace("::", r"\u003a\u003a"))
    return unhidden(safe, _json_escape)


def in_html(page: str) -> str:
    """Return a page in which references replace the signs of a command to a CI runner."""
    return _LINE_COMMAND.sub(r"\1&#58;", RUNNER_PREFIX.sub("#&#35;", page))


def code(text: str) -> str:
    """Return text as a Markdown code span: nothing inside is a mention, a link or HTML."""
    shown = visible(text)
    if not shown.strip():
        return "*empty*"
    fence = "`" * (_longest_run(shown) + 1)
    padding = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def fenced(lines: list[str], language: str) -> str:
    """Return lines, each made visible already, as a Markdown block that none of them can end."""
    fence = "`" * max(_SHORTEST_FENCE, _longest_run("\n".join(lines)) + 1)
    return "\n".join((f"{fence}{language}", *lines, fence))


def command_data(text: str) -> str:
    """Return text for the message of a GitHub workflow command; its own line ends are kept."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Return text for a property (`file=`, `title=`) of a GitHub workflow command."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


@cache
def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))


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
    """How values are shown: only a terminal has colours and a width.

    Each program shows hints in its own words, and may know a page for each file.
    """

    color: bool = False
    width: int | None = None  # its columns
    full: bool = False  # whether texts are shown whole, however long they are
    quiet: bool = False  # whether only the result's line and errors are shown
    words: Words = LIBRARY  # of the program, for hints
    files: str = ""  # the URL of the folder of the paths; empty for none
    asks: bool = False  # whether somebody is there whom apply asks


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


class CopiedLine(str):
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
    whole = CopiedLine if not screen.full else (CopiedLine, Value)
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
    """Break a line between words; the following rows are indented further than the first."""
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
