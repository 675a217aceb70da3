"""The page of a bot, and the page of its commands alone.

A row is a record as a page shows it. `groups_of` puts rows into the groups of the page.
`render_bot` makes the page of a bot: its numbers, announcements, commands and latest voters.
`commands_page` makes a page for the bot's own site, which loads nothing: its stylesheet and its
script are in the page, and the policy allows these two by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from commandsync.pages.templates import as_it_is, render, static_files
from commandsync.records.models import Bot
from commandsync.records.texts import CommandOption, CommandText, LoadedCommand, Resource


@dataclass(frozen=True, slots=True)
class Row:
    """A record as a page shows it."""

    kind: Resource
    record: Mapping[str, Any]  # its fields, as a service sends them; an empty one may be left out
    anchor: str  # its place on the page
    menu: str = ""  # `user` or `message` for a command in such a menu, which nobody types
    options: Sequence[CommandOption] = ()  # of a command, where its platform's object is known

    @property
    def title(self) -> str:
        """The name of the record."""
        name = str(self.record[self.kind.fields[0]])
        return name.removeprefix("/") if self.menu else name

    @property
    def group(self) -> str:
        """The name of its group; empty for none."""
        return self.record.get(self.kind.group) or ""

    @property
    def usage(self) -> str:
        """Its usage; empty for a kind without one, and for a command in a menu."""
        return "" if self.menu else self.record.get(self.kind.usage) or ""

    @property
    def texts(self) -> list[str]:
        """Its other texts."""
        apart = {self.kind.fields[0], self.kind.usage, self.kind.group}
        names = [name for name in self.kind.fields if name not in apart]
        return [text for name in names if (text := self.record.get(name))]


@dataclass(frozen=True, slots=True)
class Group:
    """The records of a group; its name is empty for those that are in none."""

    name: str
    rows: list[Row] = field(default_factory=list)


def listed_rows(kind: Resource, records: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Return the rows of records as a service lists them."""
    return [Row(kind, record, f"{kind}-{record['id']}") for record in records]


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """Return the rows by group, each where its first record is listed."""
    groups: dict[str, Group] = {}
    for row in rows:
        groups.setdefault(row.group, Group(row.group)).rows.append(row)
    return [*groups.values()]


_NO_ANCHOR = re.compile(r"[\W_]+")


def commands_page(commands: Iterable[CommandText], *, bot: str = "") -> str:
    """Return the HTML of a page with the commands of a bot, whose name may be empty.

    The options of a `LoadedCommand` are shown, and its menu instead of a syntax.
    """
    style, script = (as_it_is(static_files()[name].decode()) for name in ("style.css", "filter.js"))
    return render(
        "commandlist",
        bot=bot,
        kind=Resource.COMMAND,
        groups=groups_of(_rows(commands)),
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
        row = Row(Resource.COMMAND, command._asdict(), anchor + again)
        if isinstance(command, LoadedCommand):
            row = replace(row, menu=command.menu, options=command.option_list)
        yield row


def _digest(text: str) -> str:
    """Return the digest of a stylesheet or a script, as a policy names it."""
    return b64encode(sha256(text.encode()).digest()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class BotPage:
    """The content of a bot's page."""

    bot: Bot
    rows: Mapping[Resource, Sequence[Row]]  # the oldest first
    voters: Sequence[Mapping[str, Any]] = ()  # its latest votes as on the wire, the newest first
    next_vote: str = ""  # when the reader may vote again, as on the wire; empty for now


def render_bot(page: BotPage) -> str:
    """Return the HTML of a bot's page."""
    return render(
        "bot",
        bot=page.bot,
        lists={kind: groups_of(rows) for kind, rows in page.rows.items() if kind.group},
        articles={kind: rows[::-1] for kind, rows in page.rows.items() if not kind.group},
        voters=page.voters,
        next_vote=page.next_vote,
    )
