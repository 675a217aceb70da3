"""A command list as Markdown, and the files that it is written to.

A list is a table, padded as formatters pad it, or a list per category. Each text is inline Markdown
that renders as the text (`inline`), without a link or a mention that GitHub would make of it. It
is escaped as by mdformat, which writes each page in one way; prettier keeps every escape. So
neither changes such a list. Spaces are collapsed, as on every page.

In a Markdown file a list is between two markers, on lines of their own, with a checksum that shows
hand edits. `read_regions` finds them with a parser of CommonMark, so that a marker in a block of
code is text. `with_lists` writes the lists again, and keeps every other byte. `sealed` and
`state_of` do the same for whole HTML files.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from hashlib import sha256
from html.entities import html5
from typing import Any, Literal, NamedTuple, get_args, get_type_hints
from unicodedata import category

from markdown_it import MarkdownIt

from commandsync.diagnostics import Excerpt, Location, Problem
from commandsync.document.schemas import is_command_list
from commandsync.errors import ManifestError
from commandsync.manifest.source import did_you_mean, quoted
from commandsync.records.display import readable
from commandsync.records.texts import CommandText, Resource, by_category
from commandsync.report.lines import RUNNER_PREFIX, columns_of, in_html

_SPECIAL = re.compile(r"[\\*_\[\]<`&~\n@#]|[ \t]{2}|\t|://|(?i:www\.|gh-|[0-9a-f]{7})")
_SPACES = re.compile(r"[ \t]+")
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s)")
_BRACKET = re.compile(r"(\[[^\[\]]*\](?![:(]))|[\[\]]")
_LESS = re.compile(r"<(?! )")
_LESS_BEFORE_LESS = re.compile(r"\\<(?=\\<)")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};|#[Xx][0-9A-Fa-f]{1,6};|([A-Za-z0-9]+;))")
# GitHub links addresses, people, issues and commits by itself. A comment inside one, or after each
# few characters of a commit, prevents the link and does not change the text.
_LINKED = re.compile(
    r"(?i:(?<=[a-z])(?=://)|(?<=www)(?=\.)|(?<=\bgh-)(?=[0-9]))|(?<=@)(?=\w)|(?<=#)(?=[0-9])"
)
_COMMIT = re.compile(r"(?<!\w)[0-9A-Fa-f]{7,40}(?!\w)")
_PART_OF_COMMIT = re.compile(".{1,6}")
_MARK = "\0"  # of a comment, until the text is escaped; no text that is shown has it
# GitHub strikes through a text between two tildes, even single ones, and mdformat escapes only
# pairs. A tilde as in "about ~5 minutes" cannot end such a text; any other tilde becomes code.
_TILDES = re.compile(r"((?<!~)(?:(?<=[^ ])~+|~~+|~(?![0-9])))")
_COMMENT = "<!-- -->"


def inline(text: str, *, before: str = "", after: str = "") -> str:
    """Return a text as Markdown for a cell, an item or a heading; line ends become `<br>`.

    Where spaces come `before` or `after` it on the page, a mark beside them needs no escape.
    """
    shown = readable(text)
    if not _SPECIAL.search(shown):
        return shown
    first, *others = (_SPACES.sub(" ", line).strip(" ") for line in shown.split("\n"))
    lines = [before + first, *others]
    lines[-1] += after
    return "<br>".join(map(_escaped_line, lines)).strip(" ")


def literal(text: str) -> str:
    """Return a text in the type of code; line ends become `<br>`.

    A code span cannot contain everything: formatters differ about a backtick in it, and in a table
    about a backslash before a bar. Text between `<code>` and `</code>` can.
    """
    lines = []
    for line in filter(str.strip, readable(text).split("\n")):
        line = _SPACES.sub(" ", line).strip(" ")  # noqa: PLW2901 - as it is shown
        is_span = not ("`" in line or "\\|" in line or RUNNER_PREFIX.search(line))
        lines.append(f"`{line}`" if is_span else f"<code>{_escaped_line(line)}</code>")
    return "<br>".join(lines)


def _escaped_line(line: str) -> str:
    line = _COMMIT.sub(lambda commit: _MARK.join(_PART_OF_COMMIT.findall(commit[0])), line)
    parts = _TILDES.split(_LINKED.sub(_MARK, line))
    parts[::2] = map(_escaped, parts[::2])
    parts[1::2] = (f"`{tildes}`" for tildes in parts[1::2])
    return "".join(parts).replace(_MARK, _COMMENT)


def _escaped(text: str) -> str:
    if not _SPECIAL.search(text):
        return text
    text = text.replace("\\", "\\\\")
    text = _STAR.sub(r"\\*", text)
    text = re.sub("_", _underscore, text)
    text = _BRACKET.sub(lambda match: match[1] or f"\\{match[0]}", text)
    # mdformat escapes only the first of several; a comment between them keeps them apart.
    text = _LESS_BEFORE_LESS.sub(rf"\\<{_COMMENT}", _LESS.sub(r"\\<", text))
    text = RUNNER_PREFIX.sub(f"#{_COMMENT}#", text)
    return _REFERENCE.sub(
        lambda match: match[0] if match[1] and match[1] not in html5 else f"\\{match[0]}",
        text.replace("`", "\\`"),
    )


def _underscore(match: re.Match[str]) -> str:
    """Escape an underscore, unless it is inside a word or between two spaces."""
    text, at = match.string, match.start()
    around = {_kind(text[at - 1 : at]), _kind(text[at + 1 : at + 2])}
    return "_" if around in ({"space"}, {"letter"}) else "\\_"


def _kind(character: str) -> str:
    if not character:
        return "end"
    if character.isspace():
        return "space"
    return "mark" if character == _MARK or category(character)[0] in "PS" else "letter"


MENTION = "mention"
COLUMNS = (*Resource.COMMAND.fields, MENTION, "options")
"""The columns that a list can have: the fields of a command, and facts from its platform."""

_TYPED = frozenset({"name", "syntax"})  # what users type is shown as code
_WIDEST = 1000  # columns of a table; a wider one is not padded: one long text would pad every row
_DEEPEST = 6  # level of a heading


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of a list: one category, without a heading, or all of them; and the columns."""

    category: str | None = None
    format: Literal["table", "list"] = "table"
    columns: tuple[str, ...] = ("syntax", "description")


def command_list(commands: Iterable[CommandText], layout: Layout, *, level: int) -> str:
    """Return the Markdown of a list, without a final line end; empty if nothing is listed.

    The level of the headings of categories is from 1 to 6, the deepest.
    """
    if "category" in layout.columns and layout.category is None:
        return _block(tuple(commands), layout)
    groups = by_category(commands)
    if layout.category is not None:
        return _block(groups.get(layout.category, ()), layout)
    if len(groups) == 1:
        return "".join(_block(members, layout) for members in groups.values())
    blocks = []
    for name, members in groups.items():
        if heading := inline(name.replace("\n", " ")):
            # Hashes at its end would be taken for a part of its mark.
            heading = f"{heading[:-1]}\\#" if heading.endswith("#") else heading
            blocks.append(f"{'#' * min(level, _DEEPEST)} {heading}")
        blocks.append(_block(members, layout))
    return "\n\n".join(blocks)


def _block(commands: Sequence[CommandText], layout: Layout) -> str:
    if not commands:
        return ""
    if layout.format == "list":
        return "\n".join(_item(command, layout.columns) for command in commands)
    rows = [
        [_shown(field, getattr(command, field, "")) for field in layout.columns]
        for command in commands
    ]
    return _table([[field.capitalize() for field in layout.columns], *rows])


def _item(command: CommandText, columns: Iterable[str]) -> str:
    """Return an item that begins with its first text in the type of code, or in bold type."""
    first, *rest = ((name, text) for name in columns if (text := getattr(command, name, "")))
    start = _shown(*first) if first[0] in {*_TYPED, MENTION} else f"**{_shown(*first)}**"
    more = [_shown(*each, before=" ", after="" if each is rest[-1] else " ") for each in rest]
    return f"- {start}: {' '.join(more)}" if more else f"- {start}"


def _shown(field: str, text: str, *, before: str = "", after: str = "") -> str:
    if field == MENTION:  # escaped, it is not one
        return text
    return literal(text) if field in _TYPED else inline(text, before=before, after=after)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a bar ends a cell, in a code span too."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    widths = [[*map(columns_of, row)] for row in escaped]
    widest = [max(column) for column in zip(*widths, strict=True)]
    if sum(widest) > _WIDEST:
        widths = [[0] * len(row) for row in rows]
        widest = [0] * len(rows[0])
    head, *body = (
        _row(
            cell + " " * (most - width)
            for cell, width, most in zip(row, row_widths, widest, strict=True)
        )
        for row, row_widths in zip(escaped, widths, strict=True)
    )
    return "\n".join((head, _row("-" * max(most, 3) for most in widest), *body))


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


BEGIN = "<!-- commandsync:commands -->"
END = "<!-- /commandsync:commands -->"

_MARKER = "commandsync:"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_MEANT = re.compile(rf"\s*<!--\s*/?\s*{_MARKER}")
_BEGIN = re.compile(r" {0,3}<!--[ \t]+commandsync:commands(?=[ \t])((?:(?!-->).)*)-->[ \t]*")
_END = re.compile(r" {0,3}<!--[ \t]+/commandsync:commands(?:[ \t]+(\S+))?[ \t]+-->[ \t]*")
_OPTION = re.compile(r"""[ \t]+([\w-]+)=("[^"]*"|'[^']*'|[^\s"'<>=`]+)(?=\s)""")
_UNENDED = (
    "a list begins here and does not end",
    f"write {END} below it; a list cannot contain another one",
)
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
    """A heading, or a line that is, or looks like, a marker."""

    line: int
    nested: bool
    heading: int = 0  # its level; 0 for a marker


def lines_of(text: str) -> list[str]:
    """Return the lines of a file, each with its line end."""
    return _LINE.findall(text)


def read_regions(text: str, path: str) -> tuple[Region, ...]:
    """Find the lists of a Markdown file; a `ManifestError` has all of its problems at once."""
    lines, problems, regions = lines_of(text), list[Problem](), list[Region]()

    def report(line: int, message: str, hint: str = "", column: int = 1) -> None:
        excerpt = Excerpt(lines[line].rstrip("\r\n"), column - 1)
        problems.append(Problem(Location(path, line + 1, column), message, hint, excerpt))

    opened: tuple[int, Layout] | None = None
    level = 1
    for block in _blocks(text):
        if block.heading:  # one between two markers belongs to their list
            level = level if opened else block.heading
            continue
        marker = lines[block.line].removeprefix("\ufeff").rstrip("\r\n")
        begins, ends = _BEGIN.fullmatch(marker), _END.fullmatch(marker)
        if block.nested:
            hint = "move it out of the list or the quote, to the beginning of a line"
            report(block.line, "this marker is inside another block", hint)
        elif begins:
            if opened:
                report(opened[0], *_UNENDED)
            opened = block.line, _layout(begins, partial(report, block.line))
        elif ends and opened:
            (begin, layout), opened = opened, None
            (checksum,) = ends.groups("")
            at = Location(path, begin + 1)
            regions.append(Region(begin, block.line, at, layout, level + 1, checksum))
        elif ends:
            hint = f"write {BEGIN} above it, or remove it"
            report(block.line, "a list ends here, and none has begun", hint)
        else:
            hint = f"a list begins with {BEGIN} and ends with {END}, each on its own line"
            report(block.line, "this is not a valid marker", hint)
    if opened:
        report(opened[0], *_UNENDED)
    if problems:
        raise ManifestError(sorted(problems), of=path)
    return tuple(regions)


def _layout(begins: re.Match[str], report: Callable[..., None]) -> Layout:
    """Read the options of a begin marker, which are written as `name=value`."""
    values: dict[str, Any] = {}
    at = begins.start(1)
    while option := _OPTION.match(begins.string, at, begins.end(1)):
        name, value = option[1], option[2]
        value = value[1:-1] if value[0] in "\"'" else value
        message, hint = _refused(name, value)
        message = f"duplicate option {name}" if name in values else message
        if message:
            report(message, hint, option.start(1) + 1)
        values[name] = tuple(value.split(",")) if name == "columns" else value
        at = option.end()
    if rest := begins.string[at : begins.end(1)].strip():
        hint = 'write name=value or name="value", with spaces between options'
        report("this is not a valid option", hint, begins.string.index(rest, at) + 1)
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


def same_page(text: str, other: str) -> bool:
    """Return whether two texts are the same page: formatters pad tables, and escape and wrap."""
    parser = MarkdownIt("commonmark").enable("table")
    return bool(parser.render(text).split() == parser.render(other).split())


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the headings of a page, and the lines that are, or look like, markers."""
    if _MARKER not in text:
        return
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


NEW_FILE = (
    f"# Commands\n\n{BEGIN}\n{END}\n"  # a page with the list alone; its owner can write around it
)

_GENERATOR = '<meta name="generator" content="commandsync docs">'
_SEAL = re.compile(r'(?<=<meta name="generator" content="commandsync docs) (sha256:[0-9a-f]{16})')
_LINE_END = re.compile(r"\r\n|\r")
_SPACING = re.compile(r"[\s\\]+|-{3,}")  # changed by formatters
_DIGITS = 16  # of a checksum
_SHOWN_CATEGORIES = 10


class ListState(StrEnum):
    """The state of a list in a file, before it is written again."""

    CURRENT = "up to date"
    STALE = "out of date"
    EDITED = "edited by hand"
    FOREIGN = "not a list that docs wrote"


class MarkdownFile(NamedTuple):
    """A file with all of its lists written."""

    text: str
    lists: tuple[tuple[Location, ListState], ...]  # each by its begin marker, as it was before


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
    """Return the problem if no command has the category of a list."""
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
) -> tuple[ListState, list[str]]:
    """Return the state of a list, and its new lines, markers included."""
    begin, *between, end = lines
    old = _LINE_END.sub("\n", "".join(between))
    content = command_list(commands, region.layout, level=region.level)
    new = f"\n{content}\n\n" if content else "\n"
    # Only the words count: formatters change the rest.
    seen, wanted = (_checksum(_SPACING.sub("", text)) for text in (old, new))
    is_same = old == new or (seen == wanted and same_page(old, new))
    if is_same and region.checksum == wanted:
        return ListState.CURRENT, list(lines)
    edited = seen not in {region.checksum, wanted} and old.strip()
    marker = END.replace("-->", f"{wanted} -->") + _line_end(end)
    written = [begin, new.replace("\n", _line_end(begin)), marker]
    return ListState.EDITED if edited else ListState.STALE, written


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _checksum(text: str) -> str:
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def sealed(html: str) -> str:
    """Return a page, as the service's templates make it, with its checksum."""
    html = in_html(html.rstrip("\n") + "\n")
    return html.replace(_GENERATOR, _GENERATOR.replace('">', f' {_checksum(html)}">'), 1)


def state_of(old: str | None, new: str) -> ListState:
    """Return the state of a file with a whole list, before it is written; `old` may be None.

    The list is a sealed page or a JSON document.
    """
    if old is None:
        return ListState.STALE
    old = old.replace("\r\n", "\n")
    if old == new:
        return ListState.CURRENT
    if is_command_list(old):
        return ListState.STALE
    seal = _SEAL.search(old)
    if seal is None:
        return ListState.FOREIGN
    return ListState.STALE if seal[1] == _checksum(_SEAL.sub("", old, 1)) else ListState.EDITED
