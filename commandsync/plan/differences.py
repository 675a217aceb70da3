"""Differences between the names that a bot serves, its manifest's names, and listed names.

Only names are compared: a plan compares texts. They are folded, and a listed one may be cut.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from commandsync.plan.matching import starts_of
from commandsync.records.losses import MOST_NAMED
from commandsync.records.rewrites import folded, folded_start
from commandsync.records.texts import named


class Cell(StrEnum):
    """Whether a place has a command."""

    YES = "yes"
    NO = "no"
    NOT_MEANT = "not meant"  # the place cannot show it, or is not to have it
    NOT_READ = "not read"
    UNREADABLE = "cannot be read"


class Discrepancy(StrEnum):
    """How the places of a command differ."""

    NOT_SERVED = "not served"  # no place that serves commands has it
    NOT_LISTED = "not listed"  # the manifest or a listing does not have it
    GONE = "gone"  # only listings have it


@dataclass(frozen=True, slots=True)
class NamePlace:
    """Where commands are named."""

    name: str
    names: Sequence[str] = ()  # of its commands, as it has them
    not_meant: frozenset[str] = frozenset()  # the keys of names that it is not to have
    others: Cell = Cell.NO  # what is known of other names
    unread: str = ""  # why it was not read, or not in full
    failed: bool = False  # whether that is a failure


@dataclass(frozen=True, slots=True)
class ParityRow:
    """One command, and the cells of each place."""

    name: str
    cells: tuple[Cell, ...]
    differences: tuple[Discrepancy, ...]


@dataclass(frozen=True, slots=True)
class Parity:
    """The commands of a manifest, by its path, and of the other places."""

    manifest: str
    places: tuple[NamePlace, ...]
    rows: tuple[ParityRow, ...]

    @property
    def differing(self) -> tuple[ParityRow, ...]:
        """The commands that differ."""
        return tuple(row for row in self.rows if row.differences)

    def sentence(self, shown: Callable[[str], str] = str) -> str:
        """Return how many commands differ and the first names, each as it is `shown`."""
        parts = []
        for kind in Discrepancy:
            names = [shown(row.name) for row in self.rows if kind in row.differences]
            if names:
                parts.append(f"{len(names):,} {kind} ({named(names, most=MOST_NAMED)})")
        differing = f"{len(self.differing):,} of {len(self.rows):,} commands differ"
        return f"{differing}: {', '.join(parts)}" if parts else f"{differing} in what was read"


def key_of(name: str) -> str:
    """Return the key that the names of one command share; a leading `/` is not part of it."""
    return folded(name.removeprefix("/")) or folded(name)


def parity(
    manifest: str, own: NamePlace, *, served: Sequence[NamePlace], listed: Sequence[NamePlace] = ()
) -> Parity:
    """Compare the served names, the `own` ones of a manifest, and the listed ones."""
    names: dict[str, str] = {}
    own_keys = _keys(own, names)
    places = [
        *((place, _keys(place, names)) for place in served),
        (own, own_keys),
        *((place, _keys(place, names, may_cut=True)) for place in listed),
    ]
    rows = []
    for key, name in names.items():
        cells = tuple(_cell(key, place, keys) for place, keys in places)
        if Cell.YES in cells:
            rows.append(ParityRow(name, cells, _differences(cells, len(served))))
    return Parity(manifest, tuple(place for place, _ in places), tuple(rows))


def _keys(place: NamePlace, names: dict[str, str], *, may_cut: bool = False) -> Collection[str]:
    """Return the keys of a place's commands, and enter the names of those that are new.

    A place that `may_cut` names may list the beginning of a name that is known.
    """
    own = {key_of(name): name for name in place.names}
    cut = _cut(own, names) if may_cut else {}
    whole = own.keys() - cut.values()
    new = whole - names.keys()
    names |= {key: name for key, name in own.items() if key in new}
    return whole | cut.keys()


def _cut(own: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the known keys that begin with a listed name, with the key of that name."""
    starts = {folded_start(name): key for key, name in own.items() if key not in known}
    cuts = starts_of(known.keys() - own.keys(), starts)
    return {whole: starts[found[0]] for whole, found in cuts if found}


def _cell(key: str, place: NamePlace, own: Collection[str]) -> Cell:
    if key in place.not_meant and place.others is Cell.NO:
        return Cell.NOT_MEANT
    return Cell.YES if key in own else place.others


def _differences(cells: Sequence[Cell], served: int) -> tuple[Discrepancy, ...]:
    """Return the differences of a row, which begins with the cells of the served names."""
    if Cell.NO in cells and Cell.YES not in cells[: served + 1]:
        return (Discrepancy.GONE,)
    sides = {Discrepancy.NOT_SERVED: cells[:served], Discrepancy.NOT_LISTED: cells[served:]}
    return tuple(kind for kind, side in sides.items() if Cell.NO in side)
