"""The baseline of a whole list: the knowledge of the list that a service shows now.

A plan of a list is compared with its baseline, and the rules of `ListPlan` follow from it. It is
one of five values, by what the list is known from. Each has the lists that may be shown: more than
one may be, where a request may have arrived or another machine may have sent its own.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, assert_never

from commandsync.diagnostics import Notice
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource

THE_LIST = "list"  # the name of what a service returns


class PossibleList(NamedTuple):
    """A list that a service may show."""

    commands: Snapshot  # its commands, as the service shows them
    digest: str  # of the request that sends it
    name: str = ""  # such as `the list sent on 2026-06-01 09:30 UTC`
    has_texts: bool = True  # whether more than the names of its commands is known
    is_elsewhere: bool = False  # whether only another machine may have sent it

    @property
    def size(self) -> int:
        """How many commands it has."""
        return len(self.commands.collections[Resource.COMMAND])


@dataclass(frozen=True, slots=True)
class _Baseline:
    """The fields of every baseline."""

    # A plan shows the changes to the first one, and counts the deletes of each.
    lists: tuple[PossibleList, ...] = ()

    @property
    def first(self) -> PossibleList | None:
        """The list that the changes are compared with; None if nothing is known."""
        return self.lists[0] if self.lists else None


@dataclass(frozen=True, slots=True)
class AsRead(_Baseline):
    """The list as the service returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfVersion(_Baseline):
    """The list of an earlier version of the manifest."""

    name: str  # the revision or the file


@dataclass(frozen=True, slots=True, kw_only=True)
class LastSent(_Baseline):
    """The list that was sent last, and those that may be shown in its place."""

    name: str  # when it was sent


@dataclass(frozen=True, slots=True)
class Unread(_Baseline):
    """Nothing before an apply: the service returns its list only with the token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(_Baseline):
    """Nothing that rules out another list; lists that may have arrived count all the same."""

    why: str = ""  # why nothing is known, where that is not usual
    accepted: bool = False  # whether the list may be replaced all the same
    error: Notice | None = None  # why it must not be: what was sent cannot be read or recorded

    @property
    def first(self) -> None:
        """Return None: there is no list that the changes are compared with."""
        return


Baseline: TypeAlias = AsRead | OfVersion | LastSent | Unread | Unknown


AS_READ = AsRead()
"""Of records, which are compared as they are listed."""


def name_of(baseline: Baseline) -> str:
    """Return the name of what a plan is compared with, in its documents; empty for nothing."""
    match baseline:
        case AsRead():
            return THE_LIST
        case OfVersion(name=name) | LastSent(name=name):
            return name
        case Unread() | Unknown():
            return ""
        case _:
            assert_never(baseline)
