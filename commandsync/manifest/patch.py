"""Changes to a text by position: what is cut out, and what is put in; everything else stays."""

import re
from dataclasses import dataclass, field

from commandsync.manifest.nodes import Node, Scalar, Sequence

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LINE_END = re.compile(r"[\r\n]|\Z")
_ANCHOR = re.compile(r"(?:&\S+(?:[ \t\r\n]|#[^\r\n]*)*+)?")


@dataclass(slots=True)
class Patch:
    """The changes to one text, each given by its places in that text.

    Cuts may overlap. What is put in stays, also where the text around it is cut: in the order of
    the places, at one place in the order of the ranks, and then in the order of the calls.
    """

    text: str
    _cuts: list[tuple[int, int]] = field(default_factory=list)
    _insertions: list[tuple[int, int, int, str]] = field(default_factory=list)

    def cut(self, start: int, end: int) -> None:
        """Leave out a part of the text."""
        self._cuts.append((start, end))

    def insert(self, at: int, piece: str, *, rank: int = 0) -> None:
        """Put a piece in."""
        self._insertions.append((at, rank, len(self._insertions), piece))

    def result(self) -> str:
        """Return the changed text."""
        pieces, at, cuts = [], 0, sorted(self._cuts, reverse=True)
        for place, _, _, piece in [*sorted(self._insertions), (len(self.text), 0, 0, "")]:
            while cuts and cuts[-1][0] <= place:
                start, end = cuts.pop()
                pieces.append(self.text[at : max(at, start)])
                at = max(at, end)
            pieces += self.text[at : max(at, place)], piece
            at = max(at, place)
        return "".join(pieces)


def line_start(text: str, at: int) -> int:
    """Return the index of the first character of the line that a place is in."""
    newline = text.rfind("\n", 0, at) + 1
    return max(newline, text.rfind("\r", newline, at) + 1)


def line_end(text: str, at: int) -> int:
    """Return the index of the line break that ends the line of a place, or of the end."""
    match = _LINE_END.search(text, at)
    return match.start() if match else len(text)


def break_before(text: str, at: int) -> int:
    """Return the index of the line break before the line of a place; 0 on the first line."""
    start = line_start(text, at)
    return start - (2 if text.endswith("\r\n", 0, start) else 1) if start else 0


def line_break(text: str) -> str:
    """Return the line break of a text: the first that it has."""
    match = _LINE_BREAK.search(text)
    return match[0] if match else "\n"


def begin(text: str, node: Node) -> int:
    """Return the index of a value's first character after its anchor, if it has one."""
    match = _ANCHOR.match(text, node.at)
    return match.end() if match else node.at


def is_flow(text: str, node: Node) -> bool:
    """Whether a list or mapping is written in `[]` or `{}`."""
    return text.startswith(("[", "{"), begin(text, node))


def is_alias(text: str, node: Node) -> bool:
    """Whether a value is written as an alias."""
    return text.startswith("*", node.at)


def content_end(text: str, node: Node) -> int:
    """Return the index after a value's last character; the spaces that end a block are not it."""
    while not (isinstance(node, Scalar) or is_flow(text, node) or is_alias(text, node)):
        children = node if isinstance(node, Sequence) else list(node.values())
        node = children[-1]
    return node.at + len(text[node.at : node.end].rstrip())
