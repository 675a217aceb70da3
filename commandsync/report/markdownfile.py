"""The files that command lists are written to, each with a checksum that shows hand edits.

In a Markdown file a list is between two markers, on lines of their own. `read_regions` finds them
with a parser of CommonMark, so that a marker in a block of code is text. `with_lists` writes the
lists again, and keeps every other byte. `sealed` and `state_of` do the same for whole HTML files.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple, get_args, get_type_hints

from markdown_it import MarkdownIt

from commandsync.diagnostics import Excerpt, Location, Problem
from commandsync.document.schemas import is_command_list
from commandsync.errors import ManifestError
from commandsync.manifest.source import did_you_mean, quoted
from commandsync.records.texts import CommandText, by_category
from commandsync.report.commandlist import COLUMNS, Layout, command_list
from commandsync.report.lines import in_html

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
    layout: Layout  # by the options of the begin marker
    level: int  # of headings in it: one below the heading above it
    checksum: str  # in the end marker; empty without one


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
        """Read the options of a begin marker, which are written as `name=value`."""
        values: dict[str, Any] = {}
        at = begins.start(1)
        while option := _OPTION.match(begins.string, at, begins.end(1)):
            name, value = option[1], option[2]
            value = value[1:-1] if value[0] in "\"'" else value
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


def _refused(name: str, value: str) -> tuple[str, str]:
    """Return the problem of an option, and a hint; empty for a valid one."""
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


NEW_FILE = f"# Commands\n\n{BEGIN}\n{END}\n"  # for a list alone; its owner can write around it

_GENERATOR = '<meta name="generator" content="commandsync docs">'
_SEAL = re.compile(r'(?<=<meta name="generator" content="commandsync docs) (sha256:[0-9a-f]{16})')
_LINE_END = re.compile(r"\r\n|\r")
_SPACING = re.compile(r"[\s\\]+|-{3,}")  # changed by formatters
_DIGITS = 16  # of a checksum
_SHOWN_CATEGORIES = 10


class State(StrEnum):
    """The state of a list in a file, before it is written again."""

    CURRENT = "up to date"
    STALE = "out of date"
    EDITED = "edited by hand"
    FOREIGN = "not a list that docs wrote"


class MarkdownFile(NamedTuple):
    """A file with all of its lists written."""

    text: str
    lists: tuple[tuple[Location, State], ...]  # each by its begin marker, as it was before


def with_lists(text: str, commands: Sequence[CommandText], *, path: str) -> MarkdownFile:
    """Write the lists of a Markdown file again; its byte order mark and line ends stay.

    Raises `ManifestError` if the file has no marker, a marker is not valid, or no command has the
    category that one asks for.
    """
    regions = read_regions(text, path)
    categories = by_category(commands)
    problems = list(filter(None, (_missing(region, categories) for region in regions)))
    if not regions:
        hint = f"write these two lines where the list goes: {BEGIN} and {END}"
        problems = [Problem(Location(path), "this file has no markers", hint)]
    if problems:
        raise ManifestError(problems, of=path)
    lines = lines_of(text)
    states = []
    for region in reversed(regions):
        state, written = _written(region, lines[region.begin : region.end + 1], commands)
        lines[region.begin : region.end + 1] = written
        states.append((region.location, state))
    return MarkdownFile("".join(lines), tuple(reversed(states)))


def _missing(region: Region, categories: Collection[str]) -> Problem | None:
    """Return the problem of a list of a category that no command has."""
    wanted = region.layout.category
    if wanted is None or wanted in categories or not categories:
        return None
    names = [name or '""' for name in categories]
    more = ", …" if len(names) > _SHOWN_CATEGORIES else ""
    hint = f"the categories are {', '.join(names[:_SHOWN_CATEGORIES])}{more}"
    message = f"no command has the category {quoted(wanted)}"
    return Problem(region.location, message, did_you_mean(wanted, categories) or hint)


def _written(
    region: Region, lines: Sequence[str], commands: Sequence[CommandText]
) -> tuple[State, list[str]]:
    """Return the state of a list, and its new lines, markers included."""
    begin, *between, end = lines
    old = _LINE_END.sub("\n", "".join(between))
    content = command_list(commands, region.layout, level=region.level)
    new = f"\n{content}\n\n" if content else "\n"
    # That of the words: formatters change the rest.
    seen, wanted = (_checksum(_SPACING.sub("", text)) for text in (old, new))
    is_same = old == new or (seen == wanted and same_page(old, new))
    if is_same and region.checksum == wanted:
        return State.CURRENT, list(lines)
    edited = seen not in {region.checksum, wanted} and old.strip()
    marker = END.replace("-->", f"{wanted} -->") + _line_end(end)
    written = [begin, new.replace("\n", _line_end(begin)), marker]
    return State.EDITED if edited else State.STALE, written


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _checksum(text: str) -> str:
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def sealed(html: str) -> str:
    """Return a page, as the service's templates make it, with its checksum."""
    html = in_html(html.rstrip("\n") + "\n")
    return html.replace(_GENERATOR, _GENERATOR.replace('">', f' {_checksum(html)}">'), 1)


def state_of(old: str | None, new: str) -> State:
    """Return the state of a file with a whole list, before it is written; `old` may be None.

    The list is a sealed page or a JSON document.
    """
    if old is None:
        return State.STALE
    old = old.replace("\r\n", "\n")
    if old == new:
        return State.CURRENT
    if is_command_list(old):
        return State.STALE
    seal = _SEAL.search(old)
    if seal is None:
        return State.FOREIGN
    return State.STALE if seal[1] == _checksum(_SEAL.sub("", old, 1)) else State.EDITED
