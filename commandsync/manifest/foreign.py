"""Merge conflicts, Markdown tables and typographic quotes: what is in manifests and not YAML."""

import re
from typing import NamedTuple

from commandsync.manifest.problems import quoted
from commandsync.manifest.source import Source

_MARKER = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)")
_ROW = re.compile(r"[ \t]*\|(?:[^|\r\n]*\|){2,}[ \t\r]*")
TYPOGRAPHIC = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb\u2039\u203a"
_LONGEST_SHOWN = 100
_NEAR = 65536  # characters; a conflict is seldom larger


class Explained(NamedTuple):
    """A syntax error in plain words."""

    at: int  # the index of its character
    message: str
    hint: str = ""
    end: int = 0  # the index of its last character, if that is further on


def typographic(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a string in typographic quotes, and a hint; None without them."""
    ends = len(text) > 1 and text[0] in TYPOGRAPHIC and text[-1] in TYPOGRAPHIC
    if not ends or any(character in TYPOGRAPHIC for character in text[1:-1]):
        return None
    message = f"the quotes around {quoted(text)} are typographic, and part of the string in YAML"
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[0]}...{text[-1]}"
    straight = f'"{shown[1:-1]}"'
    return message, f'write straight ones, {straight}, or both to keep them, "{shown}"'


def conflict(source: Source, at: int) -> Explained | None:
    """Return the merge conflict that a place belongs to."""
    text = source.text
    start, line = source.line_at(at)
    begin = start
    if not line.startswith("<<<<<<<"):
        begin = text.rfind("\n<<<<<<<", max(start - _NEAR, 0), start) + 1
    close = text.find("\n>>>>>>>", begin, begin + _NEAR) + 1
    inside = _MARKER.match(text, begin) is not None and begin <= at <= _end(text, close or begin)
    if not inside:
        if _MARKER.match(text, start) is None:
            return None
        begin = close = start
    message = "this is a merge conflict that is not resolved"
    hint = "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return Explained(begin, message, hint, _end(text, close or begin))


def table(source: Source, at: int) -> Explained | None:
    """Return the Markdown table that a place belongs to."""
    text = source.text
    start, line = source.line_at(at)
    if _ROW.fullmatch(line) is None:
        return None
    end = _end(text, start)
    while _ROW.fullmatch(text, end + 1, _end(text, end + 1)):
        end = _end(text, end + 1)
    message = "this is a table in Markdown, not YAML"
    hint = "write each row as an entry: - name: with description: and syntax: below it"
    return Explained(start + len(line) - len(line.lstrip()), message, hint, end)


def _end(text: str, at: int) -> int:
    """The index of the line feed after a character, or the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end
