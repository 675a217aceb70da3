"""Snapshots: the records of one side, the manifest or a list of a service, at one moment."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from commandsync.diagnostics import Location
from commandsync.records.texts import CommandText, Resource, Text

Identity = str | tuple[Text, int]
"""What tells a listed record from the others: its id; without a usable one, its text and which of
the equal ones it is."""

Node = Mapping[str, Any]
"""An object of a platform: a command, or one of its options."""

Levels = tuple[Node, ...]
"""The platform's own objects of a command, from the outermost group down to itself."""


class Phase(StrEnum):
    """Where in its schedule an entry is at a time."""

    DUE = "due"  # it is to be listed, as an entry without a schedule always is
    ENDED = "ended"  # its `until` has passed: it is not to be listed any more
    WAITING = "waiting"  # its `publish` has not come: it is not to be listed yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When an entry is to be listed."""

    publish: datetime | None = None  # from this time on, in UTC; None for always
    until: datetime | None = None  # up to this time, after `publish`, in UTC; None for no end

    def phase(self, now: datetime) -> Phase:
        """Return the phase at a time; each begins with its very second."""
        if self.until is not None and self.until <= now:
            return Phase.ENDED
        is_early = self.publish is not None and now < self.publish
        return Phase.WAITING if is_early else Phase.DUE

    def is_apart_from(self, other: Self) -> bool:
        """Whether one of the two has ended when the other begins."""
        pairs = (self.until, other.publish), (other.until, self.publish)
        return any(end is not None and begin is not None and end <= begin for end, begin in pairs)


def shown_time(time: datetime) -> str:
    """Return a time in UTC for people: `2026-12-01 18:00 UTC`, with its seconds if it has any."""
    return f"{time:%Y-%m-%d %H:%M:%S}".removesuffix(":00") + " UTC"


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or announcement on one side, every field `canonical`."""

    text: Text  # its text, every field `canonical`
    id: str = ""  # the service's identifier; on the desired side the pin; empty when there is none
    location: Location | None = None  # where the manifest defines it; None on the listed side
    formerly: tuple[str, ...] = ()  # names it had before, canonical (desired commands only)
    uses: int | None = None  # how often it was used (desired: as a backup notes it), if known
    schedule: Schedule | None = None  # when it is to be listed (desired side); None for always
    own: Levels = field(default=(), compare=False)  # as a service is sent it; empty for none

    def phase(self, now: datetime | None) -> Phase:
        """Return where in its schedule it is at a time; without a schedule it is always due.

        Raises `ValueError` if it has a schedule, and there is no time.
        """
        if self.schedule is None:
            return Phase.DUE
        if now is None:
            raise ValueError(f"{self.name!r} has a schedule: a time is necessary")
        return self.schedule.phase(now)

    @property
    def name(self) -> str:
        """What people call it by: a command's name, an announcement's title."""
        return self.text[0]

    @property
    def writable(self) -> bool:
        """Whether its id can be part of a path: `""`, `.` and `..` would address something else."""
        return self.id.strip() not in {"", ".", ".."}


class Audience(NamedTuple):
    """The scope and the language of a list, of a service that has a list for each of them."""

    scope: str
    language: str = ""  # two letters; empty for users of all languages without a list of their own


def labelled(service: str, audience: Audience | None) -> str:
    """Return the title of a list: `telegram`, or `telegram (all_private_chats, de)`."""
    words = ", ".join(word for word in audience or () if word not in {"", "default"})
    return f"{service} ({words})" if words else service


class Snapshot(NamedTuple):
    """The managed collections of one side, with their entries in order.

    A collection that is absent is not managed (desired side) or was not read (listed side).
    """

    collections: Mapping[Resource, tuple[Entry, ...]] = MappingProxyType({})

    @property
    def scope(self) -> tuple[Resource, ...]:
        """The collections that are present, in the order of `Resource`."""
        return tuple(resource for resource in Resource if resource in self.collections)

    @property
    def commands(self) -> tuple[CommandText, ...]:
        """The texts of the commands, in their order; none where commands are not managed."""
        entries = self.collections.get(Resource.COMMAND, ())
        return tuple(entry.text for entry in entries if isinstance(entry.text, CommandText))

    def due(self, now: datetime) -> "Snapshot":
        """Return the entries that are to be listed at a time."""
        return Snapshot(
            {
                resource: tuple(entry for entry in entries if entry.phase(now) is Phase.DUE)
                for resource, entries in self.collections.items()
            }
        )


def by_identity(entries: Iterable[Entry]) -> dict[Identity, Text]:
    """Return the texts of listed records by what tells them apart, in their order."""
    texts: dict[Identity, Text] = {}
    without_id: Counter[Text] = Counter()
    for entry in entries:
        if entry.writable:
            texts[entry.id] = entry.text
        else:
            texts[entry.text, without_id[entry.text]] = entry.text
            without_id[entry.text] += 1
    return texts
