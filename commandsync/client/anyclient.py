"""What the blocking and the asynchronous client share: other limits, and who has voted lately."""

from collections import OrderedDict
from contextlib import suppress
from copy import copy
from math import inf
from threading import Lock
from time import monotonic
from typing import Any, Self, get_args

from commandsync.api import arguments, operations
from commandsync.api.arguments import Id
from commandsync.api.refusals import RateLimit
from commandsync.client.events import Event, Reminder, Vote, unknown_event
from commandsync.client.threads import renew_in_children
from commandsync.errors import UsageError

_MOST_KEPT = 10_000


class RecentVotes:
    """Which users have voted, from answers and events of the last time; from any thread."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[float, bool | None]] = OrderedDict()
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Release the lock."""
        self._lock = Lock()

    def get(self, key: str, max_age: float) -> bool | None:
        """Return what was kept in the last seconds; None if it is older, or was not kept."""
        with self._lock:
            at, voted = self._known.get(key, (-inf, None))
        return voted if monotonic() - at < max_age else None

    def keep(self, key: str, voted: bool | None, *, asked: float = inf) -> None:  # noqa: FBT001 - the value
        """Keep whether a user has voted; None if it is unknown from now on.

        An answer does not replace what was kept after the service was `asked`, a time of the
        monotonic clock: the event of a vote may arrive before the answer.
        """
        with self._lock:
            at, _ = self._known.get(key, (-inf, None))
            if at > asked:
                return
            self._known.pop(key, None)
            self._known[key] = (monotonic(), voted)
            if len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)


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

    @staticmethod
    def _check_type(event: object) -> None:
        if event not in get_args(Event):
            raise unknown_event(getattr(event, "__name__", event))

    def _note(self, event: Event) -> None:
        if isinstance(event, Vote | Reminder):
            with suppress(UsageError):  # the bot or the user is unknown
                operation = operations.check_vote(event.bot.id or self.bot, event.user.id)
                self._votes.keep(operation.path, True if isinstance(event, Vote) else None)
