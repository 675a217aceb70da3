"""What the service lists, as the entries that planning compares: the answer of a read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commandsync.api.operations import Operation, list_records
from commandsync.errors import Reply
from commandsync.records.snapshot import Entry
from commandsync.records.texts import Resource, canonical

if TYPE_CHECKING:
    from commandsync.records.models import Record


_MOST_USES = 2**63  # a service that answers more has lost count


def reading(bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:
    """Return the operation that reads one listed collection as entries."""
    operation = list_records(bot, resource)

    def read(reply: Reply) -> tuple[Entry, ...]:
        entries: dict[object, Entry] = {}
        for record in operation.read(reply):
            fields = (canonical(getattr(record, name)) for name in resource.fields)
            entry = Entry(resource.text(*fields), id=record.id, uses=_uses(record))
            # Of each usable id, one: a service that repeats a record still has it once.
            entries.setdefault(entry.id if entry.writable else object(), entry)
        return tuple(entries.values())

    return replace(operation, read=read)


def _uses(record: Record) -> int | None:
    """Return the counter of a record; None where it has none that can be shown."""
    uses = getattr(record, "uses", None)
    return uses if uses is not None and 0 <= uses < _MOST_USES else None
