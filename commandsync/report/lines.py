r"""Untrusted text, escaped for each format, and the lines of text for a screen.

Readable text stays as it is: letters of all scripts, emoji with their joiners, and spaces between
words. A character that is invisible, controls a terminal or changes the direction of writing is
shown as an escape, and so is a command to a CI runner (`\x1b`, `\u202e`, `##\[`).

A runner obeys `##[command]` (and `##vso[`) anywhere in a line, `::command` only where a line begins
with it: the first is escaped here, and the second never begins a line.

`joined` makes the text: values are cut at the width of a screen, and sentences are wrapped between
words. The differences of a field (`diff_rows`) are cut, and each format escapes them in its own
way. The differences of a file (`file_lines`) are text with the numbers of the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from unicodedata import category, east_asian_width, normalize

from commandsync.api.credentials import redacted
from commandsync.diagnostics import LIBRARY, Words
from commandsync.records.display import EMOJI, aligned, common_length, python_escape, unhidden

if TYPE_CHECKING:
    from commandsync.sources.changeset import FileEdit

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


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; a bar would end a cell even inside a code span."""
    head, *others = (
        "| " + " | ".join(each.replace("|", r"\|") for each in row) + " |"
        for row in (columns, *rows)
    )
    return "\n".join([head, "|" + " --- |" * len(columns), *others])


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
    """The display of values: only a terminal has colours and a width.

    Each program shows hints in its own words, and may know a page for each file.
    """

    color: bool = False
    width: int | None = None  # its columns
    full: bool = False  # whether texts are shown whole, however long they are
    quiet: bool = False  # whether only the result's line and errors are shown
    words: Words = LIBRARY  # the program's own words for hints
    files: str = ""  # the URL of the folder that paths begin in; empty for none
    asks: bool = False  # whether apply can ask a person


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


WIDTH = 100  # characters of a foreign line that are shown
AROUND = 24  # unchanged characters on either side of a difference within a line
_CHANGED_WIDTH = 200  # of a removed or added line
_CONTEXT = 1  # unchanged lines shown on either side of a difference
_MOST_LINES = 20  # removed, or added, in one place; the manifest contains the whole text
_MOST_ROWS = 60  # of one field


class DiffRow(NamedTuple):
    """One line of a difference: removed, added, unchanged, or a remark on lines left out."""

    sign: Literal["-", "+", "│", "…"]
    text: str


def shortened(text: str, width: int = WIDTH) -> tuple[str, str]:
    """Return the beginning of a text, and a remark on the number of characters left out."""
    text = redacted(text)
    if len(text) <= width:
        return text, ""
    shown = width - 20
    return text[:shown], f"… ({len(text) - shown:,} more characters)"


def cut(text: str, width: int = WIDTH) -> str:
    """Return the beginning of a text with the remark on the characters left out."""
    return "".join(shortened(text, width))


def diff_rows(old: str, new: str, *, full: bool = False, after: int = AROUND) -> list[DiffRow]:
    """Return the differences between two texts, by line, and within lines that are long.

    `full` cuts no line and leaves out no removed or added one; `after` is the number of unchanged
    characters that a line shows after a difference.
    """
    ours, theirs = redacted(old).split("\n"), redacted(new).split("\n")
    rows: list[DiffRow] = []
    parts = aligned(ours, theirs)
    for part in parts:
        if part.is_same:
            rows += _unchanged(part.old, after=part is not parts[0], before=part is not parts[-1])
        else:
            rows += _replaced(part.old, part.new, full=full, after=after)
    if full:
        return rows
    shown = [
        DiffRow(row.sign, cut(row.text, WIDTH if row.sign == "│" else _CHANGED_WIDTH))
        for row in rows[:_MOST_ROWS]
    ]
    return [*shown, DiffRow("…", "more differences follow")] if len(rows) > _MOST_ROWS else shown


def _unchanged(lines: list[str], *, after: bool, before: bool) -> Iterator[DiffRow]:
    """Show the lines beside a difference; a few lines between two differences are all shown."""
    begin = _CONTEXT if after else 0
    end = max(len(lines) - _CONTEXT, 0) if before else len(lines)
    left_out = end - begin
    if after and before and left_out <= 1:
        begin = end
    yield from (DiffRow("│", line) for line in lines[:begin])
    if after and before and left_out > 1:
        yield DiffRow("…", f"{left_out:,} unchanged lines")
    yield from (DiffRow("│", line) for line in lines[end:])


def _replaced(ours: list[str], theirs: list[str], *, full: bool, after: int) -> Iterator[DiffRow]:
    most = max(len(ours), len(theirs)) if full else _MOST_LINES
    left_out = [len(ours) - most, len(theirs) - most]
    ours, theirs = ours[:most], theirs[:most]
    if len(ours) == len(theirs) and not full:
        pairs = [_around(old, new, after) for old, new in zip(ours, theirs, strict=True)]
        ours, theirs = [old for old, _ in pairs], [new for _, new in pairs]
    rows = ([DiffRow("-", line) for line in ours], [DiffRow("+", line) for line in theirs])
    for shown, count in zip(rows, left_out, strict=True):
        yield from shown
        if count > 0:
            yield DiffRow("…", f"{count:,} more lines")


def _around(old: str, new: str, after: int) -> tuple[str, str]:
    """Cut the common ends of two long lines, but for some context."""
    if max(len(old), len(new)) <= WIDTH:
        return old, new
    same = common_length(old, new)
    begin = max(0, same - AROUND)
    shared_end = common_length(old[same:][::-1], new[same:][::-1])
    left_out = max(0, shared_end - after)
    lead, rest = "…" if begin else "", "…" if left_out else ""
    return (
        lead + old[begin : len(old) - left_out] + rest,
        lead + new[begin : len(new) - left_out] + rest,
    )


_FILE_CONTEXT = 2  # unchanged lines shown on either side of a change
_FILE_COLORS = {"-": RED, "+": GREEN, "│": DIM}


def edit_lines(edits: Iterable[FileEdit]) -> Iterator[str]:
    """Return the changed lines of files, with an empty line below each file."""
    for edit in edits:
        yield from (*file_lines(edit), "")


def file_lines(edit: FileEdit) -> Iterator[str]:
    """Return the path of a file and its changed lines, each after its number."""
    yield paint(path(edit.path) + ("" if edit.before is not None else " (new)"), BOLD)
    rows = list(_file_rows((edit.before or "").splitlines(), edit.after.splitlines()))
    changed = [index for index, (sign, _, _) in enumerate(rows) if sign != "│"]
    shown = {near for at in changed for near in range(at - _FILE_CONTEXT, at + _FILE_CONTEXT + 1)}
    last = -1
    for index in sorted(shown & set(range(len(rows)))):
        if 0 <= last < index - 1:
            yield paint("       …", DIM)
        last = index
        sign, number, text = rows[index]
        yield Value(paint(f"{number:>6} {sign} {visible_line(text)}".rstrip(), _FILE_COLORS[sign]))
    if not changed:
        yield paint("       only line ends change", DIM)


def _file_rows(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, str]]:
    """Yield the lines: removed, added or unchanged, with the number in the text that has them."""
    a = b = 1
    for is_same, ours, theirs in aligned(old, new):
        yield from () if is_same else (("-", number, line) for number, line in enumerate(ours, a))
        sign = "│" if is_same else "+"
        yield from ((sign, number, line) for number, line in enumerate(theirs, b))
        a, b = a + len(ours), b + len(theirs)
