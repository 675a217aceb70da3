"""The records of a page with their changes: commands by category, announcements newest first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from commandsync.server.pages.difference import difference
from commandsync.server.pages.overlay import Mark

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from commandsync.server.pages.difference import Piece
    from commandsync.server.pages.overlay import Marked, Overlay


@dataclass(frozen=True, slots=True)
class Row:
    """A record as the page shows it.

    Attributes:
        record: Its fields.
        mark: The kind of its change; None if it has none.
        changes: Each changed field, with the pieces of its old and new text.
    """

    record: Mapping[str, Any]
    mark: Mark | None = None
    changes: tuple[tuple[str, list[Piece]], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """The commands of a category, which may be empty, and how many of them are listed."""

    category: str
    rows: list[Row] = field(default_factory=list)

    @property
    def number(self) -> int:
        """Return the number of commands, without those that are gone."""
        return sum(row.mark is not Mark.GONE for row in self.rows)


def rows_of(
    records: Iterable[Mapping[str, Any]], collection: str, overlay: Overlay | None
) -> list[Row]:
    """Return the records of a collection, and after them those that are gone."""
    if overlay is None:
        return [Row(record) for record in records]
    marks = overlay.marks.get(collection, {})
    rows = [_row(record, marks.get(record["id"])) for record in records]
    return [*rows, *(Row(record, Mark.GONE) for record in overlay.gone.get(collection, ()))]


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """Return the rows by category, each where its first command is listed."""
    groups: dict[str, Group] = {}
    for row in rows:
        category = row.record.get("category") or ""
        if category not in groups:
            groups[category] = Group(category)
        groups[category].rows.append(row)
    return [*groups.values()]


def _row(record: Mapping[str, Any], marked: Marked | None) -> Row:
    if marked is None:
        return Row(record)
    changes = (
        (name, difference(old, str(record.get(name) or ""))) for name, old in marked.before.items()
    )
    return Row(record, marked.mark, tuple(changes))
