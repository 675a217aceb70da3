"""What people put into a manifest that is not YAML: told apart by how it looks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.problems import quoted

if TYPE_CHECKING:
    from commandsync.manifest.source import Source

_MARKER = re.compile(r"(?:<{7}|={7}|>{7}|\|{7})(?=[ \t\r\n]|\Z)")
_ROW = re.compile(r"[ \t]*\|(?:[^|\r\n]*\|){2,}[ \t\r]*")
TYPOGRAPHIC = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b\u00ab\u00bb\u2039\u203a"
_LONGEST_SHOWN = 100
_NEAR = 65536  # characters; a conflict is seldom larger


class Foreign(NamedTuple):
    """Something that is not YAML.

    Attributes:
        at: The index of its first character.
        end: The index of its last one.
        message: What it is.
        hint: What to do.
    """

    at: int
    end: int
    message: str
    hint: str


def foreign_at(source: Source, at: int) -> Foreign | None:
    """Return what the place of a syntax error belongs to; None when it looks like YAML."""
    return _conflict(source, at) or _table(source, at)


def is_typographic(text: str) -> bool:
    """Whether a text has typographic quotes around it, and nowhere else."""
    ends = len(text) > 1 and text[0] in TYPOGRAPHIC and text[-1] in TYPOGRAPHIC
    return ends and not any(character in TYPOGRAPHIC for character in text[1:-1])


def typographic(text: str) -> tuple[str, str]:
    """Return what is wrong with a text in typographic quotes, and what to do."""
    message = f"the quotes around {quoted(text)} are typographic, and part of the text to YAML"
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[0]}...{text[-1]}"
    straight = f'"{shown[1:-1]}"'
    return message, f'write straight ones, {straight}, or both to keep them, "{shown}"'


def _conflict(source: Source, at: int) -> Foreign | None:
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
    return Foreign(
        begin,
        _end(text, close or begin),
        "this is a merge conflict that is not resolved",
        "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
    )


def _table(source: Source, at: int) -> Foreign | None:
    text = source.text
    start, line = source.line_at(at)
    if _ROW.fullmatch(line) is None:
        return None
    end = _end(text, start)
    while _ROW.fullmatch(text, end + 1, _end(text, end + 1)):
        end = _end(text, end + 1)
    return Foreign(
        start + len(line) - len(line.lstrip()),
        end,
        "this is a table in Markdown, not YAML",
        "write each row as an entry: - name: with description: and syntax: below it",
    )


def _end(text: str, at: int) -> int:
    """The index of the line feed after a character, or the end of the text."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end
