"""How lists, and mappings in braces, are laid out in a file, and how they are edited."""

import re
from collections.abc import Collection, Iterable
from collections.abc import Sequence as AnySequence
from dataclasses import dataclass, field
from typing import NamedTuple

from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.source import Source

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_ANCHOR = re.compile(r"(?:&\S+(?:[ \t\r\n]|#[^\r\n]*)*+)?")
_COLON = re.compile(r"[ \t]*:")
_COMMENT_LINE = re.compile(r"(?:\r\n|\r|\n)([ \t]*)#[^\r\n]*")
_EMPTY_LINE = re.compile(r"(?:\r\n|\r|\n)[ \t]*[\r\n]")
_DASH = re.compile(r" *-(?=[ \t\r\n])")
_NO_CONTENT = re.compile(r"[ \t]*(?:#|$|[\r\n])")
VALUE, BELOW, FIELD, ITEM = range(4)
"""The ranks of what is put in at one place."""


class OddLayoutError(Exception):
    """A file is laid out in a way that is not edited: with the index of the place."""


@dataclass(slots=True)
class Patch:
    """The layout of one file, and the changes to it, each given by its places in the text.

    Cuts may overlap. What is put in stays, also where the text around it is cut: in the order of
    the places, at one place in the order of the ranks, and then in the order of the calls.
    """

    source: Source
    _cuts: list[tuple[int, int]] = field(default_factory=list)
    _insertions: list[tuple[int, int, int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text before the changes."""
        return self.source.text

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

    @property
    def line_break(self) -> str:
        """The line break of the text: the first that it has."""
        match = _LINE_BREAK.search(self.text)
        return match[0] if match else "\n"

    def break_before(self, at: int) -> int:
        """Return the index of the line break before the line of a place; 0 on the first line."""
        start, _ = self.source.line_at(at)
        return start - (2 if self.text.endswith("\r\n", 0, start) else 1) if start else 0

    def begin(self, node: Node) -> int:
        """Return the index of a value's first character after its anchor, if it has one."""
        match = _ANCHOR.match(self.text, node.at)
        return match.end() if match else node.at

    def is_flow(self, node: Node) -> bool:
        """Whether a list or mapping is written in `[]` or `{}`."""
        return self.text.startswith(("[", "{"), self.begin(node))

    def is_alias(self, node: Node) -> bool:
        """Whether a value is written as an alias."""
        return self.text.startswith("*", node.at)

    def content_end(self, node: Node) -> int:
        """Return the index after a value's last character, without the spaces that end a block."""
        while not (isinstance(node, Scalar) or self.is_flow(node) or self.is_alias(node)):
            children = node if isinstance(node, Sequence) else list(node.values())
            node = children[-1]
        return node.at + len(self.text[node.at : node.end].rstrip())

    def after_colon(self, key: Scalar) -> int:
        """Return the index after the colon of a key; `OddLayoutError` if it is on another line."""
        match = _COLON.match(self.text, key.end)
        if match is None:
            raise OddLayoutError(key.at)
        return match.end()

    def spans_of(self, node: Mapping | Sequence) -> list[tuple[int, int]]:
        """Return where each field of a mapping, or each item of a list, begins and ends."""
        if isinstance(node, Sequence):
            return [(item.at, self.content_end(item)) for item in node]
        return [(key.at, self.content_end(node[key])) for key in node.written_keys()]


class Line(NamedTuple):
    """An item with a dash: the indices of its dash, of the break before it, and of its end."""

    dash: int
    start: int
    end: int


def lines_of(patch: Patch, items: AnySequence[Node]) -> list[Line]:
    """Return where the items of a list with dashes are.

    Comments below an item belong to it if they are indented more than its dash; `OddLayoutError`
    if a dash is not the first character of its line.
    """
    source, lines = patch.source, []
    for item in items:
        dash = _dash(source, item.at)
        end, column = source.line_end(patch.content_end(item)), source.column(dash)
        while (comment := _COMMENT_LINE.match(source.text, end)) and len(comment[1]) > column:
            end = comment.end()
        lines.append(Line(dash, patch.break_before(dash), end))
    return lines


def _dash(source: Source, at: int) -> int:
    """Return the index of the dash of an item, which may be on a line above it."""
    first = start = source.line_at(at)[0]
    while (match := _DASH.match(source.text, start)) is None:
        if not start or not (start == first or _NO_CONTENT.match(source.text, start)):
            raise OddLayoutError(at)
        start, _ = source.line_at(start - 1)
    return match.end() - 1


def is_apart(text: str, lines: AnySequence[Line], index: int) -> bool:
    """Whether an empty line is between an item and the one before it, or the first and the next."""
    above, *below = lines[max(index - 1, 0) :][:2]
    return any(_EMPTY_LINE.search(text, above.end, line.dash) for line in below)


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
    is_first = True
    for index, line in enumerate(lines):
        if index not in removed:
            is_first = False
            continue
        patch.cut(line.start, line.end)
        start = line.end if is_first else lines[index - 1].end
        following = lines[index + 1].start if index + 1 < len(lines) else line.end
        end = following if is_first else line.start
        if not patch.text[start:end].strip():
            patch.cut(start, end)
    added = list(added)
    for after, item in added:
        patch.insert(lines[after].end, f"{patch.line_break}{item}", rank=ITEM)
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
    spans = patch.spans_of(node)
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
