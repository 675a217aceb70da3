"""The page of a bot, and the page of its commands alone.

A row is a record as a page shows it, with the mark of its change. `groups_of` puts rows into the
groups of the page. `render_bot` makes the page of a bot: its numbers, announcements, commands and
latest voters. `commands_page` makes a page for the bot's own site, which loads nothing: its
stylesheet and its script are in the page, and the policy allows these two by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from commandsync.diagnostics import Problem
from commandsync.pages.templates import BESIDE, Assets, as_it_is, render, static_files
from commandsync.records.display import aligned
from commandsync.records.models import Bot
from commandsync.records.texts import CommandText, Resource

# The space belongs to the word before it: words that differ one after the other are one piece.
_WORDS = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")


class Mark(StrEnum):
    """The change of a record; the value is the label of the page."""

    NEW = "new"
    EDITED = "edited"
    RENAMED = "renamed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Row:
    """A record as a page shows it."""

    kind: Resource
    record: Mapping[str, Any]  # its fields, as a service sends them; an empty one may be left out
    anchor: str  # its place on the page
    mark: Mark | None = None  # the kind of its change; None if it has none
    before: Mapping[str, str] = field(default_factory=dict)  # the listed texts that have changed
    parts: Sequence[str] = ()  # of the platform's object that changed, such as `reason choices`

    @property
    def title(self) -> str:
        """The name of the record."""
        return str(self.record[self.kind.fields[0]])

    @property
    def old_name(self) -> str:
        """The old name of a renamed record."""
        return self.before[self.kind.fields[0]] if self.mark is Mark.RENAMED else ""

    @property
    def group(self) -> str:
        """The name of its group; empty for none."""
        return self.record.get(self.kind.group) or ""

    @property
    def usage(self) -> str:
        """Its usage; empty for a kind without one."""
        return self.record.get(self.kind.usage) or ""

    @property
    def texts(self) -> list[str]:
        """Its other texts."""
        apart = {self.kind.fields[0], self.kind.usage, self.kind.group}
        names = [name for name in self.kind.fields if name not in apart]
        return [text for name in names if (text := self.record.get(name))]

    @property
    def changes(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Each changed field, with the pieces of its old and new text."""
        for name, old in self.before.items():
            yield name, difference(old, self.record.get(name) or "")


@dataclass(frozen=True, slots=True)
class Group:
    """The records of a group; its name is empty for those that are in none."""

    name: str
    rows: list[Row] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The number of records, without those that are gone."""
        return sum(row.mark is not Mark.GONE for row in self.rows)


def listed_rows(kind: Resource, records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the rows of records as a service lists them."""
    return [Row(kind, record, f"{kind}-{record['id']}") for record in records]


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """Return the rows by group, each where its first record is listed."""
    groups: dict[str, Group] = {}
    for row in rows:
        groups.setdefault(row.group, Group(row.group)).rows.append(row)
    return [*groups.values()]


def difference(old: str, new: str) -> list[tuple[str, str]]:
    """Return the pieces of both texts, word by word: each is `same`, `old` or `new`, and a text."""
    pieces: list[tuple[str, str]] = []
    for is_same, before, after in aligned(_WORDS.findall(old), _WORDS.findall(new)):
        kinds = {"same": before} if is_same else {"old": before, "new": after}
        pieces += ((kind, "".join(words)) for kind, words in kinds.items() if words)
    return pieces


_NO_ANCHOR = re.compile(r"[\W_]+")


def commands_page(commands: Iterable[CommandText], *, bot: str = "") -> str:
    """Return the HTML of a page with the commands of a bot, whose name may be empty."""
    groups = groups_of(_rows(commands))
    style, script = (as_it_is(static_files()[name].decode()) for name in ("style.css", "filter.js"))
    return render(
        "commandlist",
        bot=bot,
        kind=Resource.COMMAND,
        groups=groups,
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
    )


def _rows(commands: Iterable[CommandText]) -> Iterator[Row]:
    """Yield the rows of commands; links to them stay as long as their names and order do."""
    seen: dict[str, int] = {}
    for command in commands:
        anchor = "-".join(("command", *filter(None, _NO_ANCHOR.split(command.name.casefold()))))
        seen[anchor] = seen.get(anchor, 0) + 1
        again = f"--{seen[anchor]}" if seen[anchor] > 1 else ""
        yield Row(Resource.COMMAND, command._asdict(), anchor + again)


def _digest(text: str) -> str:
    """Return the digest of a stylesheet or a script, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The remarks of a page on its manifest."""

    summary: str = ""  # the counts of the plan, in a sentence; empty if no manifest was valid yet
    refusal: str = ""  # why `apply` would refuse the plan; empty if it would not
    notices: tuple[str, ...] = ()  # warnings
    # Of the newest manifest; the page shows the last valid one, if any.
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingTab:
    """A manifest as another service will show it."""

    name: str  # of the service
    rows: Sequence[Row]  # the commands as it shows them, and after them those that are gone
    losses: Sequence[str]  # of the manifest's texts, in sentences without a full stop
    summary: str  # the counts of its plan, in a sentence
    compared: str  # the version that the rows are compared with, in a sentence

    @property
    def number(self) -> int:
        """The number of commands that it shows."""
        return sum(row.mark is not Mark.GONE for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """The content of a bot's page."""

    bot: Bot
    rows: Mapping[Resource, Sequence[Row]]  # the oldest first, and after them those that are gone
    preview: Preview | None = None  # None for a listing
    listings: Sequence[ListingTab] = ()  # the other listings of a preview
    voters: Sequence[Mapping[str, Any]] = ()  # its latest votes as on the wire, the newest first
    next_vote: str = ""  # when the reader may vote again, as on the wire; empty for now


def render_bot(page: BotPage, *, assets: Assets, version: int = 0) -> str:
    """Return the HTML of a bot's page; the `version` of a preview changes with the page."""
    articles = {kind: _newest_first(rows) for kind, rows in page.rows.items() if not kind.group}
    lists = {kind: groups_of(rows) for kind, rows in page.rows.items() if kind.group}
    return render(
        "bot",
        assets=assets,
        bot=page.bot,
        lists=lists,
        articles=articles,
        changed={
            mark: [
                row
                for kind, rows in page.rows.items()
                for row in articles.get(kind, rows)
                if row.mark is mark
            ]
            for mark in reversed(Mark)  # deletes first
        },
        voters=page.voters,
        preview=page.preview,
        listings=page.listings,
        next_vote=page.next_vote,
        version=version,
    )


def _newest_first(rows: Sequence[Row]) -> list[Row]:
    kept = [row for row in rows if row.mark is not Mark.GONE]
    return [*reversed(kept), *(row for row in rows if row.mark is Mark.GONE)]


def page_files(page: BotPage) -> dict[str, bytes]:
    """Return the files of a folder with the page of a bot, `index.html` first."""
    html = render_bot(page, assets=BESIDE)
    return {"index.html": html.encode(), **static_files()}
