"""YAML text -> the tree of a file: strings, lists and mappings that carry their places.

pydantic validates these nodes, so each of its errors holds the node that it is about, and no second
tree of places is needed. `parse` builds them from the parser's events, and limits hold before
anything is built: PyYAML's own composer recurses, does not count the values that aliases repeat,
and drops the first of two equal keys without an error. A syntax error costs one entry of a list, or
the value of one top-level key: it is made empty, in place, and the file is read again.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

from commandsync.manifest.source import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_NODES,
    Allowance,
    FileProblems,
    Source,
    StopReadingError,
    did_you_mean,
    quoted,
)
from commandsync.manifest.syntax import UNPRINTABLE, explain

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Scalar(str):
    """A single value: the literal spelling of a plain one, the content of a quoted one."""

    __slots__ = ("at", "end", "plain", "reported")
    at: int  # the index of its first character in the source
    end: int  # and the index after its last one
    plain: bool  # whether it is written without quotes and is not a block
    reported: bool  # whether its problem is reported already

    @property
    def is_null(self) -> bool:
        """Whether YAML 1.2 reads it as nothing."""
        return self.plain and self in _NULLS


def scalar(text: str, at: int, end: int, *, plain: bool = False, reported: bool = False) -> Scalar:
    """Return a value with its place; a function, because `str` has no `__init__` to extend."""
    node = Scalar(text)
    node.at, node.end, node.plain, node.reported = at, end, plain, reported
    return node


class Sequence(list["Node"]):
    """A list."""

    __slots__ = ("at", "end")

    def __init__(self, at: int, end: int = 0, items: Iterable["Node"] = ()) -> None:
        super().__init__(items)
        self.at, self.end = at, end


class Mapping(dict[str, "Node"]):
    """Keys and values in their order; of equal keys it has the first."""

    __slots__ = ("at", "end")

    def __init__(self, at: int, end: int = 0, pairs: Iterable[tuple[str, "Node"]] = ()) -> None:
        super().__init__(pairs)
        self.at, self.end = at, end

    def written_keys(self) -> Iterator[Scalar]:
        """Yield the keys as they are written, with their places."""
        return (key for key in self if isinstance(key, Scalar))


Node = Scalar | Sequence | Mapping


def strings(node: Node | None) -> list[Scalar]:
    """Return the strings of a list, or the single one in its place."""
    items = node if isinstance(node, Sequence) else [node]
    return [item for item in items if isinstance(item, Scalar)]


def called(node: Node) -> str:
    """Return the name of a node's type for messages."""
    match node:
        case Scalar():
            return "a string" if node or not node.plain else "nothing"
        case Sequence():
            return "a list"
        case _:
            return "a mapping"


def size_of(node: Node) -> tuple[int, int, int]:
    """Return how many values a node is made of, their characters, and the levels below it."""
    if isinstance(node, Scalar):
        return 1, len(node), 0
    parts = node if isinstance(node, Sequence) else [*node.written_keys(), *node.values()]
    nodes, characters, heights = zip((1, 0, 0), *map(size_of, parts), strict=True)
    return sum(nodes), sum(characters), max(heights) + 1


@dataclass(slots=True)
class OpenNode:
    """A list or mapping whose end is not reached yet."""

    node: Sequence | Mapping
    anchor: str | None = None
    children: list[Node] = field(default_factory=list)

    def finished(self, end: int) -> Sequence | Mapping:
        """Fill the node with its children, without keys that are not scalars or duplicates."""
        node = self.node
        node.end = end
        if isinstance(node, Mapping):
            values = iter(self.children)
            for key, value in zip(values, values, strict=True):
                if isinstance(key, Scalar) and not key.reported:
                    node.setdefault(key, value)
        else:
            node[:] = self.children
        return node


_BEGINNINGS: dict[type, type[Mapping | Sequence]] = {
    yaml.MappingStartEvent: Mapping,
    yaml.SequenceStartEvent: Sequence,
}
_TOO_DEEP, _DEEPEST = "exceeded maximum nesting depth", 1000  # libyaml's own limit, since 0.2.6
_ENDS = frozenset({yaml.MappingEndEvent, yaml.SequenceEndEvent})

_MOST_AGAIN = 2_000_000  # characters that are read again
_SEARCH = 8  # how much quicker they are searched than read

_Event: TypeAlias = Any  # PyYAML's own stubs make every mark of an event optional
_KEY = r"""(?:[A-Za-z_][\w-]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|\Z)"""
_ITEM = r"-(?=[ \t\r\n]|\Z)"
_LIST = re.compile(rf"(?:\s|#[^\r\n]*)*^( *){_ITEM}", re.MULTILINE)
_FIRST_ITEM = re.compile(f"^( *){_ITEM}", re.MULTILINE)


class ParsedYaml(NamedTuple):
    """The content of a file; broken and refused parts are reported."""

    report: FileProblems
    root: Node | None  # None when the file is empty or contains only comments
    broken: bool = False  # whether a syntax error has cost some of it
    refused: bool = False  # at a limit or a second document; the root has the keys up to there


@dataclass(slots=True)
class _Builder:
    """The tree of one file, built from its events."""

    source: Source
    report: FileProblems
    allowance: Allowance
    stack: list[OpenNode] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)  # None: its node is open
    unused: dict[str, Scalar] = field(default_factory=dict)  # the strings that no alias repeats yet
    nodes: int = 0
    characters: int = 0
    documents: int = 0
    broken: bool = False
    root: Node | None = None
    blanked: set[int] = field(default_factory=set)  # the places of values that errors have cost

    def fail(self, at: int, message: str, hint: str = "") -> StopReadingError:
        self.report.error(at, message, hint)
        return StopReadingError()

    def count(self, at: int, nodes: int, height: int, characters: int = 0) -> None:
        self.nodes += nodes
        self.characters += characters
        limits, hint = self.allowance, "an alias counts as the whole value that it repeats"
        if self.nodes > limits.nodes:
            raise self.fail(at, f"the manifest has more than {MOST_NODES:,} values", hint)
        if self.characters > limits.characters:
            message = f"the values of the manifest have more than {MOST_BYTES:,} characters"
            raise self.fail(at, message, hint)
        if len(self.stack) + height > MOST_DEPTH:
            raise self.too_deep(at)

    def too_deep(self, at: int) -> StopReadingError:
        return self.fail(at, f"lists and mappings nest deeper than {MOST_DEPTH} levels")

    def scalar(self, event: _Event) -> Scalar:
        at, end = event.start_mark.index, event.end_mark.index
        self.count(at, 1, 0, len(event.value))
        reported = at in self.blanked and not event.value
        node = scalar(event.value, at, end, plain=event.implicit[0], reported=reported)
        if event.tag is not None:
            tagged = self.source.text[at:end]
            self.refuse_tag(at, tagged.splitlines()[0])
            node = scalar(tagged, at, end, reported=True)
        if event.anchor is not None:
            self.anchors[event.anchor] = self.unused[event.anchor] = node
        return node

    def refuse_tag(self, at: int, tagged: str) -> None:
        self.report.error(
            at,
            f"YAML reads {quoted(tagged)} as a tag, and tags are not allowed",
            "quote the whole string if it begins with !, else remove the tag",
        )

    def begin(self, event: _Event, node_type: type[Mapping | Sequence]) -> None:
        at, end = event.start_mark.index, event.end_mark.index
        self.count(at, 1, 1)
        if event.tag is not None:
            self.refuse_tag(at, self.source.text[at:end].split()[0])
        if event.anchor is not None:
            self.anchors[event.anchor] = None
            self.unused.pop(event.anchor, None)
        self.stack.append(OpenNode(node_type(at), event.anchor))

    def end(self, event: _Event) -> Node:
        done = self.stack.pop()
        node = done.finished(event.end_mark.index)
        if done.anchor is not None:
            self.anchors[done.anchor] = node
        if isinstance(node, Mapping) and 2 * len(node) < len(done.children):
            lines: dict[str, int] = {}
            for key in done.children[::2]:
                if not isinstance(key, Scalar):
                    self.report.error(key.at, f"a key must be a string, not {called(key)}")
                elif key in lines:
                    message = f"duplicate key {quoted(key)} (first on line {lines[key]})"
                    self.report.error(key.at, message)
                elif not key.reported:
                    lines[key] = self.source.location(key.at).line
        return node

    def alias(self, event: _Event) -> Node:
        name, at, end = event.anchor or "", event.start_mark.index, event.end_mark.index
        node = self.anchors.get(name)
        if node is None:
            alias = quoted(f"*{name}")
            message = f"the alias {alias} is inside the value of the anchor with its name"
            hint = ""
            if name not in self.anchors:
                message = f"the alias {alias} has no anchor above it"
                near = did_you_mean(name, reversed(self.anchors))
                hint = near or f"quote it if it is a string: {alias}"
            if not self.blanked:  # with the anchor, perhaps
                self.report.error(at, message, hint)
            self.count(at, 1, 0)
            return scalar("", at, end, reported=True)
        self.unused.pop(name, None)
        nodes, characters, height = size_of(node)
        self.count(at, nodes, height, characters)
        if isinstance(node, Sequence):
            return Sequence(at, end, node)
        if isinstance(node, Mapping):
            return Mapping(at, end, node.items())
        return scalar(node, at, end, plain=node.plain, reported=node.reported)

    def build(self, events: Iterator[Any]) -> None:
        """Build the first document's tree, or go on with it."""
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                node: Node = self.scalar(event)
            elif kind in _BEGINNINGS:
                self.begin(event, _BEGINNINGS[kind])
                continue
            elif kind in _ENDS:
                node = self.end(event)
            elif kind is yaml.AliasEvent:
                node = self.alias(event)
            else:
                self.documents += kind is yaml.DocumentStartEvent
                if self.documents > 1:
                    hint = "a manifest is one document: remove the ---, or use two files"
                    raise self.fail(event.start_mark.index, "a second document begins here", hint)
                continue
            if self.stack:
                self.stack[-1].children.append(node)
            else:
                self.root = node

    def restart(self, at: int, after: int) -> bool:
        """Empty the entry that a syntax error has broken; return whether to read again.

        Not if the top level is not a block of keys, or has ended before.
        """
        self.broken, source = True, self.source
        top = self.stack[0].node if self.stack else self.root or Mapping(0)
        is_block = isinstance(top, Mapping) and not source.text.startswith("{", top.at)
        column = source.column(top.at) if self.stack else 0
        begin, end = _broken_part(source, column, at, after)
        if self.root is not None or not is_block or not source.text[begin:end].strip():
            self.root = self.so_far()
            return False
        self.blanked.add(begin)
        spaces = re.sub(r"[^\r\n]", " ", source.text[begin:end])
        self.source = Source(source.path, source.text[:begin] + spaces + source.text[end:])
        self.stack, self.anchors, self.unused = [], {}, {}
        self.nodes = self.characters = self.documents = 0
        return True

    def so_far(self) -> Node | None:
        """Return the tree, or its top level as far as it is read."""
        if not self.stack:
            return self.root
        top = self.stack[0]
        if isinstance(top.node, Mapping) and len(top.children) % 2:
            top.children.append(Sequence(0))  # its value is not read
        return top.finished(0)


def parse(report: FileProblems, allowance: Allowance) -> ParsedYaml:
    """Read a file's one document; a syntax error in it is reported and costs one entry."""
    builder = _Builder(report.source, report, allowance)
    try:
        _build(builder)
    except StopReadingError:
        return ParsedYaml(report, builder.so_far(), builder.broken, refused=True)
    if builder.broken and not isinstance(builder.root, Mapping):
        builder.root = Mapping(0)
    for name, node in builder.unused.items():  # texts like `&amp; more`
        message = f"YAML reads {quoted('&' + name)} as an anchor, and nothing refers to it"
        report.warning(node.at, message, "quote the string if it begins with &")
    allowance.nodes -= builder.nodes
    allowance.characters -= builder.characters
    return ParsedYaml(report, builder.root, builder.broken)


def _build(builder: _Builder) -> None:
    """Build the tree, and once more without each entry that an error has broken.

    That ends early in a large file with many errors.
    """
    report, source = builder.report, builder.source
    for match in UNPRINTABLE.finditer(source.text):
        builder.broken, code = True, f"{ord(match[0]):04X}"
        hint = f'remove it, or write "\\u{code}" inside double quotes if it is meant'
        report.error(match.start(), f"the character U+{code} is not allowed in YAML", hint)
    if builder.broken:
        builder.source = Source(source.path, UNPRINTABLE.sub("x", source.text))
    left = _MOST_AGAIN
    while left >= 0:
        try:
            parser = yaml.CBaseLoader(builder.source.text)
            try:
                builder.build(iter(parser.get_event, None))
            finally:
                parser.dispose()
        except yaml.YAMLError as error:
            if getattr(error, "problem", "") == _TOO_DEEP:  # it looks ahead, a level a character
                at = error.problem_mark.index - (_DEEPEST - MOST_DEPTH)  # type: ignore[attr-defined]
                raise builder.too_deep(max(0, at)) from error
            explained = explain(error, builder.source)
            report.error(explained.at, explained.message, explained.hint)
            if builder.restart(explained.at, max(explained.at, explained.end)):
                left -= explained.at + len(source.text) // _SEARCH
                continue
        break


def _broken_part(source: Source, column: int, at: int, after: int) -> tuple[int, int]:
    """Return the part of a file that an error between two indices has broken.

    It is the rest of an entry behind its dash, or of a value behind its key in the column of the
    keys, up to the next of these.
    """
    text, key = source.text, re.compile(rf"^ {{{column}}}{_KEY}", re.MULTILINE)
    above = deque(key.finditer(text, 0, source.line_end(at)), maxlen=1)
    begin = above[0].end() if above else source.line_at(at)[0]
    following = source.line_end(after)
    next_key = key.search(text, following)
    end = next_key.start() if next_key else len(text)
    first = _LIST.match(text, begin, end) or _FIRST_ITEM.search(text, following, end)
    if above and first:
        dash = re.compile(rf"^{first[1]}{_ITEM}", re.MULTILINE)
        items = list(dash.finditer(text, first.start(1), end))
        begin = next((item.end() for item in reversed(items) if item.start() <= at), begin)
        end = next((item.start() for item in items if item.start() >= following), end)
    return begin, end
