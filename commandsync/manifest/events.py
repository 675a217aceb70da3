"""YAML text -> nodes, in one pass over the parser's events; limits hold before anything is built.

Composing as PyYAML does recurses, expands nothing it counts, and lets the last of two equal keys
win; so the tree is built here, where an alias costs what it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

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

from commandsync.manifest.nodes import Mapping, Node, Scalar, Sequence
from commandsync.manifest.problems import did_you_mean, quoted
from commandsync.manifest.source import MOST_BYTES, MOST_NODES
from commandsync.manifest.syntax import explain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.manifest.problems import Problems
    from commandsync.manifest.source import Allowance, Source

MOST_DEPTH = 64
"""How deep lists and mappings may nest; a manifest needs five."""

_BEGINNINGS: dict[type, type[Mapping | Sequence]] = {
    MappingStartEvent: Mapping,
    SequenceStartEvent: Sequence,
}
_ENDS = frozenset({MappingEndEvent, SequenceEndEvent})


class UnparsableError(Exception):
    """The file is no YAML that can be read any further; the problem is noted."""


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
class _Open:
    """A list or mapping whose end is not reached yet."""

    node: Sequence | Mapping
    anchor: str | None
    before: int  # nodes counted before it
    characters_before: int  # and characters
    children: list[Node] = field(default_factory=list)
    height: int = 1


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
    problems: Problems
    allowance: Allowance
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, _Anchored | None] = field(default_factory=dict)
    nodes: int = 0
    characters: int = 0

    def fail(self, at: int, message: str, hint: str = "") -> UnparsableError:
        self.problems.error_at(self.source, at, message, hint)
        return UnparsableError()

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
        at = event.start_mark.index
        self.count(at, 1, 0, len(event.value))
        end = event.end_mark.index
        node = Scalar(event.value, at, end, event.implicit[0])
        if event.tag is not None:
            said = self.source.text[at:end]
            self.refuse_tag(at, said.splitlines()[0])
            node = Scalar(said, at, end, plain=False)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(node, 1, len(node.text), 0)
        return node

    def refuse_tag(self, at: int, said: str) -> None:
        self.problems.error_at(
            self.source,
            at,
            f"YAML reads {quoted(said)} as a tag, and tags are not allowed",
            "quote the whole text if it begins with !, else remove the tag",
        )

    def begin(self, event: _Event, node_type: type[Mapping | Sequence]) -> None:
        at = event.start_mark.index
        self.count(at, 1, 1)
        if event.tag is not None:
            self.refuse_tag(at, self.source.text[at : event.end_mark.index].split()[0])
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        node = node_type(at)
        self.stack.append(_Open(node, event.anchor, self.nodes - 1, self.characters))

    def end(self, event: _Event) -> Node:
        done = self.stack.pop()
        node = done.node
        node.end = event.end_mark.index
        if isinstance(node, Mapping):
            values = iter(done.children)
            node.pairs = list(zip(values, values, strict=True))
        else:
            node.items = done.children
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

    def alias(self, event: _Event) -> Node:
        at, name = event.start_mark.index, event.anchor or ""
        if name not in self.anchors:
            hint = (
                did_you_mean(name, reversed(self.anchors))
                or f"quote it if it is a text: {quoted('*' + name)}"
            )
            raise self.fail(at, f"the alias {quoted('*' + name)} has no anchor above it", hint)
        anchored = self.anchors[name]
        if anchored is None:
            raise self.fail(at, f"the alias {quoted('*' + name)} stands inside what it stands for")
        anchored.used = True
        self.count(at, anchored.nodes, anchored.height, anchored.characters)
        inside = self.stack[-1]  # an alias has its anchor above, so it is never the root
        inside.height = max(inside.height, anchored.height + 1)
        if isinstance(anchored.node, Scalar):
            return anchored.node._replace(at=at, end=event.end_mark.index)
        return replace(anchored.node, at=at, end=event.end_mark.index)

    def build(self, events: Iterator[Any]) -> Node | None:
        """Build the first document's tree; None when there is none."""
        root: Node | None = None
        documents = 0
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
                documents += kind is DocumentStartEvent
                if documents > 1:
                    raise self.fail(
                        event.start_mark.index,
                        "a second document begins here",
                        "a manifest is one document: remove the ---, or use a file of its own",
                    )
                continue
            if self.stack:
                self.stack[-1].children.append(node)
            else:
                root = node
        return root

    def warn_of_unused_anchors(self) -> None:
        """A text like `&amp; more` loses its first word to YAML without a sound."""
        for name, anchored in self.anchors.items():
            if anchored and not anchored.used and isinstance(anchored.node, Scalar):
                self.problems.warning_at(
                    self.source,
                    anchored.node.at,
                    f"YAML reads {quoted('&' + name)} as an anchor, and nothing refers to it",
                    "quote the text if it begins with &",
                )


def parser_events(source: Source) -> Iterator[Any]:
    """Read a file's events as the parser gives them.

    Raises:
        YAMLError: It is no YAML from here on.
    """
    parser = yaml.CBaseLoader(source.text)
    try:
        while (event := parser.get_event()) is not None:
            yield event
    finally:
        parser.dispose()


def parse(source: Source, *, problems: Problems, allowance: Allowance) -> Node | None:
    """Read a file's one document.

    Args:
        source: The file.
        problems: Where problems are noted.
        allowance: What the manifest may still take up; the nodes are taken from it.

    Returns:
        The document's root; None when the file is empty or says nothing but comments.

    Raises:
        UnparsableError: It is no YAML, holds more than one document, or exceeds a limit; the
            problem is noted.
    """
    builder = _Builder(source, problems, allowance)
    try:
        root = builder.build(parser_events(source))
    except yaml.YAMLError as error:
        explained = explain(error, source)
        raise builder.fail(explained.at, explained.message, explained.hint) from error
    builder.warn_of_unused_anchors()
    allowance.nodes -= builder.nodes
    allowance.characters -= builder.characters
    return root
