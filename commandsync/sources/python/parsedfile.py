"""One Python file of a bot: decoded as Python decodes it, and parsed; it is never run."""

import ast
import io
import re
import sys
import tokenize
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from commandsync.diagnostics import Location, Notice
from commandsync.sources.sourcefile import NOT_IMPORTED

MOST_BYTES = 2 * 1024 * 1024
"""A larger file is not read: it was generated, or it is data."""

_FRAMEWORK = re.compile("discord|disnake|nextcord|redbot")
_DECLARING = re.compile(
    r"@|\bclass\b|add_(cog|command|application_command)|ContextMenu|[Gg]roup\b"
    r"|CommandHandler|BotCommand|set_my_commands|\.register\("
)
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_LINE = 10_000  # characters in which columns are counted; in others it is bytes
_REST = "the rest of the file is read, and no command is removed"
_TYPE_PARAMETERS = re.compile(  # of Python 3.12: `class Cache[T]:`, `def first[T](`, `type A = `
    r"^([ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+\w+)(\[[^\n]*\])(?=[ \t]*[(:])"
    r"|^([ \t]*)type[ \t]+(?=\w+[ \t]*(?:\[[^\n]*\][ \t]*)?=)",
    re.MULTILINE,
)
_NEWER = {  # the compiler's words for newer syntax, or the syntax, and the Python that has it
    r"multiple exception types must be": (3, 14),
    r"\bt[\"']": (3, 14),
    r"f-string|\bclass \w+\[|\bdef \w+\[|\btype \w+": (3, 12),
}
_HEADER = re.compile(r"([ \t]*)(?:async[ \t]+def|def|class)\b")
_MOST_BROKEN = 20  # functions of a file


@dataclass(eq=False)
class ParsedFile:
    """A Python file that was read."""

    path: str  # the file, with `/` between folders
    text: str
    tree: ast.Module
    problems: tuple[Notice, ...] = ()  # why parts of it are not in the tree

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks whose names are in the text."""
        return frozenset(_FRAMEWORK.findall(self.text))

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _LINE_END.split(self.text)

    @cached_property
    def _declaring(self) -> Sequence[int]:
        """The lines that may declare a command, or bind its declaration."""
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
        return Notice(message, NOT_IMPORTED, Location(path))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the bot's code, for its author
            tree, broken = _tolerant(text)
    except SyntaxError as error:
        return _problem(path, error, NOT_IMPORTED)
    except (MemoryError, RecursionError):
        return Notice("the file is nested too deeply", NOT_IMPORTED, Location(path))
    except (LookupError, ValueError) as error:  # its encoding, a null byte, a huge number
        return Notice(f"the file cannot be decoded: {error}", NOT_IMPORTED, Location(path))
    return ParsedFile(path, text, tree, tuple(_problem(path, error, _REST) for error in broken))


def _tolerant(text: str) -> tuple[ast.Module, list[SyntaxError]]:
    """Parse a text without the functions that are not valid; with the errors in them.

    Type parameters are read by every Python. Raises `SyntaxError` if too much is not valid.
    """
    errors: list[SyntaxError] = []
    for _ in range(_MOST_BROKEN):
        try:
            return ast.parse(text), errors
        except SyntaxError as error:
            if (older := _TYPE_PARAMETERS.sub(_spaces, text)) == text:
                errors.append(error)
                text = _without_function(text, error.lineno or 1)
            else:
                text = older
    raise errors[0]


def _spaces(match: re.Match[str]) -> str:
    """Return a match without its type parameters, in as many columns, or without its `type`."""
    return match[3] if match[1] is None else match[1] + " " * len(match[2])


def _without_function(text: str, number: int) -> str:
    """Return a text in which the function or class around a line is `pass`, or only that line."""
    lines = _LINE_END.split(text)
    start = min(number, len(lines)) - 1
    above = (n for n in range(start, -1, -1) if _HEADER.match(lines[n]))
    start = next(above, start)
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and _is_inside(lines[end], indent):
        end += 1
    while start and lines[start - 1].strip()[:1] == "@":
        start -= 1
    first = lines[start][:indent] + "pass"
    return "\n".join([*lines[:start], first, *[""] * (end - start - 1), *lines[end:]])


def _is_inside(line: str, indent: int) -> bool:
    content = line.lstrip()
    return not content or len(line) - len(content) > indent or content[0] in ")]}#"


def _problem(path: str, error: SyntaxError, hint: str) -> Notice:
    place = Location(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))
    described = f"{error.msg} {error.text or ''}"
    for syntax, version in _NEWER.items():
        if sys.version_info < version and re.search(syntax, described):
            newer = f"{version[0]}.{version[1]}"
            message = f"this may be syntax of Python {newer}: {error.msg}"
            return Notice(message, f"run commandsync with Python {newer} or newer; {hint}", place)
    return Notice(f"the file is not valid Python: {error.msg}", hint, place)
