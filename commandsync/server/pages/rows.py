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
        anchor: Its place on the page.
        mark: The kind of its change; None if it has none.
        old_name: What a renamed record was called.
        changes: Each changed field, with the pieces of its old and new text.
    """

    record: Mapping[str, Any]
    anchor: str
    mark: Mark | None = None
    old_name: str = ""
    changes: tuple[tuple[str, list[Piece]], ...] = ()

    @property
    def title(self) -> str:
        """Return what the record is called."""
        return str(self.record.get("name") or self.record.get("title"))


@dataclass(frozen=True, slots=True)
class Group:
    """The commands of a category; its name is empty for those that have none."""

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
    kind = collection.removesuffix("s")
    if overlay is None:
        return [Row(record, f"{kind}-{record['id']}") for record in records]
    marks = overlay.marks.get(collection, {})
    rows = [_row(kind, record, marks.get(record["id"])) for record in records]
    gone = enumerate(overlay.gone.get(collection, ()), 1)
    return [*rows, *(Row(record, f"gone-{kind}-{n}", Mark.GONE) for n, record in gone)]


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """Return the rows by category, each where its first command is listed."""
    groups: dict[str, Group] = {}
    for row in rows:
        category = row.record.get("category") or ""
        if category not in groups:
            groups[category] = Group(category)
        groups[category].rows.append(row)
    return [*groups.values()]


def _row(kind: str, record: Mapping[str, Any], marked: Marked | None) -> Row:
    anchor = f"{kind}-{record['id']}"
    if marked is None:
        return Row(record, anchor)
    changes = (
        (name, difference(old, str(record.get(name) or ""))) for name, old in marked.before.items()
    )
    old_name = marked.before.get("name", "") if marked.mark is Mark.RENAMED else ""
    return Row(record, anchor, marked.mark, old_name, tuple(changes))
