"""The common part of the blocking and the asynchronous client: settings, and known votes.

Whether a user has voted is kept for the last users, from answers and from events, so that
`has_voted` seldom asks the service.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from copy import copy
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, get_args

from commandsync.api import arguments, operations
from commandsync.api.arguments import Id, parse_address
from commandsync.api.content import RateLimit
from commandsync.api.credentials import Token
from commandsync.client import ClientSettings, async_extra
from commandsync.client.events import (
    AnyReader,
    AsyncReader,
    Buffer,
    Event,
    Reminder,
    Vote,
    unknown_event,
)
from commandsync.client.subscription import Subscription
from commandsync.errors import UsageError

if TYPE_CHECKING:
    import aiohttp
    import requests

Reading = TypeVar("Reading", bound=AnyReader)

_MOST_KEPT = 10_000  # users whose votes are known


class AnyClient:
    """A client of one bot over a connection.

    Attributes:
        bot: The bot's id, used where a method is not given another one; empty if it is unknown.
        connection: The connection to the service.
    """

    bot: str
    connection: Any
    _handlers: Any
    _kinds: Callable[[], tuple[Any, Any]]  # returns the types of these two
    _jitter: Callable[[], float] = staticmethod(random.random)
    _sleep: Callable[[float], Awaitable[object]] = staticmethod(asyncio.sleep)

    def __init__(  # noqa: PLR0913 - the token, the service, and the settings of a run
        self,
        token: str | Token | None,
        base_url: str,
        *,
        bot: Id | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        insecure_http: bool = False,
        event_buffer: int = 1_000,
        session: requests.Session | aiohttp.ClientSession | None = None,
    ) -> None:
        """Check the arguments; nothing is sent.

        Args:
            token: The bot's token; None for a client that only reads.
            base_url: The service's URL, without `/v1`.
            bot: The bot's id; read from the token when it is not given. As all ids, it is a string,
                a number, or an object whose `id` is a number, such as a discord.py user.
            timeout: Seconds for one request, at most 3,600.
            retries: How often a request may be sent again, from 0.
            concurrency: Most requests in flight, from 1.
            insecure_http: Allow plain http to another machine.
            event_buffer: Most events that are kept for a slow reader, from 1.
            session: Lends its proxies, certificates and headers, as they are now, and stays open:
                one of requests or of aiohttp.

        Raises:
            UsageError: The token or the base URL is not valid, or an asynchronous client lacks the
                extra `[async]`; as `ArgumentError`, another argument is not valid.
            PlainHttpError: The base URL is plain http to another machine.
        """
        connection, handlers = self._kinds()
        secret = token if isinstance(token, Token | None) else Token(token)
        self.connection = connection(
            parse_address(base_url, insecure_http=insecure_http),
            secret,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            session=session,
        )
        owner = secret.bot if secret else ""
        self.bot = owner if bot is None else arguments.identifier("bot", bot)
        size = arguments.number("event_buffer", event_buffer, least=1)
        self._handlers = handlers(size)
        self._buffer = Buffer(size, self._note)
        self._votes: dict[str, tuple[float, bool | None]] = {}  # when it was learned, by path

    @classmethod
    def from_env(cls, **settings: Unpack[ClientSettings]) -> Self:
        """Return a client with the token and the service of the environment.

        They are in COMMANDSYNC_TOKEN and COMMANDSYNC_BASE_URL, and the bot's id, if it is not that
        of the token, in COMMANDSYNC_BOT. The arguments are the constructor's.

        Raises:
            UsageError: One of the two is not set; or as the constructor does.
        """
        names = ("COMMANDSYNC_TOKEN", "COMMANDSYNC_BASE_URL")
        for name in names:
            if not os.environ.get(name):
                hint = "set it, or use the constructor"
                raise UsageError(f"the variable {name} is not set", hint=hint)
        token, base_url = map(os.environ.__getitem__, names)
        return cls(token, base_url, bot=os.environ.get("COMMANDSYNC_BOT") or None, **settings)

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

    @staticmethod
    def _check_type(event: object) -> None:
        if event not in get_args(Event):
            raise unknown_event(getattr(event, "__name__", event))

    def _joined(self, reader: Reading) -> Reading:
        """Return a reader after it has joined the others; the first one starts the stream."""
        self.connection.check_process()
        with async_extra("events need"):
            from commandsync.client.stream import AsyncStream, Stream  # noqa: PLC0415 - an extra

        def stream() -> AsyncStream | Stream:
            subscription = Subscription(
                bot=self.bot, jitter=self._jitter, secrecy=self.connection.secrecy
            )
            parts = subscription.steps(), self.connection, self._buffer
            if isinstance(reader, AsyncReader):
                return AsyncStream(*parts, sleep=self._sleep)
            return Stream(*parts, sleep=self._sleep)

        self._buffer.join(reader, stream)
        return reader

    def _note(self, event: Event) -> None:
        if isinstance(event, Vote | Reminder):
            with suppress(UsageError):  # the bot or the user is unknown
                operation = operations.check_vote(event.bot.id or self.bot, event.user.id)
                self._keep_vote(operation.path, True if isinstance(event, Vote) else None)

    def _kept_vote(self, user: Id, max_age: float) -> bool | None:
        """Return the kept answer if it is younger than `max_age` seconds, else None."""
        path = operations.check_vote(self.bot, user).path
        at, voted = self._votes.get(path, (-inf, None))
        return voted if monotonic() - at < max_age else None

    def _keep_vote(self, path: str, voted: bool | None, *, asked: float = inf) -> None:  # noqa: FBT001 - the value
        """Keep whether a user has voted; None if it is unknown from now on.

        An answer is dropped if something was kept after the service was `asked`, a time of the
        monotonic clock: the event of a vote may arrive before the answer.
        """
        with self._buffer.changed:  # another thread may keep it too
            if self._votes.get(path, (-inf, None))[0] > asked:
                return
            self._votes.pop(path, None)
            self._votes[path] = (monotonic(), voted)
            if len(self._votes) > _MOST_KEPT:
                del self._votes[next(iter(self._votes))]
