"""How the entries of a list are written: what a new one copies from its neighbour."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from commandsync.manifest.layout import gap_of
from commandsync.manifest.nodes import Mapping, Node, Scalar
from commandsync.manifest.patch import (
    begin,
    content_end,
    is_alias,
    is_empty,
    is_flow,
    line_break,
    line_start,
)
from commandsync.manifest.scalars import block_lines, inline, is_plain

if TYPE_CHECKING:
    from collections.abc import Mapping as AnyMapping

Value = str | tuple[str, ...]
"""A text, or a list of texts."""

_BLOCK_HEADER = re.compile(r"[|>][-+]?(?![0-9+-])")
_COLON = re.compile(r"[ \t]*:[ \t]+")


QUOTES = frozenset("\"'")
STEP = 2
"""Spaces of indentation, where there is no neighbour to learn it from."""


class Written(NamedTuple):
    """A value as YAML: the rest of its key's line, and the lines below."""

    line: str
    below: tuple[str, ...] = ()  # without indentation; an empty one stays empty


class Sample(NamedTuple):
    """A field of a neighbour."""

    text: str
    source: str  # how it is written
    colon: str  # what is between its key and its value


@dataclass(frozen=True, slots=True)
class EntryStyle:
    """The style of an entry: by default that of `commandsync pull`."""

    in_flow: bool = False  # whether it is written in `{}`
    lead: str = " "  # what is between its dash and its first key
    key_quote: str = ""
    opening: str = ""  # of `{}`: what is after the brace, between two fields, and before the brace
    gap: str = ", "
    closing: str = ""
    samples: AnyMapping[str, Sample] = field(default_factory=dict)

    def written(self, key: str, value: Value) -> Written:
        """Write a value as the neighbour's value of that key is written."""
        own = self.samples.get(key, Sample("", "", ""))
        sources = [own.source, *(sample.source for sample in self.samples.values())]
        quote = next((source[0] for source in sources if source[:1] in QUOTES), "")
        always = own.source[:1] in QUOTES and is_plain(own.text, in_flow=self.in_flow)
        quoting = Quoting('"', always=True) if self.key_quote == '"' else Quoting(quote, always)
        return written(value, quoting, in_flow=self.in_flow, sample=own.source)

    def key(self, name: str) -> str:
        """Write a key with its colon."""
        colon = self.samples[name].colon if name in self.samples else ": "
        return f"{self.key_quote}{name}{self.key_quote}{colon}"

    def flow_field(self, key: str, value: Value) -> str:
        """Write a field in `{}`."""
        return f"{self.key(key)}{self.written(key, value).line}"

    def block_field(self, key: str, value: Value, *, indent: int, separator: str) -> str:
        """Write a field of an entry without braces: its line, and those below, indented."""
        line, below = self.written(key, value)
        inner = " " * (indent + STEP)
        lines = [f"{self.key(key)}{line}".rstrip(), *(line and f"{inner}{line}" for line in below)]
        return separator.join(lines)

    def flow_entry(self, values: AnyMapping[str, Value]) -> str:
        """Write an entry in `{}`."""
        fields = (self.flow_field(key, value) for key, value in values.items())
        return f"{{{self.opening}{self.gap.join(fields)}{self.closing}}}"


class Quoting(NamedTuple):
    """The quotes to use, and whether also where none are needed."""

    quote: str = ""
    always: bool = False


def written(value: Value, quoting: Quoting, *, in_flow: bool = False, sample: str = "") -> Written:
    """Write a value; a text of many lines becomes a block where that is possible.

    A sample, how another value is written, decides between a block and one line, and between
    dashes and brackets.
    """
    if isinstance(value, tuple):
        return _written_list(value, quoting, in_brackets=not sample.startswith("-"))
    header = _BLOCK_HEADER.match(sample)
    if not in_flow and ("\n" in value or header) and (lines := block_lines(value)):
        keeps = header and not (sample.startswith(">") and "\n" in value)
        return Written(header[0] if header and keeps else "|-", tuple(lines))
    return Written(_inline(value, quoting, in_flow=in_flow))


def _written_list(texts: tuple[str, ...], quoting: Quoting, *, in_brackets: bool) -> Written:
    if in_brackets or not texts:
        items = (_inline(text, quoting, in_flow=True) for text in texts)
        return Written(f"[{', '.join(items)}]")
    return Written("", tuple(f"- {_inline(text, quoting, in_flow=False)}" for text in texts))


def _inline(text: str, quoting: Quoting, *, in_flow: bool) -> str:
    return inline(text, quote=quoting.quote, always=quoting.always, in_flow=in_flow)


def style_of(text: str, entry: Node) -> EntryStyle:
    """Return the style of an entry; the default one where it is not written as a mapping."""
    if not (isinstance(entry, Mapping) and entry) or is_alias(text, entry):
        return EntryStyle()
    keys = list(entry.written_keys())
    style = EntryStyle(
        is_flow(text, entry),
        key_quote=text[keys[0].at] if text[keys[0].at] in QUOTES else "",
        samples={
            str(key): _sample(text, key, entry[key])
            for key in keys
            if not is_alias(text, entry[key])
        },
    )
    if not style.in_flow:
        return replace(style, lead=_lead(text, entry.at))
    return replace(
        style,
        opening=_space(text[begin(text, entry) + 1 : keys[0].at]),
        gap=gap_of(text, entry, [part for key in keys for part in (key, entry[key])]),
        closing=_space(text[content_end(text, entry[keys[-1]]) : entry.end - 1]),
    )


def _sample(text: str, key: Scalar, value: Node) -> Sample:
    colon = _COLON.fullmatch(text, key.end, value.at)
    source = text[begin(text, value) : value.end]
    return Sample(value if isinstance(value, str) else "", source, colon[0] if colon else ": ")


def _lead(text: str, at: int) -> str:
    """Return what is between the dash of an entry and its first key."""
    before = text[line_start(text, at) : at]
    if is_empty(before, 0, len(before)):  # the dash is on a line above
        return f"{line_break(text)}{before}"
    lead = before.rpartition("-")[2]
    return lead if is_empty(lead, 0, len(lead)) else " "


def quoting_of(text: str, key: Scalar, source: str) -> Quoting:
    """Return the quotes for a new value, given how the old one is written."""
    if text[key.at] == '"':
        return Quoting('"', always=True)
    return Quoting(source[0], always=True) if source[:1] in QUOTES else Quoting()


def _space(part: str) -> str:
    """Return a part of a text that is whitespace, without the comma that may be in it."""
    space = part.replace(",", "", 1)
    return space if not space.strip() else ""
