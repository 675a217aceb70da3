"""The steps of a client that listens: connect, listen, wait, read voters (a pure generator).

It runs until it is closed or the token is refused. A driver carries out each step and returns the
result, so that every decision about a lost connection is made here.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from commandsync.api.answers import acknowledged
from commandsync.api.operations import LARGEST_PAGE, list_voters
from commandsync.api.paging import Paging
from commandsync.api.policy import Wait
from commandsync.api.refusals import refused
from commandsync.client.events import Event, Reconnected, Reconnecting, Vote
from commandsync.client.gateway import Ended, Say, Session
from commandsync.errors import (
    ApiError,
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    RateLimited,
    Reply,
    TransportError,
    Unauthorized,
)
from commandsync.records.models import Account

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TypeVar

    from commandsync.api.operations import Operation
    from commandsync.client.secrecy import Secrecy
    from commandsync.records.models import Voter

    T = TypeVar("T")
    Steps: TypeAlias = "Generator[WatchStep, Any, T]"

_log = logging.getLogger("commandsync.client")

POLL = 60.0
"""Seconds between two reads of the voters, if there is no gateway."""

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_ABNORMAL = 1006
_BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class Open:
    """Open the gateway with this query; the result is True, a `Reply` or a `TransportError`."""

    query: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Listen:
    """Wait so many seconds for a frame; the result is a frame, a `Closed`, or None for silence."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The WebSocket was closed."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Carry out an operation; the result is its value or the `ListingError`."""

    operation: Operation[Any]


WatchStep = Open | Listen | Say | Ask | Wait | Event
"""The next step of the driver; an event is yielded to the caller."""


def pause(failures: int, jitter: float) -> float:
    """Return the seconds to wait before the next attempt: at random, over a span that doubles.

    Args:
        failures: How many attempts have failed since the last good connection.
        jitter: From 0 to 1.
    """
    span: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failures + 1, 10))
    return _FIRST_WAIT + jitter * (span - _FIRST_WAIT)


class Watch:
    """One stream of events.

    Args:
        bot: The bot whose voters are read if there is no gateway; empty if it is unknown.
        jitter: Returns a number from 0 to 1; spreads the attempts of many clients.
        secrecy: Hides the token in what the gateway sends.
    """

    def __init__(self, *, bot: str, jitter: Callable[[], float], secrecy: Secrecy) -> None:
        self._bot = bot
        self._secrecy = secrecy
        self._jitter = jitter
        self._failures = 0
        self._worked = False  # whether it has ever worked
        self._reconnecting = False  # whether `reconnecting` was yielded, and `reconnected` not yet
        self._version: tuple[tuple[str, str], ...] = (("EIO", "4"),)

    def steps(self) -> Steps[None]:
        """Run until closed.

        Yields:
            The steps of the driver.

        Raises:
            Unauthorized: The token is refused.
            ListingError: The first attempt failed, and a retry cannot help.
            UsageError: There is no gateway, and the bot whose voters to read is unknown.
        """
        while True:
            answer = yield Open((*self._version, ("transport", "websocket")))
            error = _failure(answer)
            if error is None:
                ended = yield from self._listen()
                if ended.refused:
                    raise _refused(ended, with_token=self._secrecy.known)
                yield from self._lost(ended.code, ended.reason)
            elif self._version and isinstance(error, Invalid) and error.status == _BAD_REQUEST:
                self._version = ()  # like the published client, which sends no version
            elif isinstance(error, NotFound) and not self._worked:
                yield from self._poll()
            else:
                yield from self._failed(error)

    def _listen(self) -> Steps[Ended]:
        session = Session(greet=bool(self._version), hide=self._secrecy.hide)
        while True:
            frame = yield Listen(session.patience)
            if isinstance(frame, str | bytes):
                meaning = session.receive(frame)
            elif isinstance(frame, Closed):
                meaning = session.closed(frame.code, frame.reason)
            else:
                meaning = session.silence()
            if session.established and not isinstance(meaning, Ended):
                yield from self._restored(heard=session.heard)
            if isinstance(meaning, Ended):
                return meaning
            if meaning is not None:
                yield meaning

    def _restored(self, *, heard: bool) -> Steps[None]:
        self._worked = True
        if heard:
            self._failures = 0
        if self._reconnecting:
            self._reconnecting = False
            yield Reconnected()

    def _failed(self, error: ListingError) -> Steps[None]:
        if isinstance(error, Unauthorized | Forbidden) or (not self._worked and _lasting(error)):
            raise error
        code = error.status if isinstance(error, ApiError) else _ABNORMAL
        seconds = error.retry_after if isinstance(error, RateLimited) else None
        yield from self._lost(code, error.message, least=seconds or 0.0)

    def _lost(self, code: int, reason: str, *, least: float = 0.0) -> Steps[None]:
        if not self._reconnecting:
            self._reconnecting = True
            _log.warning("the connection for events is lost: %s (%d)", reason, code)
            yield Reconnecting(code, reason)
        seconds = max(pause(self._failures, self._jitter()), min(least, _LONGEST_WAIT))
        self._failures += 1
        _log.debug("the gateway is retried in %.1f s: %s (%d)", seconds, reason, code)
        yield Wait(seconds)

    def _poll(self) -> Steps[None]:
        """Read the voters again and again, and yield a vote for each new one.

        A voter in either of the last two reads is not new: between two pages of one read an entry
        may move from one to the other, and a vote must not be invented.
        """
        list_voters(self._bot)  # raises if the bot is unknown
        _log.warning(
            "the service has no gateway: its voters are read every %g s, which shows only votes",
            POLL,
        )
        seen: set[str] | None = None
        before: set[str] = set()
        while True:
            voters = yield from self._voters()
            if isinstance(voters, ListingError):
                yield from self._failed(voters)
                continue
            yield from self._restored(heard=True)
            if seen is not None:
                for identifier in voters.keys() - seen - before:
                    yield Vote(voters[identifier], Account(id=self._bot))
            before, seen = seen or set(), set(voters)
            yield Wait(POLL)

    def _voters(self) -> Steps[dict[str, Voter] | ListingError]:
        voters: dict[str, Voter] = {}
        paging = Paging(list_voters(self._bot, page=1, limit=LARGEST_PAGE))
        while not paging.over:
            page = yield Ask(paging.operation)
            if isinstance(page, ListingError):
                return page
            voters |= {voter.id: voter for voter in paging.take(page.voters, page.queries)}
        return voters


def _failure(answer: Reply | TransportError | bool) -> ListingError | None:  # noqa: FBT001 - the driver's answer
    """Return the reason for a missing WebSocket; None if it is open."""
    if isinstance(answer, bool):
        return None
    if isinstance(answer, TransportError):
        return answer
    try:
        acknowledged(answer)
    except ListingError as error:
        return error
    return Invalid("the answer to the gateway's handshake is not a WebSocket", reply=answer)


def _lasting(error: ListingError) -> bool:
    """Whether a retry cannot help."""
    if isinstance(error, TransportError):
        return error.lasting
    return isinstance(error, Invalid | NotFound | DecodeError)


def _refused(ended: Ended, *, with_token: bool) -> ListingError:
    # a WebSocket has no status
    reply = Reply(status=401, body=ended.reason.encode(), with_token=with_token)
    return refused(reply, f"{ended.code}: {ended.reason}", by="gateway")
