"""A changelog, or any Markdown text, as blocks with their places, and the section of a version.

A parser of CommonMark finds the headings, rules and link definitions of a text (`Page`); a section
is cut out between two headings, byte for byte as a person would cut it out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from commandsync.errors import FileError
from commandsync.sources.notes import (
    Notes,
    bare,
    check_length,
    is_only,
    is_prerelease,
    is_withheld,
    names,
    version_in,
)

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


_LEVEL_OF_PARTS = 3  # of sections on the second level
_MOST_NAMED = 5  # versions that an error names
_EMPTY_LINES = re.compile(r"\A(?:[ \t]*(?:\r\n|\r|\n))+")
# Between two sections: empty lines, and the anchor of the next one.
_BETWEEN = re.compile(r"\s*(?:<a\s+(?:name|id)=[^<>]*>\s*</a>\s*)*", re.IGNORECASE)


def section_of(text: str, version: str = "", *, path: str, prereleases: bool = False) -> Notes:
    """Find the section of a version.

    It begins after the version's heading and ends before the next heading of the same or a higher
    level, or of another version. Link reference definitions at the end of the file are of all
    sections: those that the section uses are added to it.

    Args:
        text: The changelog: Markdown, its byte order mark and line ends included.
        version: The version, with or without a leading `v`; empty for the first released one.
        path: The file, for messages.
        prereleases: Whether the first released one may be a prerelease.

    Raises:
        FileError: The changelog has no such section or several, or nothing is in it.
    """
    page = page_of(text)
    headings = _of_versions(page.headings)
    if version:
        heading = _named(page.headings, headings, bare(version), path)
    else:
        heading = _newest(headings, path, prereleases=prereleases)
    versions = [other for other in headings if other.level <= heading.level or is_only(other.text)]
    body = _body(page, heading, versions)
    name = bare(version) or version_in(heading.text)
    if not body:
        hint = "write what changed below its heading"
        raise FileError(f"{path} has no text for the version {name}", hint=hint)
    return Notes(text=body, version=name, prerelease=is_prerelease(name))


def _of_versions(headings: Sequence[Heading]) -> list[Heading]:
    # Not a `Requires Python 3.12` that is deeper than the usual `Lantern 1.2.0, the big one`.
    naming = [heading for heading in headings if version_in(heading.text)]
    levels = Counter(heading.level for heading in naming)
    usual = max(sorted(levels), key=levels.__getitem__, default=0)
    return [heading for heading in naming if heading.level == usual or is_only(heading.text)]


def _named(
    headings: Sequence[Heading], of_versions: Sequence[Heading], version: str, path: str
) -> Heading:
    naming = [heading for heading in of_versions if names(heading.text, version)]
    exact = filter(lambda heading: is_only(heading.text), naming)
    word = version.casefold()  # a version without a dot, such as Unreleased or v2
    alone = (head for head in headings if bare(head.text.strip("[] ")).casefold() == word)
    match [*exact] or naming or [*alone]:
        case [heading]:
            return heading
        case []:
            message = f"{path} has no heading for the version {version}"
            raise FileError(message, hint=_hint(of_versions, meant=version))
        case several:
            lines = " and ".join(str(heading.begin + 1) for heading in several)
            message = f"{path} has {len(several)} headings for the version {version}"
            raise FileError(f"{message}, on lines {lines}", hint="give each version one heading")


def _newest(headings: Sequence[Heading], path: str, *, prereleases: bool) -> Heading:
    """Return the first heading of a version that is released; a prerelease only on request."""
    for heading in headings:
        final = prereleases or not is_prerelease(version_in(heading.text))
        if final and not is_withheld(heading.text):
            return heading
    hint = "name a version" if headings else _hint(headings)
    raise FileError(f"{path} has no heading for a released version", hint=hint)


def _hint(headings: Sequence[Heading], *, meant: str = "") -> str:
    versions = list(dict.fromkeys(version_in(heading.text) for heading in headings))
    if not versions:
        return "a section begins with a heading such as ## 1.2.0"
    near = "".join(f"did you mean {v}? " for v in get_close_matches(meant, versions, n=1))
    shown = versions if len(versions) <= _MOST_NAMED else [*versions[:_MOST_NAMED], "..."]
    return f"{near}it has {', '.join(shown)}"


def _body(page: Page, heading: Heading, versions: Sequence[Heading]) -> str:
    """Return the text below a heading, with those definitions of the file that it uses."""
    end = _end(page, heading, versions)
    apart = page.rules | (page.defining if end == len(page.lines) else set())
    while end - 1 in apart or _BETWEEN.fullmatch(page.lines[end - 1]):  # ends at a heading
        end -= 1
    text = _EMPTY_LINES.sub("", "".join(page.lines[heading.end : end]))
    check_length(text, of=f"the section {heading.text!r}")
    definitions = page.used_definitions(text, without=range(heading.end, end))
    return f"{text.rstrip()}\n\n{definitions}" if definitions else text


def _end(page: Page, heading: Heading, versions: Sequence[Heading]) -> int:
    later = [other for other in page.headings if other.begin >= heading.end]
    below = next(iter(later), heading)
    # A heading of the version's own level is a part of it: `### Bug Fixes` of `### [1.2.1]`.
    is_part = below not in versions and below.level == heading.level >= _LEVEL_OF_PARTS
    between = "".join(page.lines[heading.end : below.begin])
    level = heading.level
    if is_part and not between.strip():
        level -= 1
    ends = (other.begin for other in later if other.level <= level or other in versions)
    return next(ends, len(page.lines))
