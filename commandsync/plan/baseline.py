"""The baseline of a whole list: what is known about the list that a service shows now.

A plan of a list is compared with its baseline, and the rules of `ListPlan` follow from it. It is
one of five values, by what the list is known from. Each has the lists that may be shown. More than
one may be, where another run may have sent its own. Of some only the number of commands is known.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self, TypeAlias

from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource

THE_LIST = "list"  # the name of what a service returns


class PossibleList(NamedTuple):
    """A list that a service may show."""

    size: int  # how many commands it has, at least
    digest: str = ""  # of the request that sends it; empty if that is not known
    commands: Snapshot | None = None  # as the service shows them; None if they are not known

    @classmethod
    def of(cls, commands: Snapshot, digest: str) -> Self:
        """Return the list of these commands."""
        return cls(len(commands.collections[Resource.COMMAND]), digest, commands)


@dataclass(frozen=True, slots=True)
class _Baseline:
    # A plan shows the changes to the first one.
    lists: tuple[PossibleList, ...] = ()

    @property
    def commands(self) -> Snapshot | None:
        """The commands of the list that the changes are compared with; None if none are known."""
        return self.lists[0].commands if self.lists else None

    @property
    def most_unnamed(self) -> int:
        """How many commands may be shown whose names are not known, so that no change has them."""
        return max((each.size for each in self.lists if each.commands is None), default=0)


@dataclass(frozen=True, slots=True)
class AsRead(_Baseline):
    """The list as the service returned it; no list before it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfVersion(_Baseline):
    """The list of an earlier version of the manifest."""

    name: str  # the revision or the file


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSent(_Baseline):
    """The list that was sent last."""

    name: str  # where that is known from


@dataclass(frozen=True, slots=True)
class Unread(_Baseline):
    """Nothing before an apply: the service returns its list only with the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_Baseline):
    """Nothing, or only how many commands were sent."""

    why: str = ""  # why an earlier version that was named is not compared; empty for none
    accepted: bool = False  # whether the list may be replaced all the same


Baseline: TypeAlias = AsRead | OfVersion | LastSent | Unread | Unknown


def name_of(baseline: Baseline) -> str:
    """Return the name of what a plan is compared with, in its documents; empty for nothing."""
    match baseline:
        case AsRead():
            return THE_LIST
        case OfVersion(name=name) | LastSent(name=name):
            return name
        case Unread() | Unknown():
            return ""
