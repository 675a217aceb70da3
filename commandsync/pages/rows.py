"""The records of a page with their changes, grouped as the page shows them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from commandsync.records.alignment import aligned
from commandsync.records.texts import Resource

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
