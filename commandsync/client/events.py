"""What can happen while a client listens: the service's own events, and its connection's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from commandsync.errors import ArgumentError

if TYPE_CHECKING:
    from commandsync.records.models import Account

EventName = Literal["ready", "vote", "reminder", "reconnecting", "reconnected"]
"""What events are called in the service interface."""

EVENT_NAMES = frozenset(get_args(EventName))


@dataclass(frozen=True, slots=True)
class Ready:
    """The gateway knows whose connection it is; sent after every connection.

    Attributes:
        bot: The bot that the token belongs to.
    """

    bot: Account
    name: EventName = "ready"


@dataclass(frozen=True, slots=True)
class Vote:
    """Somebody voted.

    Attributes:
        user: Who.
        bot: For which bot.
    """

    user: Account
    bot: Account
    name: EventName = "vote"


@dataclass(frozen=True, slots=True)
class Reminder:
    """Somebody may vote again.

    Attributes:
        user: Who.
        bot: For which bot.
    """

    user: Account
    bot: Account
    name: EventName = "reminder"


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection is lost, or could not be made; it is tried again until it is there.

    Attributes:
        code: The close code of the WebSocket, the HTTP status of a handshake that was refused, or
            1006 where there was neither.
        reason: Why, in words.
    """

    code: int
    reason: str
    name: EventName = "reconnecting"


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The connection is there again; what the service sent meanwhile is not sent again."""

    name: EventName = "reconnected"


Event = Ready | Vote | Reminder | Reconnecting | Reconnected


def checked_name(name: str) -> str:
    """Return the name of an event.

    Raises:
        ArgumentError: There is no such event.
    """
    if name not in EVENT_NAMES:
        raise ArgumentError(
            f"there is no event {name!r}", hint=f"one of: {', '.join(get_args(EventName))}"
        )
    return name
