"""A text -> a YAML scalar that reads well, and loads as exactly that text; the style of entries.

A new entry copies the style of its neighbour. Scalars are written by hand rather than by PyYAML's
emitter, which is slow, folds long lines, and quotes what people would write plain.
"""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import NamedTuple

from commandsync.manifest.layout import Patch
from commandsync.manifest.nodes import Mapping, Node

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
    """Write a text on one line; what single quotes cannot express has double ones."""
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
