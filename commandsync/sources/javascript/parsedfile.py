"""One JavaScript or TypeScript file of a bot, parsed by tree-sitter; it is never run."""

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from functools import cache

from tree_sitter import Language, Node, Parser
from tree_sitter_javascript import language as javascript
from tree_sitter_typescript import language_typescript as typescript

from commandsync.diagnostics import Location, Notice
from commandsync.sources.code import NOT_IMPORTED

__all__ = ["Node", "ParsedFile", "decoded", "field", "parse", "parts"]

MOST_BYTES = 512 * 1024
"""A larger file is not read: it was generated, or it is data."""

_TYPED = (".ts", ".mts", ".cts")
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|.)", re.DOTALL)
_ESCAPES = dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True))
_JOINED = frozenset(("\n", "\r", "\r\n", "\u2028", "\u2029"))
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
    data = data.removeprefix(BOM_UTF8)
    if len(data) > MOST_BYTES:
        message = f"the file is larger than {MOST_BYTES // 1024} KiB"
        return Notice(message, NOT_IMPORTED, Location(path))
    try:
        data.decode()
    except UnicodeDecodeError:
        return Notice("the file is not UTF-8", NOT_IMPORTED, Location(path))
    tree = Parser(_language(typed=path.endswith(_TYPED))).parse(data)
    file = ParsedFile(path, data, tree.root_node)
    if file.tree.has_error:
        message = f"the file is not valid {'TypeScript' if path.endswith(_TYPED) else 'JavaScript'}"
        return Notice(message, NOT_IMPORTED, file.place(_first_error(file.tree)))
    return file


@cache
def _language(*, typed: bool) -> Language:
    return Language(typescript() if typed else javascript())


def _first_error(node: Node) -> Node:
    inner: Node | None = node
    while inner and not (inner.is_error or inner.is_missing):
        node = inner
        inner = next((child for child in node.children if child.has_error), None)
    return inner or node


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
    if "\\" not in text:
        return text
    whole = _ESCAPE.sub(_unescaped, text)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins halves


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code in _JOINED:
        return ""
    if len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number <= _LAST_CHARACTER else "\ufffd"
    return _ESCAPES.get(code, code)
