"""YAML text -> nodes, in one pass over the parser's events; limits hold before anything is built.

PyYAML's own composer recurses, does not count the values that aliases repeat, and drops the first
of two equal keys without an error. A syntax error costs one entry: `resumption` drops what it has
broken, and the parser goes on at the next entry of the list, or at the next top-level key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import yaml

from commandsync.manifest.nodes import (
    Mapping,
    Node,
    OpenNode,
    Scalar,
    Sequence,
    called,
    scalar,
    size_of,
)
from commandsync.manifest.source import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_NODES,
    MOST_PROBLEMS,
    Allowance,
    FileProblems,
    Source,
    StopReadingError,
    did_you_mean,
    quoted,
)
from commandsync.manifest.syntax import UNPRINTABLE, explain

_BEGINNINGS: dict[type, type[Mapping | Sequence]] = {
    yaml.MappingStartEvent: Mapping,
    yaml.SequenceStartEvent: Sequence,
}
_TOO_DEEP, _DEEPEST = "exceeded maximum nesting depth", 1000  # libyaml's own limit, since 0.2.6
_ENDS = frozenset({yaml.MappingEndEvent, yaml.SequenceEndEvent})

_Event: TypeAlias = Any  # PyYAML's own stubs make every mark of an event optional
_KEY = r"""(?:[A-Za-z_][\w-]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|\Z)"""
_ITEM = r"-(?=[ \t\r\n]|\Z)"


class Resumption(NamedTuple):
    """How a parser begins in the middle of a file."""

    start: int = 0  # the index of the line to read on from
    head: str = ""  # text for the parser before it, so that the rest is a document
    skipped: int = 0  # events that are about the head, or were given before
    in_list: bool = False  # whether another entry of the list follows, not a top-level key

    @property
    def shift(self) -> int:
        """What to add to an index of the parser to have that of the file."""
        return self.start - len(self.head)


BEGINNING = Resumption()  # to read the whole file


class ParsedFile(NamedTuple):
    """The content of a file; broken and refused parts are reported."""

    report: FileProblems
    root: Node | None  # None when the file is empty or contains only comments
    broken: bool = False  # whether a syntax error has cost some of it
    refused: bool = False  # at a limit or a second document; the root has the keys up to there


@dataclass(slots=True)
class _Builder:
    """Puts the events of one file together."""

    source: Source
    report: FileProblems
    allowance: Allowance
    stack: list[OpenNode] = field(default_factory=list)
    anchors: dict[str, Node | None] = field(default_factory=dict)  # None: its node is open
    unused: dict[str, Scalar] = field(default_factory=dict)  # what no alias repeats yet
    nodes: int = 0
    characters: int = 0
    documents: int = 0
    broken: bool = False
    root: Node | None = None
    where: Resumption = BEGINNING
    shift: int = 0  # of the parser's places

    def fail(self, at: int, message: str, hint: str = "") -> StopReadingError:
        self.report.error(at, message, hint)
        return StopReadingError()

    def span(self, event: _Event) -> tuple[int, int]:
        return event.start_mark.index + self.shift, event.end_mark.index + self.shift

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
        at, end = self.span(event)
        self.count(at, 1, 0, len(event.value))
        node = scalar(event.value, at, end, plain=event.implicit[0])
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
        at, end = self.span(event)
        self.count(at, 1, 1)
        if event.tag is not None:
            self.refuse_tag(at, self.source.text[at:end].split()[0])
        if event.anchor is not None:
            self.anchors[event.anchor] = None
            self.unused.pop(event.anchor, None)
        self.stack.append(OpenNode(node_type(at), event.anchor))

    def end(self, event: _Event) -> Node:
        done = self.stack.pop()
        node = self.finish(done, self.span(event)[1])
        if done.anchor is not None:
            self.anchors[done.anchor] = node
        return node

    def finish(self, done: OpenNode, end: int) -> Node:
        node = done.finished(end)
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
        name, (at, end) = event.anchor or "", self.span(event)
        node = self.anchors.get(name)
        if node is None:
            alias = quoted(f"*{name}")
            message = f"the alias {alias} is inside the value of the anchor with its name"
            hint = ""
            if name not in self.anchors:
                message = f"the alias {alias} has no anchor above it"
                near = did_you_mean(name, reversed(self.anchors))
                hint = near or f"quote it if it is a string: {alias}"
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
                    raise self.fail(self.span(event)[0], "a second document begins here", hint)
                continue
            if self.stack:
                self.stack[-1].children.append(node)
            else:
                self.root = node

    def recover(self, at: int, after: int) -> bool:
        """Drop the nodes that a syntax error has broken; return whether there is more to read."""
        self.broken = True
        self.anchors = {name: known for name, known in self.anchors.items() if known}
        if not self.stack:
            if isinstance(self.root, Mapping):  # it has ended before the file does
                return False
            self.stack.append(OpenNode(Mapping(0)))
        self.root = None
        where = resumption(self.source, self.stack, at, max(after, self.where.start))
        if where is None:
            self.root = self.finish(self.stack.pop(), at)
            return False
        self.where, self.shift = where, where.shift
        return True

    def so_far(self) -> Node | None:
        """Return the tree, or its top level as far as it is read."""
        if not self.stack:
            return self.root
        top = self.stack[0]
        if isinstance(top.node, Mapping) and len(top.children) % 2:
            top.children.append(Sequence(0))  # its value is not read
        return top.finished(0)


def parse(report: FileProblems, allowance: Allowance) -> ParsedFile:
    """Read a file's one document; a syntax error in it is reported and costs one entry."""
    builder = _Builder(report.source, report, allowance)
    try:
        _build(builder)
    except StopReadingError:
        return ParsedFile(report, builder.so_far(), builder.broken, refused=True)
    if builder.broken and not isinstance(builder.root, Mapping):
        builder.root = Mapping(0)
    for name, node in builder.unused.items():  # texts like `&amp; more`
        message = f"YAML reads {quoted('&' + name)} as an anchor, and nothing refers to it"
        report.warning(node.at, message, "quote the string if it begins with &")
    allowance.nodes -= builder.nodes
    allowance.characters -= builder.characters
    return ParsedFile(report, builder.root, builder.broken)


def _build(builder: _Builder) -> None:
    report, source = builder.report, builder.source
    for match in UNPRINTABLE.finditer(source.text):
        builder.broken, code = True, f"{ord(match[0]):04X}"
        hint = f'remove it, or write "\\u{code}" inside double quotes if it is meant'
        report.error(match.start(), f"the character U+{code} is not allowed in YAML", hint)
    if builder.broken:
        builder.source = Source(source.path, UNPRINTABLE.sub("x", source.text))
    for _ in range(MOST_PROBLEMS):
        try:
            builder.build(parser_events(builder.source, builder.where))
        except yaml.YAMLError as error:
            if getattr(error, "problem", "") == _TOO_DEEP:  # it looks ahead, a level a character
                too_many = _DEEPEST - MOST_DEPTH
                at = error.problem_mark.index + builder.shift - too_many  # type: ignore[attr-defined]
                raise builder.too_deep(max(0, at)) from error
            explained = explain(error, builder.source, builder.shift)
            report.error(explained.at, explained.message, explained.hint)
            if builder.recover(explained.at, max(explained.at, explained.end)):
                continue
        break


def resumption(source: Source, stack: list[OpenNode], at: int, after: int) -> Resumption | None:
    """Drop the nodes that a syntax error has broken, and find the next line to read on from.

    The error is between the indices `at` and `after`. Of the open nodes only those that can be
    continued are left. None means that nothing follows, or the top level is not a block of keys.
    """
    top, entries = stack[0], _entries(source, stack, at)
    where = None
    if isinstance(top.node, Mapping) and not source.text.startswith("{", top.node.at):
        where = _next(source.text, after, source.column(top.node.at), _dash(source, stack, entries))
    del stack[1:]
    if where and where.in_list and entries is None:  # a key was read, and no entry yet
        entries = OpenNode(Sequence(source.text.index("-", where.start)))
    if entries:
        entries.keep(at)
        if where and where.in_list:
            stack.append(entries)
            return where
        top.children.append(entries.finished(at - 1))
    top.keep(at)
    return where


def _entries(source: Source, stack: list[OpenNode], at: int) -> OpenNode | None:
    """The top-level list that a place is in, if its entries begin with dashes."""
    above = stack[0].children
    if len(above) % 2:  # else a list is itself a key
        inner = stack[1] if len(stack) > 1 else None
    else:  # what fits neither an entry nor the keys has ended the list: it is read on
        ended = above[-1] if above and len(stack) == 1 else None
        inner = OpenNode(ended, None, list(ended)) if isinstance(ended, Sequence) else None
    if inner is None or not isinstance(inner.node, Sequence) or inner.node.at > at:
        return None
    if not source.text.startswith("-", inner.node.at):
        return None
    if above[-1] is inner.node:
        del above[-1]
    return inner


def _dash(source: Source, stack: list[OpenNode], entries: OpenNode | None) -> str:
    """Return a pattern for the indentation of an entry that may follow; empty where none may."""
    if entries:
        return f" {{{source.column(entries.node.at)}}}"
    return " *" if len(stack) == 1 and len(stack[0].children) % 2 else ""


def _next(text: str, after: int, key_column: int, dash: str) -> Resumption | None:
    line = text.find("\n", after) + 1
    if not line:
        return None
    either = f" {{{key_column}}}{_KEY}"
    if dash:
        either += f"|(?P<item>{dash}{_ITEM})"
    match = re.compile(f"^(?:{either})", re.MULTILINE).search(text, line)
    if match is None:
        return None
    if not dash or match["item"] is None:
        return Resumption(match.start(), skipped=3)
    # The stream, the document, the mapping, its key, and the list begin again.
    return Resumption(match.start(), f"{' ' * key_column}_:\n", skipped=5, in_list=True)


def parser_events(source: Source, where: Resumption = BEGINNING) -> Iterator[Any]:
    """Yield a file's events from `where` on; their own places count from there."""
    whole = where is BEGINNING
    parser = yaml.CBaseLoader(source.text if whole else _Rest(source.text, where))
    try:
        for _ in range(where.skipped):
            parser.get_event()
        while (event := parser.get_event()) is not None:
            yield event
    finally:
        parser.dispose()


class _Rest:
    """The rest of a file for a parser, which reads as much of it as it needs."""

    def __init__(self, text: str, where: Resumption) -> None:
        self._text, self._at, self._head = text, where.start, where.head

    def read(self, size: int = MOST_BYTES, /) -> str:
        """Return the next characters; none at the end."""
        part = self._head + self._text[self._at : self._at + size]
        self._at, self._head = self._at + size, ""
        return part
