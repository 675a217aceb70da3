"""What the service lists, as the entries that planning compares: the answer of a read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from commandsync.api.operations import Operation, list_announcements, list_commands
from commandsync.records.snapshot import Entry
from commandsync.records.texts import AnnouncementText, CommandText, Resource, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commandsync.errors import Reply
    from commandsync.records.models import Announcement, Command


def reading(bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:
    """Return the operation that reads one listed collection as entries."""
    if resource is Resource.COMMAND:
        commands = list_commands(bot)
        return _as_entries(commands, lambda reply: map(_command, commands.read(reply)))
    announcements = list_announcements(bot)
    return _as_entries(announcements, lambda reply: map(_announcement, announcements.read(reply)))


def _as_entries(
    operation: Operation[Any], entries: Callable[[Reply], Iterable[Entry]]
) -> Operation[tuple[Entry, ...]]:
    return replace(operation, read=lambda reply: _once(entries(reply)))


def _command(record: Command) -> Entry:
    text = (record.name, record.description, record.syntax, record.category)
    return Entry(CommandText(*map(canonical, text)), id=record.id)


def _announcement(record: Announcement) -> Entry:
    text = AnnouncementText(canonical(record.title), canonical(record.description))
    return Entry(text, id=record.id)


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
