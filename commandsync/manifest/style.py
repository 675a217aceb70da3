"""How the entries of a list are written: what a new one copies from its neighbour."""

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from commandsync.manifest.layout import begin, is_alias, is_flow, line_break, line_start
from commandsync.manifest.nodes import Mapping, Node
from commandsync.manifest.scalars import Quoting, Value, Written, is_plain, written

QUOTES = frozenset("\"'")
STEP = 2
"""Spaces of indentation, if there is no neighbour to copy it from."""


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


def style_of(text: str, entry: Node) -> EntryStyle:
    """Return the style of an entry; the default one where it is not written as a mapping."""
    if not (isinstance(entry, Mapping) and entry) or is_alias(text, entry):
        return EntryStyle()
    keys = list(entry.written_keys())
    style = EntryStyle(
        is_flow(text, entry),
        key_quote=text[keys[0].at] if text[keys[0].at] in QUOTES else "",
        samples={
            str(key): _sample(text, entry[key]) for key in keys if not is_alias(text, entry[key])
        },
    )
    return style if style.in_flow else replace(style, lead=_lead(text, entry.at))


def _sample(text: str, value: Node) -> Sample:
    source = text[begin(text, value) : value.end]
    return Sample(value if isinstance(value, str) else "", source)


def _lead(text: str, at: int) -> str:
    before = text[line_start(text, at) : at]
    if not before.strip():  # the dash is on a line above
        return f"{line_break(text)}{before}"
    lead = before.rpartition("-")[2]
    return " " if lead.strip() else lead


def quoting_of(source: str) -> Quoting:
    """Return the quotes for a new value, given how the old one is written."""
    return Quoting(source[0], always=True) if source[:1] in QUOTES else Quoting()
