"""The files that command lists are written to, each with a checksum: an edit by hand is seen.

A Markdown file is the same with its lists current, every other byte as it was; a page is a whole
HTML file.
"""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import NamedTuple

from commandsync.diagnostics import Location, Problem
from commandsync.document.schemas import is_command_list
from commandsync.errors import ManifestError
from commandsync.manifest.source import did_you_mean, quoted
from commandsync.records.texts import CommandText, by_category
from commandsync.report.commandlist import command_list
from commandsync.report.lines import in_html
from commandsync.report.markers import BEGIN, END, Region, lines_of, read_regions, same_page

NEW_FILE = f"# Commands\n\n{BEGIN}\n{END}\n"  # for a list alone; its owner can write around it

_GENERATOR = '<meta name="generator" content="commandsync docs">'
_SEAL = re.compile(r'(?<=<meta name="generator" content="commandsync docs) (sha256:[0-9a-f]{16})')
_LINE_END = re.compile(r"\r\n|\r")
_SPACING = re.compile(r"[\s\\]+|-{3,}")  # what formatters change
_DIGITS = 16  # of a checksum
_SHOWN_CATEGORIES = 10


class State(StrEnum):
    """What a list in a file is, before it is written again."""

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
    """Return what a list was, and its lines as they are to be, markers included."""
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
    """Return what a file of a whole list is before it is written; None if it does not exist.

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
