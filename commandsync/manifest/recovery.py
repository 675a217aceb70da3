"""Where to read on after a syntax error: at the next entry of a list, or the next top-level key."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from commandsync.manifest.nodes import Mapping, OpenNode, Sequence
from commandsync.manifest.source import MOST_BYTES, Source

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


def resumption(source: Source, stack: list[OpenNode], at: int, after: int) -> Resumption | None:
    """Drop what a syntax error has broken, and find the next line on which something new begins.

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
