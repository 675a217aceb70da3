"""What a bot serves, its manifest and its listings -> where the names of its commands differ.

Only names are compared: a plan compares texts. They are folded, and a listed one may be cut.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from commandsync.plan.losses import MOST_NAMED
from commandsync.plan.matching import starts_of
from commandsync.records.rewrites import folded, folded_start


class Role(Enum):
    """What it means that a place has a command; a command is called as the first role calls it."""

    MANIFEST = auto()
    SERVES = auto()
    LISTS = auto()


class Cell(StrEnum):
    """Whether a place has a command."""

    YES = "yes"
    NO = "no"
    NOT_MEANT = "not meant"  # the place cannot show it, or is not to have it
    NOT_READ = "not read"
    UNREADABLE = "cannot be read"


class Difference(StrEnum):
    """How the places of a command differ."""

    NOT_SERVED = "advertised and not served"
    NOT_LISTED = "served and not listed"
    GONE = "listed and gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where commands are named."""

    name: str
    role: Role
    names: Sequence[str] = ()  # of its commands, as it has them
    not_meant: frozenset[str] = frozenset()  # the keys of names that it is not to have
    others: Cell = Cell.NO  # what is known of other names
    unread: str = ""  # why it was not read, or not in full
    failed: bool = False  # whether that is a failure


@dataclass(frozen=True, slots=True)
class Row:
    """One command."""

    name: str
    cells: tuple[Cell, ...]  # of each place
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Parity:
    """The commands of some places."""

    manifest: str  # the path of the manifest
    places: tuple[Place, ...]
    rows: tuple[Row, ...]

    @property
    def differing(self) -> tuple[Row, ...]:
        """The commands that differ."""
        return tuple(row for row in self.rows if row.differences)

    def sentence(self, shown: Callable[[str], str] = str) -> str:
        """Return how many commands differ and the first names, each as it is `shown`."""
        total = f"{len(self.rows):,} command{'s' * (len(self.rows) != 1)}"
        parts = []
        for kind in Difference:
            names = [shown(row.name) for row in self.rows if kind in row.differences]
            more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
            if names:
                parts.append(f"{len(names):,} {kind} ({', '.join(names[:MOST_NAMED])}{more})")
        if not parts:
            return f"{total}, without a difference in what was read"
        verb = "differs" if len(self.differing) == 1 else "differ"
        return f"{len(self.differing):,} of {total} {verb}: {', '.join(parts)}"


def key_of(name: str) -> str:
    """Return what the names of one command have in common; a leading `/` is not part of it."""
    return folded(name.removeprefix("/")) or folded(name)


def parity(manifest: str, *places: Place) -> Parity:
    """Compare the names of places; the rows begin with the commands of the manifest."""
    names: dict[str, str] = {}
    keys: dict[int, set[str]] = {}
    for place in sorted(places, key=lambda each: each.role.value):
        own = {key_of(name): name for name in place.names}
        cut = _cut(own, names) if place.role is Role.LISTS else {}
        new = own.keys() - cut.values() - names.keys()
        keys[id(place)] = (own.keys() - cut.values()) | cut.keys()
        names |= {key: name for key, name in own.items() if key in new}
    rows = []
    for key, name in names.items():
        cells = tuple(_cell(key, place, keys[id(place)]) for place in places)
        if Cell.YES in cells:
            rows.append(Row(name, cells, _differences(cells, places)))
    return Parity(manifest, places, tuple(rows))


def _cut(own: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the known keys of which a listed name is the beginning, with the key of that name."""
    starts = {folded_start(name): key for key, name in own.items() if key not in known}
    cuts = starts_of(known.keys() - own.keys(), starts)
    return {whole: starts[found[0]] for whole, found in cuts if found}


def _cell(key: str, place: Place, own: set[str]) -> Cell:
    if key in place.not_meant and place.others is Cell.NO:
        return Cell.NOT_MEANT
    return Cell.YES if key in own else place.others


def _differences(cells: Sequence[Cell], places: Sequence[Place]) -> tuple[Difference, ...]:
    known = [(cell, place.role) for cell, place in zip(cells, places, strict=True)]
    lacking = {role for cell, role in known if cell is Cell.NO}
    if lacking and all(role is Role.LISTS for cell, role in known if cell is Cell.YES):
        return (Difference.GONE,)
    not_served = (Difference.NOT_SERVED,) * (Role.SERVES in lacking)
    return (*not_served, *(Difference.NOT_LISTED,) * bool(lacking - {Role.SERVES}))
