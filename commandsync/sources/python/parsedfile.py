"""One Python file of a bot, parsed; it is never run.

A file is decoded as Python decodes it. The functions and classes that are not valid are taken out
(`Removed`), and named: the rest is parsed.
"""

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
_DECLARING = re.compile(  # each begins with one character: a search for those is quick
    r"@|class\b|add_cog|add_command|add_application_command|ContextMenu|Group\b|group\b"
    r"|CommandHandler|MessageHandler|PrefixHandler|message_handler|add_event_handler|BotCommand|set_my_commands|set_bot_commands"
    r"|\.register\(|\.command\(|hybrid_command\(|slash_command\("
)
_GROWING = re.compile(_DECLARING.pattern + r"|\.append\(|\.extend\(|\.insert\(|\+=")
_MENU = re.compile("BotCommand|set_my_commands|set_bot_commands")
_AUTOCOMPLETE = re.compile(r"(\w+)\.(?:on_)?autocomplete\(")
_LONGEST_LINE = 10_000  # characters in which columns are counted; in others it is bytes
_REST = "the rest of the file is read, and no command is removed"
_DECORATED = re.compile(r"^[ \t]*@[\w.]*(command|group|menu|message)", re.IGNORECASE | re.MULTILINE)
_CALLED = re.compile(r"CommandHandler|BotCommand|\badd_command|Command\(")
_NAME = re.compile(r"\bname[ \t]*=[ \t]*([\"'])(?P<name>[^\"'\n]{1,100})\1")
_START = re.compile(r"[ \t]*(@|async[ \t]+def\b|def\b|class\b)")
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


@dataclass(frozen=True, slots=True)
class Removed:
    """A part of a file that is not valid, and was not parsed: a function, a class or a line."""

    problem: Notice
    text: str

    @property
    def has_menu(self) -> bool:
        """Whether it may set a menu of Telegram."""
        return _MENU.search(self.text) is not None

    @property
    def declared(self) -> list[str]:
        """The names of the commands that it seems to declare; an empty one if it is unknown."""
        lines = self.text.split("\n")
        names = []
        for number, line in enumerate(lines):
            header = _HEADER.match(line)
            decorators = "\n".join(lines[_first_decorator(lines, number) : number])
            if header and _DECORATED.search(decorators):
                named, function = _NAME.search(decorators), line[header.end() :].strip()
                names.append(named["name"] if named else function.partition("(")[0])
        if not names and (_DECORATED.search(self.text) or _CALLED.search(self.text)):
            return [""]
        return names


@dataclass(eq=False)
class ParsedFile:
    """A Python file that was read."""

    path: str  # the file, with `/` between folders
    text: str
    tree: ast.Module
    removed: tuple[Removed, ...] = ()  # the parts that are not in the tree

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """The frameworks whose names are in the text."""
        return frozenset(_FRAMEWORK.findall(self.text))

    @cached_property
    def has_menu(self) -> bool:
        """Whether its code may set a menu of Telegram."""
        return _MENU.search(self.text) is not None

    @cached_property
    def autocompleted(self) -> frozenset[str]:
        """The names of commands that a function completes, as in `@play.autocomplete("song")`."""
        is_named = "autocomplete(" in self.text  # looked for at every word is slow
        return frozenset(_AUTOCOMPLETE.findall(self.text) if is_named else ())

    @cached_property
    def _lines(self) -> Sequence[str]:
        return _plain(self.text).split("\n")

    @cached_property
    def _declaring(self) -> Sequence[int]:
        """The lines that may declare a command, or bind its declaration."""
        text, lines, line, at = _plain(self.text), list[int](), 1, 0
        for hit in (_GROWING if self.has_menu else _DECLARING).finditer(text):
            line += text.count("\n", at, hit.start())
            at = hit.start()
            lines.append(line)
        return lines

    def may_declare_in(self, node: ast.stmt) -> bool:
        """Whether a line of a function's body, or of all of a short one, may declare a command."""
        last = node.end_lineno or node.lineno
        first = min(node.lineno + 1, last)
        return bisect_left(self._declaring, first) < bisect_right(self._declaring, last)

    def has_removed(self, name: str) -> Removed | None:
        """Return the part that is not valid and names a function; None without one."""
        parts = self.removed if name else ()
        return next((part for part in parts if re.search(rf"\b{name}\b", part.text)), None)

    def lines(self, node: ast.stmt) -> str:
        """Return the lines of a statement."""
        return "\n".join(self._lines[node.lineno - 1 : node.end_lineno])

    def place(self, node: ast.AST) -> Location:
        """Return where a node of the tree begins; the file for a node without a place."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        line = min(line, len(self._lines))
        text = self._lines[line - 1]
        if not text.isascii() and len(text) <= _LONGEST_LINE:
            before = text.encode("utf-8", "surrogatepass")[:offset]
            offset = len(before.decode("utf-8", "surrogatepass"))
        return Location(self.path, line, offset + 1)


def _plain(text: str) -> str:
    """Return a text with the line ends that Python counts as one character each."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


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
            tree, removed = _tolerant(path, text)
    except SyntaxError as error:
        return _problem(path, error, NOT_IMPORTED)
    except (MemoryError, RecursionError):
        return Notice("the file is nested too deeply", NOT_IMPORTED, Location(path))
    except (LookupError, ValueError) as error:  # its encoding, a null byte, a huge number
        return Notice(f"the file cannot be decoded: {error}", NOT_IMPORTED, Location(path))
    return ParsedFile(path, text, tree, removed)


def _tolerant(path: str, text: str) -> tuple[ast.Module, tuple[Removed, ...]]:
    """Parse a text without the functions and classes that are not valid; they are returned, too.

    Type parameters are read by every Python. Raises `SyntaxError` if too much is not valid.
    """
    removed: list[Removed] = []
    first: SyntaxError | None = None
    for _ in range(_MOST_BROKEN):
        try:
            return ast.parse(text), tuple(removed)
        except SyntaxError as error:
            first = first or error
            # Type parameters become as many spaces; `type` of an alias goes.
            older = _TYPE_PARAMETERS.sub(
                lambda found: found[3] if found[1] is None else found[1] + " " * len(found[2]), text
            )
            if older != text:
                text = older
                continue
            lines = _plain(text).split("\n")
            inside = _around(lines, min(error.lineno or 1, len(lines)) - 1)
            part = lines[inside.start : inside.stop]
            problem = _problem(path, error, _REST)
            removed.append(Removed(problem, "\n".join(part)))
            indent = len(part[0]) - len(part[0].lstrip())
            lines[inside.start : inside.stop] = [part[0][:indent] + "pass", *[""] * (len(part) - 1)]
            text = "\n".join(lines)
    raise first or SyntaxError("too much of it is not valid")


def _around(lines: Sequence[str], at: int) -> range:
    """Return the lines of the function or class around a line; else only that line.

    Its decorators are part of it: a bracket that one of them lacks is an error in none of the
    functions above.
    """
    start = next((n for n in range(at, -1, -1) if _START.match(lines[n])), at)
    indent = _indent(lines[start])
    headers = (n for n in range(start, len(lines)) if _HEADER.match(lines[n]))
    header = next((n for n in headers if _indent(lines[n]) == indent), None)
    if header is not None:
        end = header + 1
        while end < len(lines) and _is_inside(lines[end], indent):
            end += 1
        if start <= at < end:
            return range(_first_decorator(lines, start), end)
    return range(at, at + 1)


def _first_decorator(lines: Sequence[str], header: int) -> int:
    """Return the first line of the decorators above a line, which may have several lines each."""
    indent, first = _indent(lines[header]), header
    for number in range(header - 1, -1, -1):
        line = lines[number].lstrip()
        is_same = _indent(lines[number]) == indent
        if is_same and line[:1] == "@":
            first = number
        elif not line or _indent(lines[number]) < indent or (is_same and line[0] not in ")]}"):
            break
    return first


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_inside(line: str, indent: int) -> bool:
    content = line.lstrip()
    return not content or _indent(line) > indent or content[0] in ")]}#"


def _problem(path: str, error: SyntaxError, hint: str) -> Notice:
    place = Location(path, max(error.lineno or 1, 1), max(error.offset or 1, 1))
    described = f"{error.msg} {error.text or ''}"
    for syntax, version in _NEWER.items():
        if sys.version_info < version and re.search(syntax, described):
            newer = f"{version[0]}.{version[1]}"
            message = f"this may be syntax of Python {newer}: {error.msg}"
            return Notice(message, f"run commandsync with Python {newer} or newer; {hint}", place)
    return Notice(f"the file is not valid Python: {error.msg}", hint, place)
