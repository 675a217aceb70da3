"""Markdown as blocks with their places: what a parser of CommonMark says about a text's lines."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")

_MARKUP = re.compile(r"[\\`*_\[<!&]")


class Heading(NamedTuple):
    """A heading that is in no other block: the indices of its first line and of the one after."""

    begin: int
    end: int
    level: int
    text: str  # without markup


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown text, parsed."""

    lines: Sequence[str]  # its lines, each with its line end
    tokens: Sequence[Token]  # its blocks
    # Its link reference definitions: the indices of the first line and of the one after, by the
    # label as it is compared.
    definitions: Mapping[str, tuple[int, int]]
    env: dict[str, Any]  # the parser's own notes, for the text inside of blocks

    @property
    def headings(self) -> list[Heading]:
        """The headings that are in no list or quote."""
        return [
            Heading(
                opening.map[0], opening.map[1], int(opening.tag[1:]), self.shown(inline.content)
            )
            for opening, inline in zip(self.tokens, self.tokens[1:], strict=False)
            if opening.type == "heading_open" and opening.level == 0 and opening.map
        ]

    @property
    def rules(self) -> set[int]:
        """The lines of the thematic breaks, such as those between the sections of a file."""
        rules = (token for token in self.tokens if token.type == "hr" and token.level == 0)
        return {token.map[0] for token in rules if token.map}

    @property
    def defining(self) -> set[int]:
        """The lines of the link reference definitions, duplicates included."""
        again = (reference["map"] for reference in self.env.get("duplicate_refs", ()))
        spans = [*self.definitions.values(), *again]
        return {line for begin, end in spans for line in range(begin, end)}

    def shown(self, markup: str) -> str:
        """Return the text of a heading as it is read: without markup, HTML and images."""
        if not _MARKUP.search(markup):
            return markup
        (token,) = _parser().parseInline(markup, dict(self.env))
        shown = (child for child in token.children or () if child.type in _SHOWN)
        return "".join(child.content or " " for child in shown)  # a break has no content

    def labels_in(self, text: str) -> set[str]:
        """Return the labels of the definitions that the links and images of a text use."""
        return _labels(_parser().parse(text, dict(self.env)))

    def used_definitions(self, text: str, *, without: range) -> str:
        """Return the definitions that the links of a text use, but for those on lines `without`."""
        used = self.labels_in(text) if self.definitions else ()
        spans = sorted(self.definitions[label] for label in used if label in self.definitions)
        return "".join(
            line.rstrip("\r\n") + "\n"
            for begin, end in spans
            if begin not in without
            for line in self.lines[begin:end]
        )


_SHOWN = {"text", "text_special", "code_inline", "softbreak", "hardbreak"}


def page_of(text: str) -> Page:
    """Parse a text into blocks; a byte order mark is not part of it."""
    text = text.removeprefix("\ufeff")
    env: dict[str, Any] = {}
    tokens = _block_parser().parse(text, env)
    references = env.get("references", {})
    definitions = {label: tuple(reference["map"]) for label, reference in references.items()}
    return Page(_LINE.findall(text), tokens, definitions, env)


def new_parser() -> MarkdownIt:
    """Return a parser that keeps the labels of links."""
    return MarkdownIt("commonmark", {"store_labels": True})


_parser = cache(new_parser)


@cache
def _block_parser() -> MarkdownIt:
    """Return a parser that leaves the text inside of blocks as it is, which takes most time."""
    only_blocks = MarkdownIt("commonmark")
    only_blocks.core.ruler.enableOnly(["normalize", "block"])
    return only_blocks


def _labels(tokens: Iterable[Token]) -> set[str]:
    labels = set()
    for token in tokens:
        if "label" in token.meta:
            labels.add(token.meta["label"])
        labels |= _labels(token.children or ())
    return labels
