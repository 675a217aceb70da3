"""A command list as Markdown: a table, padded as formatters pad it, or a list per category.

Each text is inline Markdown that renders as the text (`inline`), without a link or a mention that
GitHub would make of it. The escapes are those of mdformat,
which writes each page in one way; prettier keeps what is written. So neither changes what is
returned here. Spaces are collapsed, as on every page.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.entities import html5
from typing import Literal
from unicodedata import category

from commandsync.records.display import readable
from commandsync.records.texts import CommandText, Resource, by_category
from commandsync.report.lines import RUNNER_PREFIX, columns_of

_SPECIAL = re.compile(r"[\\*_\[\]<`&~\n@#]|[ \t]{2}|\t|://|(?i:www\.|gh-|[0-9a-f]{7})")
_SPACES = re.compile(r"[ \t]+")
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s)")
_BRACKET = re.compile(r"(\[[^\[\]]*\](?![:(]))|[\[\]]")
_LESS = re.compile(r"<(?! )")
_LESS_BEFORE_LESS = re.compile(r"\\<(?=\\<)")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7};|#[Xx][0-9A-Fa-f]{1,6};|([A-Za-z0-9]+;))")
# What GitHub makes of a text by itself: links to addresses, people, issues and commits. A comment
# in it, or after each few characters of a commit, leaves the text and makes no link.
_LINKED = re.compile(
    r"(?i:(?<=[a-z])(?=://)|(?<=www)(?=\.)|(?<=\bgh-)(?=[0-9]))|(?<=@)(?=\w)|(?<=#)(?=[0-9])"
)
_COMMIT = re.compile(r"(?<!\w)[0-9A-Fa-f]{7,40}(?!\w)")
_PART_OF_COMMIT = re.compile(".{1,6}")
_MARK = "\0"  # of a comment, until the text is escaped; no text that is shown has it
# GitHub strikes through what is between two tildes, also single ones, and mdformat escapes only
# pairs. One as in "about ~5 minutes" cannot end such a text; any other one becomes code.
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
    return "<br>".join(_literal_line(line) for line in readable(text).split("\n") if line.strip())


def _literal_line(line: str) -> str:
    line = _SPACES.sub(" ", line).strip(" ")
    if "`" in line or "\\|" in line or RUNNER_PREFIX.search(line):
        return f"<code>{_escaped_line(line)}</code>"
    return f"`{line}`"


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
    """How commands are listed: the one category, without a heading, or all; their fields."""

    category: str | None = None
    format: Literal["table", "list"] = "table"
    columns: tuple[str, ...] = ("syntax", "description")


def command_list(commands: Iterable[CommandText], layout: Layout, *, level: int) -> str:
    """Return the Markdown of a list, without a line end at its end; empty where nothing is listed.

    The level is that of the headings of categories, from 1; 6 is the deepest.
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
