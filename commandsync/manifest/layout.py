"""How lists, and mappings in braces, are laid out in a file, and how they are edited."""

import re
from collections.abc import Collection, Iterable
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, field
from typing import NamedTuple

from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LINE_END = re.compile(r"[\r\n]|\Z")
_ANCHOR = re.compile(r"(?:&\S+(?:[ \t\r\n]|#[^\r\n]*)*+)?")
_COLON = re.compile(r"[ \t]*:")
_COMMENT_LINE = re.compile(r"(?:\r\n|\r|\n)([ \t]*)#[^\r\n]*")
_EMPTY_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*[\r\n]")
_DASH = re.compile(r" *-(?=[ \t\r\n])")
_NO_CONTENT = re.compile(r"[ \t]*(?:#|$|[\r\n])")
VALUE, BELOW, FIELD, ITEM = range(4)
"""The ranks of what is put in at one place."""


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


class OddLayoutError(Exception):
    """A file is laid out in a way that is not edited: with the index of the place."""


class Line(NamedTuple):
    """An item with a dash: the indices of its dash, of the break before it, and of its end."""

    dash: int
    start: int
    end: int


def key_of(mapping: Mapping, name: str) -> Scalar:
    """Return a key as it is written."""
    return next(key for key in mapping.written_keys() if key == name)


def column(text: str, at: int) -> int:
    """Return how many characters are before a place on its line."""
    return at - line_start(text, at)


def after_colon(text: str, key: Scalar) -> int:
    """Return the index after the colon of a key; `OddLayoutError` if it is on another line."""
    match = _COLON.match(text, key.end)
    if match is None:
        raise OddLayoutError(key.at)
    return match.end()


def lines_of(text: str, items: AnySequence[Node]) -> list[Line]:
    """Return where the items of a list with dashes are.

    Comments below an item belong to it if they are indented more than its dash; `OddLayoutError`
    if a dash is not the first character of its line.
    """
    lines = []
    for item in items:
        dash = _dash(text, item.at)
        end = line_end(text, content_end(text, item))
        while (comment := _COMMENT_LINE.match(text, end)) and len(comment[1]) > column(text, dash):
            end = comment.end()
        lines.append(Line(dash, break_before(text, dash), end))
    return lines


def _dash(text: str, at: int) -> int:
    """Return the index of the dash of an item, which may be on a line above it."""
    start = line_start(text, at)
    while (match := _DASH.match(text, start)) is None:
        if not start or not (start == line_start(text, at) or _NO_CONTENT.match(text, start)):
            raise OddLayoutError(at)
        start = line_start(text, start - 1)
    return match.end() - 1


def has_empty_lines(text: str, lines: AnySequence[Line], index: int) -> bool:
    """Whether an empty line is between an item and the one before it, or the first and the next."""
    second = max(index, 1)
    if second >= len(lines):
        return False
    return _EMPTY_LINE.search(text, lines[second - 1].end, lines[second].dash) is not None


def spans_of(text: str, node: Mapping | Sequence) -> list[tuple[int, int]]:
    """Return where each field of a mapping, or each item of a list, begins and ends."""
    if isinstance(node, Sequence):
        return [(item.at, content_end(text, item)) for item in node]
    return [(key.at, content_end(text, node[key])) for key in node.written_keys()]


def edit_lines(
    patch: Patch,
    lines: AnySequence[Line],
    *,
    colon: int,
    removed: Collection[int],
    added: Iterable[tuple[int, str]],
) -> None:
    """Edit a list with dashes; new items are lines, each after the item of an index.

    An empty list is written at `colon`, the index after the colon of its key.
    """
    text, is_first = patch.text, True
    for index, line in enumerate(lines):
        if index not in removed:
            is_first = False
            continue
        patch.cut(line.start, line.end)
        start = line.end if is_first else lines[index - 1].end
        following = lines[index + 1].start if index + 1 < len(lines) else line.end
        end = following if is_first else line.start
        if not text[start:end].strip():
            patch.cut(start, end)
    added = list(added)
    for after, item in added:
        patch.insert(lines[after].end, f"{line_break(text)}{item}", rank=ITEM)
    if not added and len(removed) == len(lines):
        patch.insert(colon, " []")


def edit_flow(
    patch: Patch,
    node: Mapping | Sequence,
    *,
    removed: Collection[int],
    added: Iterable[tuple[int, str]],
) -> None:
    """Edit a mapping in braces or a list in brackets, of which something stays."""
    spans = spans_of(patch.text, node)
    first = min(set(range(len(spans))).difference(removed), default=None)
    if first is None:
        raise OddLayoutError(node.at)
    for index in removed:  # with the comma before it, or behind it if no field before it stays
        pair = (index - 1, index) if index > first else (index, index + 1)
        (start, left), (right, end) = (spans[n] for n in pair)
        if "#" in patch.text[left:right]:
            raise OddLayoutError(node.at)
        patch.cut(*((left, end) if index > first else (start, right)))
    for after, item in added:
        patch.insert(spans[after][1], f",{item}", rank=ITEM)
