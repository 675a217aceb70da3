"""The command lists of a Markdown file: each is between two markers, on lines of their own.

A parser of CommonMark finds them, so that a marker in a block of code is text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any, NamedTuple, get_args, get_type_hints

from markdown_it import MarkdownIt

from commandsync.diagnostics import Excerpt, Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.source import did_you_mean, quoted
from commandsync.report.commandlist import COLUMNS, Layout

BEGIN = "<!-- commandsync:commands -->"
END = "<!-- /commandsync:commands -->"

_MARK = "commandsync:"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_MEANT = re.compile(rf"\s*<!--\s*/?\s*{_MARK}")
_BEGIN = re.compile(r" {0,3}<!--[ \t]+commandsync:commands(?=[ \t])((?:(?!-->).)*)-->[ \t]*")
_END = re.compile(r" {0,3}<!--[ \t]+/commandsync:commands(?:[ \t]+(\S+))?[ \t]+-->[ \t]*")
_OPTION = re.compile(r"""[ \t]+([\w-]+)=("[^"]*"|'[^']*'|[^\s"'<>=`]+)(?=\s)""")
_FORMATS = get_args(get_type_hints(Layout)["format"])


@dataclass(frozen=True, slots=True)
class Region:
    """A list in a file: the lines between two markers."""

    begin: int  # the index of the begin marker's line
    end: int
    location: Location  # of the begin marker
    layout: Layout  # what the begin marker asks for
    level: int  # of headings in it: one below the heading above it
    checksum: str  # what the end marker has; empty where it has nothing


class _Block(NamedTuple):
    """A heading, or a line that is a marker or meant to be."""

    line: int
    nested: bool
    heading: int = 0  # its level; 0 for a marker


@dataclass(slots=True)
class _Reader:
    path: str
    lines: Sequence[str]
    problems: list[Problem] = field(default_factory=list)

    def problem(self, line: int, message: str, hint: str = "", *, column: int = 1) -> None:
        text = self.lines[line].rstrip("\r\n")
        at = Location(self.path, line + 1, column)
        self.problems.append(Problem(at, message, hint, Excerpt(text, column - 1)))

    def regions(self, blocks: Iterable[_Block]) -> Iterator[Region]:
        """Pair the markers, and report those that are alone; headings between them are theirs."""
        opened: tuple[int, Layout] | None = None
        level = 1
        for block in blocks:
            if block.heading:
                level = level if opened else block.heading
                continue
            begins, ends = self.marks(block)
            if begins:
                self.report_unended(opened)
                opened = block.line, self.layout(block.line, begins)
            elif ends and opened:
                begin, layout = opened
                at = Location(self.path, begin + 1)
                yield Region(begin, block.line, at, layout, level + 1, ends[1] or "")
                opened = None
            elif ends:
                hint = f"write {BEGIN} above it, or remove it"
                self.problem(block.line, "a list ends here, and none has begun", hint)
        self.report_unended(opened)

    def marks(self, block: _Block) -> tuple[re.Match[str] | None, re.Match[str] | None]:
        """Read a marker as one that begins a list, and as one that ends it; report neither."""
        text = self.lines[block.line].removeprefix("\ufeff").rstrip("\r\n")
        begins, ends = _BEGIN.fullmatch(text), _END.fullmatch(text)
        if block.nested:
            hint = "move it out of the list or the quote, to the beginning of a line"
            self.problem(block.line, "this marker is inside another block", hint)
            return None, None
        if not (begins or ends):
            hint = f"a list begins with {BEGIN} and ends with {END}, each on its own line"
            self.problem(block.line, "this is not a valid marker", hint)
        return begins, ends

    def report_unended(self, opened: tuple[int, Layout] | None) -> None:
        if opened is not None:
            hint = f"write {END} below it; a list cannot contain another one"
            self.problem(opened[0], "a list begins here and does not end", hint)

    def layout(self, line: int, begins: re.Match[str]) -> Layout:
        """Read the options of a begin marker, which are written like attributes of HTML."""
        values: dict[str, Any] = {}
        at = begins.start(1)
        while option := _OPTION.match(begins.string, at, begins.end(1)):
            name, value = option[1], _value(option[2])
            message, hint = _refused(name, value)
            message = f"duplicate option {name}" if name in values else message
            if message:
                self.problem(line, message, hint, column=option.start(1) + 1)
            values[name] = tuple(value.split(",")) if name == "columns" else value
            at = option.end()
        if rest := begins.string[at : begins.end(1)].strip():
            column = begins.string.index(rest, at) + 1
            hint = 'write name=value or name="value", with spaces between options'
            self.problem(line, "this is not a valid option", hint, column=column)
        known = Layout.__dataclass_fields__.keys()
        return Layout(**{name: value for name, value in values.items() if name in known})


def _value(written: str) -> str:
    value = written[1:-1] if written[0] in "\"'" else written
    try:
        return unescape(value)
    except ValueError:  # the number of a character has more digits than Python reads
        return value


def _refused(name: str, value: str) -> tuple[str, str]:
    """Return what is wrong with an option, and a hint; empty where nothing is."""
    names = value.split(",")
    match name:
        case "format" if value not in _FORMATS:
            message = f"format must be {' or '.join(_FORMATS)}, not {quoted(value)}"
            return message, did_you_mean(value, _FORMATS)
        case "columns" if set(names) - set(COLUMNS) or len(set(names)) < len(names):
            message = f"columns must be some of {','.join(COLUMNS)}, each once, not {quoted(value)}"
            return message, ""
        case "category" | "format" | "columns":
            return "", ""
        case _:
            known = Layout.__dataclass_fields__
            hint = did_you_mean(name, known) or f"it may have {', '.join(known)}"
            return f"a list has no option {quoted(name)}", hint


def lines_of(text: str) -> list[str]:
    """Return the lines of a file, each with its line end."""
    return _LINE.findall(text)


def read_regions(text: str, path: str) -> tuple[Region, ...]:
    """Find the lists of a Markdown file; a `ManifestError` has all of its problems at once."""
    reader = _Reader(path, lines_of(text))
    regions = tuple(reader.regions(_blocks(text) if _MARK in text else ()))
    if reader.problems:
        raise ManifestError(sorted(reader.problems), of=path)
    return regions


def same_page(text: str, other: str) -> bool:
    """Return whether two texts are the same page: formatters pad tables, and escape and wrap."""
    parser = MarkdownIt("commonmark").enable("table")
    return bool(parser.render(text).split() == parser.render(other).split())


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the headings of a page, and the lines that are markers or meant to be."""
    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    for token in parser.parse(text.removeprefix("\ufeff")):
        at = token.map[0] if token.map else 0
        if token.type == "heading_open" and token.level == 0:
            yield _Block(at, nested=False, heading=int(token.tag.removeprefix("h")))
        if token.type == "html_block":
            for line, written in enumerate(token.content.split("\n"), at):
                if _MEANT.match(written):
                    yield _Block(line, nested=token.level > 0)
