"""One JavaScript or TypeScript file of a bot, parsed by tree-sitter; it is never run."""

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from itertools import count

from tree_sitter import Language, Node, Parser, Tree
from tree_sitter_javascript import language as javascript
from tree_sitter_typescript import language_typescript as typescript

from commandsync.diagnostics import Location, Notice
from commandsync.sources.code import NOT_IMPORTED

__all__ = ["Node", "ParsedFile", "decoded", "field", "parse", "parts"]

MOST_BYTES = 512 * 1024
"""A larger file is not read: it was generated, or it is data."""

_TYPED = (".ts", ".mts", ".cts")
_BRACKET = re.compile(rb"[\[({\])}]")
_MOST_NESTED = 1000  # brackets; the parser needs a part of the stack for each
_MOST_STEPS = 1000  # of the parser; it repairs what is not valid, some of it very slowly
_BYTES_PER_STEP = 8  # that are read as well; code that is valid needs at least 13
_CHUNK = 1 << 16
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPES = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True))
_JOINED = dict.fromkeys(("\n", "\r", "\r\n", "\u2028", "\u2029"), "")
_LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True, eq=False)
class ParsedFile:
    """A file that was read."""

    path: str  # the file, with `/` between folders
    data: bytes
    tree: Node

    def place(self, node: Node) -> Location:
        """Return where a node begins."""
        line, column = node.start_point
        before = self.data[node.start_byte - column : node.start_byte]
        return Location(self.path, line + 1, len(before.decode(errors="replace")) + 1)


def parse(path: str, data: bytes) -> ParsedFile | Notice:
    """Parse a file, or return why it cannot be parsed."""
    data, language = data.removeprefix(BOM_UTF8), "JavaScript"
    if path.endswith(_TYPED):
        language = "TypeScript"
    try:
        file = ParsedFile(path, data, _tree(data, language).root_node)
    except UnicodeDecodeError:
        return Notice("the file is not UTF-8", NOT_IMPORTED, Location(path))
    except ValueError as error:
        return Notice(f"the file {error}", NOT_IMPORTED, Location(path))
    if file.tree.has_error:
        place = file.place(_first_error(file.tree))
        return Notice(f"the file is not valid {language}", NOT_IMPORTED, place)
    return file


def _tree(data: bytes, language: str) -> Tree:
    """Parse a file; `ValueError` if that may need too much time, or more stack than there is."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"is larger than {MOST_BYTES // 1024} KiB")
    data.decode()
    depth, steps = 0, count(-_MOST_STEPS - len(data) // _BYTES_PER_STEP)
    for bracket in _BRACKET.findall(data):
        depth = depth + 1 if bracket in b"[({" else max(depth - 1, 0)
        if depth > _MOST_NESTED:
            raise ValueError("is nested too deeply")
    parser = Parser(Language(typescript() if language == "TypeScript" else javascript()))
    try:
        return parser.parse(
            lambda at, _: data[at : at + _CHUNK], progress_callback=lambda *_: next(steps) > 0
        )
    except ValueError:  # the callback has ended it
        raise ValueError(f"is not valid {language}, or too complex") from None


def _first_error(node: Node) -> Node:
    while not node.is_error and (inner := [part for part in node.children if part.has_error]):
        node = inner[0]
    return node


def parts(node: Node | None) -> list[Node]:
    """Return the parts of a node without its comments."""
    inner = node.named_children if node else []
    return [part for part in inner if part.type != "comment"]


def field(node: Node | None, *names: str) -> Node | None:
    """Return the first of some fields that a node has."""
    found = (node.child_by_field_name(name) for name in names) if node else ()
    return next(filter(None, found), None)


def decoded(text: str) -> str:
    """Return a part of a string with its escapes replaced."""
    whole = _ESCAPE.sub(_unescaped, text)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins halves


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code in _JOINED or len(code) == 1:
        return (_ESCAPES | _JOINED).get(code, code)
    return chr(min(int(code[1:].strip("{}"), 16), _LAST_CHARACTER))
