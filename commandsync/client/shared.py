"""What the blocking and the asynchronous client share: their settings, and other limits."""

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from math import inf
from typing import Any, Self, TypeAlias

from commandsync.api import arguments, operations
from commandsync.api.address import Address
from commandsync.api.arguments import Id
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Send, Wait
from commandsync.api.refusals import RateLimit
from commandsync.client.events import Event, Reminder, Vote
from commandsync.client.secrecy import Secrecy
from commandsync.client.votes import RecentVotes
from commandsync.errors import UsageError
from commandsync.services.service import Service

OnWait: TypeAlias = Callable[[Operation[Any], Send | Wait | None], object]


class AnyConnection:
    """The service of a connection, and its limits.

    The time-out is in seconds, for one request from connecting to the last byte, at most 3,600.
    `retries` is how often an operation may be sent again, and `concurrency` the most requests in
    flight, unless connections share a gate. `jitter` returns a number from 0 to 1, which spreads
    the waits of many clients. `service` says how the token is sent.

    Attributes:
        deadline: Seconds for a whole call: for its place, its requests and all waits.
        on_wait: Called with an operation when it begins to wait: for its answer (`Send`) or for a
            retry (`Wait`), but not for its turn; and with None when it has ended.

    Raises:
        ArgumentError: A number is out of its bounds.
    """

    transport: Any  # what sends the requests, for copies with other limits as well

    def __init__(  # noqa: PLR0913 - the settings of a run
        self,
        address: Address,
        token: Token | None,
        *,
        timeout: float,
        retries: int,
        concurrency: int,
        jitter: Callable[[], float],
        service: Service,
    ) -> None:
        self.address = address
        self.token = token
        self.timeout = arguments.seconds("timeout", timeout)
        self.retries = arguments.number("retries", retries, least=0)
        self.concurrency = arguments.number("concurrency", concurrency, least=1)
        self.service = service
        self.secrecy = Secrecy(token, authorization=service.authorization)
        self.deadline = inf
        self.on_wait: OnWait = lambda *_: None
        self._jitter = jitter


class AnyClient:
    """A client of one bot over a connection."""

    connection: Any
    bot: str

    def __init__(self) -> None:
        self._votes = RecentVotes()

    def with_options(
        self,
        *,
        timeout: float | None = None,
        retries: int | None = None,
        deadline: float | None = None,
    ) -> Self:
        """Return a client with other limits that shares everything else with this one.

        Closing either closes both.

        Args:
            timeout: Seconds for one request, at most 3,600.
            retries: How often a request may be sent again, from 0.
            deadline: Seconds for a whole call, with all retries and waits: an interaction has 3.
        """
        client, connection = copy(self), copy(self.connection)
        client.connection = connection
        if timeout is not None:
            connection.timeout = arguments.seconds("timeout", timeout)
        if retries is not None:
            connection.retries = arguments.number("retries", retries, least=0)
        if deadline is not None:
            connection.deadline = arguments.seconds("deadline", deadline)
        return client

    @property
    def rate_limit(self) -> RateLimit | None:
        """The limit on requests that the service last reported; None if it never did."""
        limit: RateLimit | None = self.connection.transport.rate_limit
        return limit

    def _of(self, bot: Id | None) -> Id:
        return self.bot if bot is None else bot

    def _note(self, event: Event) -> None:
        if isinstance(event, Vote | Reminder):
            with suppress(UsageError):  # the bot or the user is unknown
                operation = operations.check_vote(event.bot.id or self.bot, event.user.id)
                self._votes.keep(operation.path, True if isinstance(event, Vote) else None)
