"""The events that a client yields: those of the service, and those of its own connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from commandsync.errors import ArgumentError
from commandsync.records.models import Account

EventName = Literal["ready", "vote", "reminder", "reconnecting", "reconnected"]
"""The names of events in the service interface."""


def _raw() -> Any:  # noqa: ANN401 - a field, typed where it is used
    return field(default_factory=dict, repr=False, compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Ready:
    """The gateway has accepted the connection; sent after every connection.

    Attributes:
        bot: The bot that the token belongs to.
        raw: The data as the service sent it, without the token.
    """

    bot: Account
    raw: Mapping[str, object] = _raw()
    name: EventName = "ready"


@dataclass(frozen=True, slots=True)
class Vote:
    """Somebody voted.

    Attributes:
        user: The voter.
        bot: The bot; its id is empty if the service did not send it.
        caught_up: Whether the vote was read from the list of voters, because the connection was
            lost when the service sent the event.
        raw: The data as the service sent it, without the token; empty if it was caught up.
    """

    user: Account
    bot: Account
    caught_up: bool = False
    raw: Mapping[str, object] = _raw()
    name: EventName = "vote"


@dataclass(frozen=True, slots=True)
class Reminder:
    """Somebody may vote again.

    Attributes:
        user: The voter.
        bot: The bot; its id is empty if the service did not send it.
        raw: The data as the service sent it, without the token.
    """

    user: Account
    bot: Account
    raw: Mapping[str, object] = _raw()
    name: EventName = "reminder"


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection is lost, or could not be made; it is retried until it is restored.

    Attributes:
        code: The close code of the WebSocket, the HTTP status of a refused handshake, or 1006 if
            there was neither.
        reason: The reason, as text.
    """

    code: int
    reason: str
    name: EventName = "reconnecting"


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The connection is restored; only votes sent in the meantime can be caught up."""

    name: EventName = "reconnected"


UserEvent = Vote | Reminder
"""What the service sends about a user and a bot."""

USER_EVENTS: Mapping[str, type[UserEvent]] = {"vote": Vote, "reminder": Reminder}

Event = Ready | UserEvent | Reconnecting | Reconnected


def event_name(event: object) -> str:
    """Return the name of an event by its name, its type, or a function `on_vote` or `vote`."""
    name = event if isinstance(event, str) else getattr(event, "__name__", repr(event))
    name = name if isinstance(event, str) else name.lower().removeprefix("on_")
    if name not in get_args(EventName):
        raise unknown_event(name)
    return name


def unknown_event(name: object) -> ArgumentError:
    """Return the error about what is not an event."""
    names = ", ".join(get_args(EventName))
    return ArgumentError(f"{name!r} is not an event", hint=f"one of: {names}")
