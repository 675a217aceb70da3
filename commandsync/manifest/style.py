"""How the entries of a list are written: what a new one copies from its neighbour."""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from commandsync.manifest.layout import gap_of
from commandsync.manifest.nodes import Mapping, Node, Scalar
from commandsync.manifest.patch import begin, content_end, is_alias, is_flow, line_break, line_start
from commandsync.manifest.scalars import Quoting, Value, Written, is_plain, written

_COLON = re.compile(r"[ \t]*:[ \t]+")


QUOTES = frozenset("\"'")
STEP = 2
"""Spaces of indentation, if there is no neighbour to copy it from."""


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
        gap=gap_of(text, entry),
        closing=_space(text[content_end(text, entry[keys[-1]]) : entry.end - 1]),
    )


def _sample(text: str, key: Scalar, value: Node) -> Sample:
    colon = _COLON.fullmatch(text, key.end, value.at)
    source = text[begin(text, value) : value.end]
    return Sample(value if isinstance(value, str) else "", source, colon[0] if colon else ": ")


def _lead(text: str, at: int) -> str:
    before = text[line_start(text, at) : at]
    if not before.strip():  # the dash is on a line above
        return f"{line_break(text)}{before}"
    lead = before.rpartition("-")[2]
    return " " if lead.strip() else lead


def quoting_of(text: str, key: Scalar, source: str) -> Quoting:
    """Return the quotes for a new value, given how the old one is written."""
    if text[key.at] == '"':
        return Quoting('"', always=True)
    return Quoting(source[0], always=True) if source[:1] in QUOTES else Quoting()


def _space(part: str) -> str:
    """Return a part of a text that is whitespace, without the comma that may be in it."""
    space = part.replace(",", "", 1)
    return space if not space.strip() else ""
