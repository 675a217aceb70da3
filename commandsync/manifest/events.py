"""YAML text -> nodes, in one pass over the parser's events; limits hold before anything is built.

Composing as PyYAML does recurses, expands nothing it counts, and lets the last of two equal keys
win; so the tree is built here, where an alias costs what it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from commandsync.manifest.nodes import Mapping, Node, Open, Scalar, Sequence, called, scalar
from commandsync.manifest.problems import (
    MOST_PROBLEMS,
    TooManyProblemsError,
    did_you_mean,
    quoted,
)
from commandsync.manifest.recovery import BEGINNING, Resumption, parser_events, resumption
from commandsync.manifest.source import MOST_BYTES, MOST_NODES, Source
from commandsync.manifest.syntax import UNPRINTABLE, explain, unprintable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.manifest.problems import FileProblems
    from commandsync.manifest.source import Allowance

MOST_DEPTH = 64
"""How deep lists and mappings may nest; a manifest needs five."""

_BEGINNINGS: dict[type, type[Mapping | Sequence]] = {
    MappingStartEvent: Mapping,
    SequenceStartEvent: Sequence,
}
_ENDS = frozenset({MappingEndEvent, SequenceEndEvent})


class _UnparsableError(Exception):
    """The file exceeds a limit, or holds more than one document; the problem is reported."""


class Document(NamedTuple):
    """The content of a file.

    Attributes:
        root: Its tree; None when the file is empty or contains only comments.
        broken: Whether a syntax error has cost some of it, which is reported.
        refused: Whether it exceeds a limit or holds more than one document, which is reported; the
            tree then has the top-level keys up to there.
    """

    root: Node | None
    broken: bool = False
    refused: bool = False


class _Mark(Protocol):
    index: int


class _Event(Protocol):
    """What the parser's events carry; PyYAML's own stubs make every mark optional."""

    start_mark: _Mark
    end_mark: _Mark
    anchor: str | None
    tag: str | None
    value: str
    implicit: tuple[bool, bool]


@dataclass(slots=True)
class _Anchored:
    node: Node
    nodes: int
    characters: int
    height: int
    used: bool = False


@dataclass(slots=True)
class _Builder:
    """Puts the events of one file together."""

    source: Source
    report: FileProblems
    allowance: Allowance
    stack: list[Open] = field(default_factory=list)
    anchors: dict[str, _Anchored | None] = field(default_factory=dict)
    nodes: int = 0
    characters: int = 0
    documents: int = 0
    broken: bool = False
    root: Node | None = None
    where: Resumption = BEGINNING
    shift: int = 0  # of the parser's places

    def fail(self, at: int, message: str, hint: str = "") -> _UnparsableError:
        self.report.error(at, message, hint)
        return _UnparsableError()

    def count(self, at: int, nodes: int, height: int, characters: int = 0) -> None:
        self.nodes += nodes
        self.characters += characters
        if self.nodes > self.allowance.nodes:
            raise self.fail(
                at,
                f"the manifest has more than {MOST_NODES:,} values",
                "an alias counts as all that it stands for",
            )
        if self.characters > self.allowance.characters:
            raise self.fail(
                at,
                f"the values of the manifest have more than {MOST_BYTES:,} characters",
                "an alias counts as all that it stands for",
            )
        if len(self.stack) + height > MOST_DEPTH:
            raise self.fail(at, f"lists and mappings nest deeper than {MOST_DEPTH} levels")

    def scalar(self, event: _Event) -> Node:
        at, end = event.start_mark.index + self.shift, event.end_mark.index + self.shift
        self.count(at, 1, 0, len(event.value))
        node = scalar(event.value, at, end, plain=event.implicit[0])
        if event.tag is not None:
            tagged = self.source.text[at:end]
            self.refuse_tag(at, tagged.splitlines()[0])
            node = scalar(tagged, at, end, reported=True)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(node, 1, len(node), 0)
        return node

    def refuse_tag(self, at: int, tagged: str) -> None:
        self.report.error(
            at,
            f"YAML reads {quoted(tagged)} as a tag, and tags are not allowed",
            "quote the whole string if it begins with !, else remove the tag",
        )

    def begin(self, event: _Event, node_type: type[Mapping | Sequence]) -> None:
        at = event.start_mark.index + self.shift
        self.count(at, 1, 1)
        if event.tag is not None:
            self.refuse_tag(at, self.source.text[at : event.end_mark.index + self.shift].split()[0])
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        node = node_type(at)
        self.stack.append(Open(node, event.anchor, self.nodes - 1, self.characters))

    def end(self, event: _Event) -> Node:
        done = self.stack.pop()
        node = self.finish(done, event.end_mark.index + self.shift)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, done.height + 1)
        if done.anchor is not None:
            self.anchors[done.anchor] = _Anchored(
                node,
                self.nodes - done.before,
                self.characters - done.characters_before,
                done.height,
            )
        return node

    def finish(self, done: Open, end: int) -> Node:
        node = done.finished(end)
        if isinstance(node, Mapping) and 2 * len(node) < len(done.children):
            self.refuse_keys(done.children[::2])
        return node

    def refuse_keys(self, keys: list[Node]) -> None:
        """Report the keys that a mapping cannot have."""
        lines: dict[Scalar, int] = {}
        for key in keys:
            if not isinstance(key, Scalar):
                message = f"a key must be a string, not {called(key)}"
                self.report.error(key.at, message)
            elif key in lines:
                message = f"duplicate key {quoted(key)} (first on line {lines[key]})"
                self.report.error(key.at, message)
            elif not key.reported:
                lines[key] = self.source.location(key.at).line

    def alias(self, event: _Event) -> Node:
        at, end, name = (
            event.start_mark.index + self.shift,
            event.end_mark.index + self.shift,
            event.anchor or "",
        )
        alias = quoted(f"*{name}")
        anchored = self.anchors.get(name)
        if anchored is None:
            if name in self.anchors:
                message, hint = f"the alias {alias} is inside the value of its own anchor", ""
            else:
                message = f"the alias {alias} has no anchor above it"
                near = did_you_mean(name, reversed(self.anchors))
                hint = near or f"quote it if it is a string: {alias}"
            self.report.error(at, message, hint)
            self.count(at, 1, 0)
            return scalar("", at, end, reported=True)
        anchored.used = True
        self.count(at, anchored.nodes, anchored.height, anchored.characters)
        inside = self.stack[-1]  # an alias has its anchor above, so it is never the root
        inside.height = max(inside.height, anchored.height + 1)
        node = anchored.node
        match node:
            case Scalar():
                return scalar(node, at, end, plain=node.plain, reported=node.reported)
            case Sequence():
                return Sequence(at, end, node)
            case Mapping():
                return Mapping(at, end, node.items())

    def build(self, events: Iterator[Any]) -> None:
        """Build the first document's tree, or go on with it."""
        for event in events:
            kind = type(event)
            if kind is ScalarEvent:
                node = self.scalar(event)
            elif kind in _BEGINNINGS:
                self.begin(event, _BEGINNINGS[kind])
                continue
            elif kind in _ENDS:
                node = self.end(event)
            elif kind is AliasEvent:
                node = self.alias(event)
            else:
                self.documents += kind is DocumentStartEvent
                if self.documents > 1:
                    raise self.fail(
                        event.start_mark.index + self.shift,
                        "a second document begins here",
                        "a manifest is one document: remove the ---, or use two files",
                    )
                continue
            if self.stack:
                self.stack[-1].children.append(node)
            else:
                self.root = node

    def recover(self, at: int, after: int) -> bool:
        """Drop what a syntax error has broken, and find where to read on.

        Args:
            at: Where the error is.
            after: The index of the last character that is about it.

        Returns:
            Whether there is more to read; if not, the tree is whole as far as it goes.
        """
        self.broken = True
        self.anchors = {name: known for name, known in self.anchors.items() if known}
        if not self.stack:
            if isinstance(self.root, Mapping):  # it has ended before the file does
                return False
            self.stack.append(Open(Mapping(0), None, self.nodes, self.characters))
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

    def warn_of_unused_anchors(self) -> None:
        """A text like `&amp; more` loses its first word to YAML without a sound."""
        for name, anchored in self.anchors.items():
            if anchored and not anchored.used and isinstance(anchored.node, Scalar):
                self.report.warning(
                    anchored.node.at,
                    f"YAML reads {quoted('&' + name)} as an anchor, and nothing refers to it",
                    "quote the string if it begins with &",
                )


def parse(report: FileProblems, allowance: Allowance) -> Document:
    """Read a file's one document; a syntax error in it is noted and costs one entry.

    Args:
        report: The file, and where its problems are noted.
        allowance: What the manifest may still take up; the nodes are taken from it.
    """
    builder = _Builder(report.source, report, allowance)
    try:
        _build(builder)
    except (_UnparsableError, TooManyProblemsError):
        return Document(builder.so_far(), builder.broken, refused=True)
    if builder.broken and not isinstance(builder.root, Mapping):
        builder.root = Mapping(0)
    builder.warn_of_unused_anchors()
    allowance.nodes -= builder.nodes
    allowance.characters -= builder.characters
    return Document(builder.root, builder.broken)


def _build(builder: _Builder) -> None:
    """Build the tree; what a syntax error breaks is left out."""
    report = builder.report
    for explained in unprintable(builder.source):
        builder.broken = True
        report.error(explained.at, explained.message, explained.hint)
    if builder.broken:
        text = UNPRINTABLE.sub("x", builder.source.text)
        builder.source = Source(builder.source.path, text)
    for _ in range(MOST_PROBLEMS):
        try:
            builder.build(parser_events(builder.source, builder.where))
        except yaml.YAMLError as error:
            explained = explain(error, builder.source, builder.shift)
            report.error(explained.at, explained.message, explained.hint)
            if builder.recover(explained.at, max(explained.at, explained.end)):
                continue
        break
