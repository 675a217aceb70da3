"""One side, desired or listed, at one moment: what the manifest says or what the service shows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from commandsync.records.texts import Resource, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from commandsync.diagnostics import Location

Identity = str | tuple[Text, int]
"""What tells a listed record from the others: its id; without a usable one, its text and which of
the equal ones it is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or announcement on one side, every field `canonical`.

    On the desired side the id is the pin, and `formerly` are the names it had before; on the listed
    side there is no location.
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
        """Whether its id can be part of a path: `""`, `.` and `..` would address something else."""
        return self.id.strip() not in {"", ".", ".."}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The managed collections of one side, with their entries in order.

    A collection that is absent is not managed (desired side) or was not read (listed side).
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
