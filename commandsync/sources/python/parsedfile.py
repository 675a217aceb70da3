"""One Python file of a bot: decoded as Python decodes it, and parsed; it is never run."""

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from commandsync.diagnostics import Location, Notice

MOST_BYTES = 2 * 1024 * 1024
"""A larger file is not read: it was generated, or it is data."""

_FRAMEWORK = re.compile("discord|disnake|nextcord|redbot")
_DECLARING = re.compile(r"@|\bclass\b|add_(cog|command|application_command)|ContextMenu|[Gg]roup\b")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_LINE = 10_000  # characters in which columns are counted; in others it is bytes
_NOT_IMPORTED = "its commands are not imported"


@dataclass(eq=False)
class ParsedFile:
    """A Python file that was read."""

    path: str  # the file, with `/` between folders
    text: str
    tree: ast.Module

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks whose names are in the text."""
        return frozenset(_FRAMEWORK.findall(self.text))

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE_END.split(self.text)

    @cached_property
    def _declaring(self) -> Sequence[int]:
        """The lines that may declare a command, or bind what declares one."""
        return [n for n, line in enumerate(self._lines, start=1) if _DECLARING.search(line)]

    def may_declare_in(self, node: ast.stmt) -> bool:
        """Whether a line of a function's body, or of all of a short one, may declare a command."""
        last = node.end_lineno or node.lineno
        first = min(node.lineno + 1, last)
        return bisect_left(self._declaring, first) < bisect_right(self._declaring, last)

    def place(self, node: ast.AST) -> Location:
        """Return where a node of the tree begins; the file for a node without a place."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        line = min(line, len(self._lines))
        text = self._lines[line - 1]
        if not text.isascii() and len(text) <= _LONGEST_LINE:
            before = text.encode("utf-8", "surrogatepass")[:offset]
            offset = len(before.decode("utf-8", "surrogatepass"))
        return Location(self.path, line, offset + 1)


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
