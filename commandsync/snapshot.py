"""One side, desired or listed, at one moment: what the manifest says or what the service shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from commandsync.operations import Operation, list_announcements, list_commands
from commandsync.texts import AnnouncementText, CommandText, Resource, Text, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from commandsync.errors import Reply
    from commandsync.location import Location
    from commandsync.models import Announcement, Command

__all__ = [
    "AnnouncementText",
    "CommandText",
    "Entry",
    "Identity",
    "Resource",
    "Snapshot",
    "Text",
    "by_identity",
    "canonical",
    "reading",
]

Identity = str | tuple[Text, int]
"""What tells a listed record from the others: its id; without a usable one, its text and which of
the equal ones it is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or announcement on one side.

    Attributes:
        text: Its text, every field `canonical`.
        id: The service's identifier; on the desired side the pin; empty when there is none.
        location: Where the manifest says it; None on the listed side.
        formerly: Names it had before, canonical (desired commands only).
    """

    text: Text
    id: str = ""
    location: Location | None = None
    formerly: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What people call it by: a command's name, an announcement's title."""
        return self.text[0]

    @property
    def writable(self) -> bool:
        """Whether its id can stand in a path: `""`, `.` and `..` would address something else."""
        return self.id not in {"", ".", ".."}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The managed collections of one side.

    Attributes:
        collections: The entries of each collection, in their order. A collection that is absent is
            not managed (desired side) or was not read (listed side): never touched.
    """

    collections: Mapping[Resource, tuple[Entry, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    @property
    def scope(self) -> tuple[Resource, ...]:
        """The collections that are present, in the order of `Resource`."""
        return tuple(resource for resource in Resource if resource in self.collections)


def by_identity(entries: Iterable[Entry]) -> dict[Identity, Text]:
    """Return the texts of listed records by what tells them apart, in their order."""
    found: dict[Identity, Text] = {}
    nameless: Counter[Text] = Counter()
    for entry in entries:
        if entry.writable:
            found[entry.id] = entry.text
        else:
            found[entry.text, nameless[entry.text]] = entry.text
            nameless[entry.text] += 1
    return found


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
