"""One listing service as a value, without its token: records one by one, or the whole list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from commandsync.api.operations import Operation
from commandsync.errors import ArgumentError
from commandsync.records.facts import Facts
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import Abilities, AnnouncementText, CommandText, Resource, Text
from commandsync.services.abilities import LIST_ABILITIES


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What every service has.

    Attributes:
        name: What it is called.
        abilities: What can be planned for each kind of record.
        facts: What is known of it, with the sources.
        authorization: The header of this name, with `{token}` for the token; empty for no header.
        simulated_only: Whether nobody has used it yet with this package, except simulated.
        read: Returns what reads a collection of a bot; its arguments are the bot's id and the kind.
    """

    name: str
    abilities: Abilities
    facts: Facts
    authorization: str
    simulated_only: bool = False
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordService(Service):
    """A service of records, which are written one by one.

    Attributes:
        add: Returns what adds a record, and reads its id; the third argument is the text.
        edit: Returns what edits a record; the third argument is its id, the fourth the text.
        delete: Returns what deletes a record; the third argument is its id.
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

    Attributes:
        origin: Its scheme and host.
        replace: Returns what replaces the list; its arguments are the bot's id and the commands,
            as `fit` returns them.
        variables: The environment variables of its token, the first one that is set counts.
        names_bot: Whether its requests name the bot; where they do not, the token decides.
        own_bots: Whether its bots have ids of their own: the manifest's bot is another one.
        slash: Whether it shows names with a `/` that is not sent.
        unique: Whether a name is sent once: the second one could make it refuse the whole list.
        read: As of every service; raises `ArgumentError` where the list cannot be read.
        check: Returns what proves that the token is accepted, changes nothing, and reads whose it
            is, if the answer says so; None where there is no such request.
        announce: Returns what posts an announcement, of a category; None where it takes none.
    """

    origin: str
    replace: Callable[[str, Snapshot], Operation[None]]
    variables: tuple[str, ...] = ()
    names_bot: bool = True
    own_bots: bool = False
    slash: bool = True
    unique: bool = True
    read: Callable[[str, Resource], Operation[tuple[Entry, ...]]] = _unreadable
    check: Callable[[], Operation[str]] | None = None
    announce: Callable[[AnnouncementText, str], Operation[None]] | None = None


def managed(snapshot: Snapshot) -> tuple[CommandText, ...]:
    """Return the commands of a list; one that is not managed is never replaced by an empty one.

    Raises:
        ValueError: The snapshot has no list.
    """
    if not LIST_ABILITIES.keys() <= snapshot.collections.keys():
        raise ValueError("the commands are not managed: there is no list to send")
    return snapshot.commands
