"""The records of a page as rows with their changes; and the commands of a manifest as one file.

A row is a record as a page shows it, with the mark of its change. `groups_of` puts rows into the
groups of the page. `commands_page` makes a page of the bot's own site of them, which loads nothing:
its stylesheet and its script are in the page, and the policy allows these two by their digests.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from commandsync.pages.templates import as_it_is, render, static_files
from commandsync.records.alignment import aligned
from commandsync.records.texts import CommandText, Resource

# The space belongs to the word before it: words that differ one after the other are one piece.
_WORDS = re.compile(r"(?:\w+|[^\w\s])\s*|\s+")


class Mark(StrEnum):
    """What happens to a listed record; the value is the label of the page."""

    NEW = "new"
    EDITED = "edited"
    RENAMED = "renamed"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Row:
    """A record as a page shows it."""

    kind: Resource  # what it is
    # Its fields, and what else a service sends; an empty one may be left out.
    record: Mapping[str, Any]
    anchor: str  # its place on the page
    mark: Mark | None = None  # the kind of its change; None if it has none
    # The listed text of each field that has another one now.
    before: Mapping[str, str] = field(default_factory=dict)
    parts: Sequence[
        str
    ] = ()  # the changed parts of the platform's object, such as `reason choices`

    @property
    def title(self) -> str:
        """What the record is called."""
        return str(self.record[self.kind.fields[0]])

    @property
    def old_name(self) -> str:
        """What a renamed record was called."""
        return self.before[self.kind.fields[0]] if self.mark is Mark.RENAMED else ""

    @property
    def group(self) -> str:
        """What it is listed with; empty for nothing."""
        return self.record.get(self.kind.group) or ""

    @property
    def usage(self) -> str:
        """How it is used; empty for a kind that does not say so."""
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
