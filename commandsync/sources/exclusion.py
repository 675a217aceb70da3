"""The commands that do not belong on a public list, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.sources.category import matches
from commandsync.sources.entry import Trait

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from commandsync.sources.entry import SourceEntry


@dataclass(frozen=True, slots=True)
class Excluded:
    """A command that is left out; the reason is the end of a sentence about it."""

    entry: SourceEntry
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The commands of a source, divided, both in its order."""

    kept: tuple[SourceEntry, ...]
    excluded: tuple[Excluded, ...]


def select(
    entries: Iterable[SourceEntry], *, patterns: Sequence[str] = (), wanted: Collection[Trait] = ()
) -> Selection:
    """Divide commands into those to list and those to leave out.

    Args:
        entries: The commands of a source.
        patterns: Patterns (`*`, `?`, `[...]`, upper and lower case alike) of names to leave out.
        wanted: The traits that do not leave a command out.
    """
    kept, excluded = [], []
    for entry in entries:
        if reason := _reason(entry, patterns, wanted):
            excluded.append(Excluded(entry, reason))
        else:
            kept.append(entry)
    return Selection(tuple(kept), tuple(excluded))


def _reason(entry: SourceEntry, patterns: Sequence[str], wanted: Collection[Trait]) -> str:
    for pattern in patterns:
        if matches(pattern, entry.name):
            return f"its name matches {pattern!r}"
    unwanted = [trait for trait in Trait if trait in entry.traits and trait not in wanted]
    return f"it is {' and '.join(unwanted)}" if unwanted else ""
