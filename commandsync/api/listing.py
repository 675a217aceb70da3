"""What the service lists, as the entries that planning compares: the answer of a read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from commandsync.api.operations import Operation, list_records
from commandsync.records.snapshot import Entry
from commandsync.records.texts import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from commandsync.records.models import AnyRecord
    from commandsync.records.texts import Resource


def reading(bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:
    """Return the operation that reads one listed collection as entries."""
    operation = list_records(bot, resource)
    return replace(
        operation,
        read=lambda reply: _once(_entry(resource, record) for record in operation.read(reply)),
    )


def _entry(resource: Resource, record: AnyRecord) -> Entry:
    fields = (canonical(getattr(record, name)) for name in resource.fields)
    return Entry(resource.text(*fields), id=record.id)


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Keep one record of each id: a service that repeats a record still has it once."""
    seen: set[str] = set()
    kept = []
    for entry in entries:
        if entry.writable and entry.id in seen:
            continue
        seen.add(entry.id)
        kept.append(entry)
    return tuple(kept)
