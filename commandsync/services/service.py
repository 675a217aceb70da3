"""One listing service as a value, without its token: records one by one, or the whole list."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from commandsync.api.operations import Operation
from commandsync.errors import ArgumentError
from commandsync.records.facts import Answer, Facts, Limit, Reads, Source
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Abilities, AnnouncementText, CommandText, Resource, Text
from commandsync.services.abilities import LIST_ABILITIES

_OTHERWISE: Mapping[str, Answer | int] = {
    **dict.fromkeys(("write", "ids", "uses", "options", "announcements"), Answer.NO),
    **dict.fromkeys(("clear", "order", "most_records", "wait"), Answer.UNKNOWN),
    **dict.fromkeys(("most_sub_commands", "levels"), 0),
}


def facts_of(
    source: Source,
    takes: Iterable[str],
    limits: Mapping[str, Limit],
    /,
    **known: Answer | Reads | int,
) -> Facts:
    """Return what one source says: the fields of a command that are taken, limits, and the rest."""
    facts = {name: source.says(value) for name, value in {**_OTHERWISE, **known}.items()}
    fields = dict.fromkeys(Resource.COMMAND.fields[1:], source.says(Answer.NO))
    fields |= dict.fromkeys(takes, source.says(Answer.YES))
    return Facts(
        **facts,
        fields=MappingProxyType(fields),
        limits=MappingProxyType({name: source.says(limit) for name, limit in limits.items()}),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every service has."""

    name: str
    abilities: Abilities  # what can be planned for each kind of record
    facts: Facts  # what is known of it, with the sources
    authorization: str  # the header of this name, with `{token}`; empty for no header
    simulated_only: bool = False  # whether nobody has used it yet with this package
    # Returns what reads a collection of a bot; its arguments are the bot's id and the kind.
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordService(Service):
    """A service of records, which are written one by one.

    Of a bot's id and a kind, and then a record's id, its text or both, each returns what writes it.
    """

    add: Callable[[str, Resource, Text], Operation[str]]
    edit: Callable[[str, Resource, str, Text], Operation[str]]
    delete: Callable[[str, Resource, str], Operation[str]]


def _unreadable(bot: str, resource: Resource) -> Operation[tuple[Entry, ...]]:  # noqa: ARG001 - as of `Service.read`
    raise ArgumentError(f"the service does not return its list of {resource.collection}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListService(Service):
    """A service that takes the whole list of commands in one request.

    The paths of its operations begin after the host. Where one contains `{token}`, which no quoted
    part of a path can contain, the transport puts the token there.
    """

    origin: str  # its scheme and host
    # Returns what replaces the list, of a bot's id and the commands as `fit` returns them.
    replace: Callable[[str, Snapshot], Operation[None]]
    variables: tuple[str, ...] = ()  # of its token; the first one that is set counts
    names_bot: bool = True  # whether its requests name the bot; else the token decides
    own_bots: bool = False  # whether its bots have ids of their own: not the manifest's
    slash: bool = True  # whether it shows names with a `/` that is not sent
    unique: bool = True  # whether a name is sent once: a second could make it refuse the list
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]] = _unreadable
    # Returns what proves that the token is accepted, changes nothing, and reads whose it is, if the
    # answer says so; None where there is no such request.
    check: Callable[[], Operation[str]] | None = None
    # Returns what posts an announcement, of a category; None where it takes none.
    announce: Callable[[AnnouncementText, str], Operation[None]] | None = None


def managed(snapshot: Snapshot) -> tuple[CommandText, ...]:
    """Return the commands of a list; raises `ValueError` for one that is not managed.

    Such a list is never replaced by an empty one.
    """
    if not LIST_ABILITIES.keys() <= snapshot.collections.keys():
        raise ValueError("the commands are not managed: no list can be sent")
    return snapshot.commands
