"""How values, lists and mappings are laid out in a file, and how they are written and edited.

A `Patch` collects the changes to a file's text by their places. `written` makes YAML of a value
that reads well and loads as exactly that value; a new entry copies the style of its neighbour
(`EntryStyle`). Scalars are written by hand rather than by PyYAML's emitter, which is slow, folds
long lines, and quotes what people would write plain.
"""

import re
from collections.abc import Collection, Iterable
from collections.abc import Mapping as AnyMapping
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


# What needs an escape: what YAML refuses or takes for a line break, and what hides in print (bidi
# overrides and marks, spaces of no width, a byte order mark, tags). Joiners stay: emoji and scripts
# need them.
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff"
_HIDDEN = r"\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f"
_UNSAFE = _CONTROLS + _HIDDEN
_ESCAPED = re.compile(rf'[{_UNSAFE}"\\\n\t]|#(?=#\w*\[)')
_UNPRINTABLE = re.compile(rf"[{_UNSAFE}]")
_BREAKING = re.compile(rf"[{_UNSAFE}\n]")
# What a CI runner that prints a pulled manifest would obey, had it the beginning of a line.
_OBEYED = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
# A letter first, then nothing that could end the text or make it a key.
_PLAIN = re.compile(rf"[^\W\d_](?:[^{_UNSAFE}\n\t:#]|:(?=[^\s])|(?<! )#)*")
_FLOW_SIGNS = re.compile(r"[\[\]{},:#]")
# Words that some YAML reader takes for something other than a string.
_WORDS = re.compile(r"true|false|yes|no|on|off|y|n|null", re.IGNORECASE)
_BLOCK_HEADER = re.compile(r"[|>][-+]?(?![0-9+-])")
_LARGE = 0x10000
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
QUOTES = frozenset("\"'")
STEP = 2  # spaces of indentation, where a file has no neighbour to copy it from
Value = str | tuple[str, ...]


class Quoting(NamedTuple):
    """The quotes to use, empty for those that need fewer escapes."""

    quote: str = ""
    always: bool = False  # whether to use them where none are needed


class Written(NamedTuple):
    """A value as YAML: the rest of its key's line, and the lines below."""

    line: str
    below: tuple[str, ...] = ()  # without indentation; an empty one stays empty


def is_plain(text: str, *, in_flow: bool = False) -> bool:
    """Whether a text needs no quotes; inside `[]` and `{}` more signs need them."""
    if _OBEYED.search(text) or text != text.strip() or (in_flow and _FLOW_SIGNS.search(text)):
        return False
    return bool(_PLAIN.fullmatch(text)) and not _WORDS.fullmatch(text)


def written(value: Value, quoting: Quoting, *, in_flow: bool = False, sample: str = "") -> Written:
    """Write a value; a text of many lines becomes a block where that is possible.

    A sample, how another value is written, decides between a block and one line, and between
    dashes and brackets. No text has half of a surrogate pair.
    """
    if isinstance(value, tuple):
        return _written_list(value, quoting, in_brackets=not value or not sample.startswith("-"))
    header = _BLOCK_HEADER.match(sample)
    if not in_flow and ("\n" in value or header) and _fits_block(value):
        keeps = header and not (sample.startswith(">") and "\n" in value)
        return Written(header[0] if header and keeps else "|-", tuple(value.split("\n")))
    return Written(_inline(value, quoting, in_flow=in_flow))


def _fits_block(text: str) -> bool:
    return bool(text) and text == text.strip() and not _needs_escapes(text)


def _written_list(texts: tuple[str, ...], quoting: Quoting, *, in_brackets: bool) -> Written:
    items = [_inline(text, quoting, in_flow=in_brackets) for text in texts]
    if in_brackets:
        return Written(f"[{', '.join(items)}]")
    return Written("", tuple(f"- {item}" for item in items))


def _inline(text: str, quoting: Quoting, *, in_flow: bool) -> str:
    """Write a text on one line, in double quotes where single ones cannot express it."""
    quote, always = quoting
    if not always and is_plain(text, in_flow=in_flow):
        return text
    if not quote:
        quote = "'" if _ESCAPED.search(text) and "'" not in text else '"'
    if quote == "'" and not (_needs_escapes(text) or "\t" in text or "\n" in text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def one_line(text: str) -> str:
    """Return a text as a comment can contain it."""
    return _BREAKING.sub(" ", text)


def _needs_escapes(text: str) -> bool:
    return bool(_UNPRINTABLE.search(text) or _OBEYED.search(text))


def _escape(match: re.Match[str]) -> str:
    character, code = match[0], ord(match[0])
    return _SHORT.get(character) or (f"\\u{code:04X}" if code < _LARGE else f"\\U{code:08X}")


class Sample(NamedTuple):
    """A field of a neighbour."""

    text: str
    source: str  # how it is written


@dataclass(frozen=True, slots=True)
class EntryStyle:
    """The style of an entry: by default that of `commandsync pull`."""

    in_flow: bool = False  # whether it is written in `{}`
    lead: str = " "  # what is between its dash and its first key
    key_quote: str = ""
    samples: AnyMapping[str, Sample] = field(default_factory=dict)

    def written(self, key: str, value: Value) -> Written:
        """Write a value as the neighbour's value of that key is written."""
        own = self.samples.get(key, Sample("", ""))
        sources = [own.source, *(sample.source for sample in self.samples.values())]
        quote = next((source[0] for source in sources if source[:1] in QUOTES), "")
        always = own.source[:1] in QUOTES and is_plain(own.text, in_flow=self.in_flow)
        if self.in_flow and self.key_quote == '"':  # as in JSON
            quote, always = self.key_quote, True
        return written(value, Quoting(quote, always), in_flow=self.in_flow, sample=own.source)

    def flow_field(self, key: str, value: Value) -> str:
        """Write a field in `{}`."""
        return f"{self.key_quote}{key}{self.key_quote}: {self.written(key, value).line}"

    def block_field(self, key: str, value: Value, *, indent: int, separator: str) -> str:
        """Write a field of an entry without braces: its line, and those below, indented."""
        line, below = self.written(key, value)
        inner = " " * (indent + STEP)
        lines = [
            f"{self.key_quote}{key}{self.key_quote}: {line}".rstrip(),
            *(line and f"{inner}{line}" for line in below),
        ]
        return separator.join(lines)

    def flow_entry(self, values: AnyMapping[str, Value]) -> str:
        """Write an entry in `{}`."""
        fields = (self.flow_field(key, value) for key, value in values.items())
        return f"{{{', '.join(fields)}}}"


def style_of(patch: Patch, entry: Node) -> EntryStyle:
    """Return the style of an entry; the default one where it is not written as a mapping."""
    if not (isinstance(entry, Mapping) and entry) or patch.is_alias(entry):
        return EntryStyle()
    text, first = patch.text, next(entry.written_keys())
    return EntryStyle(
        in_flow=patch.is_flow(entry),
        lead=" " if patch.is_flow(entry) else _lead(patch, entry.at),
        key_quote=text[first.at] if text[first.at] in QUOTES else "",
        samples={
            str(key): Sample(
                value if isinstance(value, str) else "", text[patch.begin(value) : value.end]
            )
            for key, value in entry.items()
            if not patch.is_alias(value)
        },
    )


def _lead(patch: Patch, at: int) -> str:
    before = patch.text[at - patch.source.column(at) : at]
    if not before.strip():  # the dash is on a line above
        return f"{patch.line_break}{before}"
    lead = before.rpartition("-")[2]
    return " " if lead.strip() else lead


def quoting_of(source: str) -> Quoting:
    """Return the quotes for a new value, given how the old one is written."""
    return Quoting(source[0], always=True) if source[:1] in QUOTES else Quoting()
