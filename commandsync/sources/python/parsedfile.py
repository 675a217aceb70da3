"""One Python file of a bot: decoded as Python decodes it, and parsed; it is never run."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from commandsync.diagnostics import Location, Notice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_BYTES = 2 * 1024 * 1024
"""A larger file is not read: it was generated, or it is data."""

_DECLARING = re.compile(rb"command|group|context_menu|Cog|ContextMenu")
_FRAMEWORK = re.compile("discord|disnake|nextcord|redbot")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_LINE = 10_000  # characters in which columns are counted; in others it is bytes
_NOT_IMPORTED = "its commands are not imported"


@dataclass(eq=False)
class ParsedFile:
    """A Python file that was read.

    Attributes:
        path: The file, with `/` between folders.
        text: Its text.
        tree: Its syntax tree.
    """

    path: str
    text: str
    tree: ast.Module
    _matches: dict[re.Pattern[str], list[int]] = field(default_factory=dict)

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks whose names are in the text."""
        return frozenset(_FRAMEWORK.findall(self.text))

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE_END.split(self.text)

    def mentions(self, pattern: re.Pattern[str], node: ast.stmt) -> bool:
        """Whether a pattern matches in a line of a function's body, or in all of a short one."""
        if pattern not in self._matches:
            self._matches[pattern] = list(self._lines_of(pattern))
        last = node.end_lineno or node.lineno
        first = min(node.lineno + 1, last)
        matches = self._matches[pattern]
        return bisect_left(matches, first) < bisect_right(matches, last)

    def _lines_of(self, pattern: re.Pattern[str]) -> Iterator[int]:
        line, last = 1, 0
        for match in pattern.finditer(self.text):
            line += len(_LINE_END.findall(self.text, last, match.start()))
            last = match.start()
            yield line

    def place(self, node: ast.AST) -> Location:
        """Return where a node of the tree begins; the file for a node without a place."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        line = min(line, len(self._lines))
        text = self._lines[line - 1]
        if not text.isascii() and len(text) <= _LONGEST_LINE:
            before = text.encode("utf-8", "surrogatepass")[:offset]
            offset = len(before.decode("utf-8", "surrogatepass"))
        return Location(self.path, line, offset + 1)


def may_declare(data: bytes) -> bool:
    """Whether a file may declare commands: one that does has at least one of a few words."""
    return _DECLARING.search(data) is not None


def parse(path: str, data: bytes) -> ParsedFile | Notice:
    """Parse a file, or return why it cannot be parsed."""
    if len(data) > MOST_BYTES:
        message = f"the file is larger than {MOST_BYTES // 1024**2} MiB"
        return Notice(message, _NOT_IMPORTED, Location(path))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the bot's code, for its author
            return ParsedFile(path, text, ast.parse(text))
    except SyntaxError as error:
        place = Location(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))
        return Notice(f"the file is not valid Python: {error.msg}", _NOT_IMPORTED, place)
    except (MemoryError, RecursionError):
        return Notice("the file is nested too deeply", _NOT_IMPORTED, Location(path))
    except (LookupError, ValueError) as error:  # its encoding, a null byte, a huge number
        return Notice(f"the file cannot be decoded: {error}", _NOT_IMPORTED, Location(path))
