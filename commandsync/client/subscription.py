"""The subscription of a client to the events of its bot: connect, listen, wait, catch up.

It is a pure generator, which runs until it is closed or the token is refused. A driver (`stream`)
carries out each step and returns its result, so that every decision about a lost connection is made
here. After each connection the voters are read, and the votes that were cast in the meantime are
yielded; a `Tally` knows which of them are new. Without a gateway the voters are read every minute.
"""

import logging
import math
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from time import monotonic
from typing import Any, TypeAlias, TypeVar

from commandsync import errors
from commandsync.api.content import refused
from commandsync.api.operations import LARGEST_PAGE, Operation, acknowledged, list_voters
from commandsync.api.policy import Paging, Wait
from commandsync.client.events import Event, Ready, Reconnected, Reconnecting, Vote
from commandsync.client.gateway import ABNORMAL, Ended, Say, Session
from commandsync.client.request import Secrecy
from commandsync.records.models import Account, Voter

T = TypeVar("T")

_log = logging.getLogger("commandsync.client")

_NO_GATEWAY = "the service has no gateway: its voters are read every %g s, which shows only votes"
_NOT_CAUGHT_UP = "missed votes cannot be caught up: %s"
POLL = 60.0
"""Seconds between two reads of the voters, if there is no gateway."""

_FIRST_WAIT, _LONGEST_WAIT = 1.0, 60.0
_BAD_QUERY = 400  # the status
_MOST_REFUSALS = 5  # in a row, of a token that was accepted before
_LONGEST_READ = 10.0  # seconds for the voters of a gap: no frame is read meanwhile
_MOST_AT_FIRST = 1_000  # voters, before any vote was missed
_MOST_SEEN = 10_000  # votes that are remembered
_ROW = 10  # voters that identify a place in a list without times
_LATE = 10.0  # seconds in which the event of a vote may arrive that the list contained already


@dataclass(frozen=True, slots=True)
class Open:
    """Open the gateway with this query; the result is True, a `Reply` or a `TransportError`."""

    query: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Listen:
    """Wait so many seconds for a frame; the result is a frame, an `Ended`, or None for silence."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Ask:
    """Carry out an operation; the result is its value or a `Failure`."""

    operation: Operation[Any]


SubscriptionStep = Open | Listen | Say | Ask | Wait | Event
"""The next step of the driver; an event is yielded to the caller."""

Seen: TypeAlias = tuple[str, datetime | None]
"""A vote that was seen: its voter, and its time, which events and some lists do not have."""

Steps: TypeAlias = Generator[SubscriptionStep, Any, T]


def pause(failures: int, jitter: float) -> float:
    """Return the seconds before the next attempt: at random, over a span that doubles.

    The failures are those since the last good connection; the jitter is from 0 to 1.
    """
    span: float = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(failures + 1, 10))
    return _FIRST_WAIT + jitter * (span - _FIRST_WAIT)


class Subscription:
    """One subscription.

    It reads the voters of `bot`, or of the bot that the gateway reports if `bot` is empty. `jitter`
    returns a number from 0 to 1, which spreads the attempts of many clients.
    """

    def __init__(
        self,
        *,
        bot: str,
        jitter: Callable[[], float],
        secrecy: Secrecy,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._bot = bot
        self._secrecy = secrecy
        self._jitter = jitter
        self._clock = clock
        self._tally = Tally(clock)
        self._failures = 0
        self._refusals = 0  # of the token, in a row
        self._worked = False  # whether it has ever worked
        self._connected = False  # whether there was a connection to catch up on
        self._ready = False  # whether the gateway has ever sent an event
        self._polling = False  # whether the voters are read in place of the gateway
        self._reconnecting = False  # whether `reconnecting` was yielded, and `reconnected` not yet
        self._version: tuple[tuple[str, str], ...] = (("EIO", "4"),)

    def steps(self) -> Steps[None]:
        """Run until closed; raises as `events` of a client does."""
        while True:
            answer = yield Open((*self._version, ("transport", "websocket")))
            error = _failure(answer)
            if error is None:
                yield from self._ended((yield from self._listen()))
            elif self._version and isinstance(error, errors.Invalid) and error.status == _BAD_QUERY:
                self._version = ()  # like the published client, which sends no version
            elif isinstance(error, errors.NotFound) and (self._polling or not self._worked):
                yield from self._poll()
            else:
                yield from self._failed(error)

    def _ended(self, ended: Ended) -> Steps[None]:
        """Wait after the end of a connection; raises `Unauthorized` if the token is refused."""
        is_refusal = ended.refusals > 0 and not self._ready
        self._refusals = self._refusals + 1 if is_refusal else 0
        if is_refusal and self._refusals >= ended.refusals:
            reply = errors.Reply(401, ended.reason.encode(), with_token=self._secrecy.known)
            raise refused(reply, f"{ended.code}: {ended.reason}", by="gateway")
        yield from self._lost(ended.code, ended.reason)

    def _listen(self) -> Steps[Ended]:
        """Yield the events of one connection until it ends, and return its end."""
        session = Session(greet=bool(self._version), secrecy=self._secrecy, clock=self._clock)
        caught_up = False
        while True:
            if (ping := session.ping()) is not None:
                yield ping
            frame = yield Listen(session.patience)
            meaning: Event | Say | Ended | None
            if isinstance(frame, str | bytes):
                meaning = session.receive(frame)
            elif isinstance(frame, Ended):
                meaning = session.ended(frame.code, frame.reason)
            else:
                meaning = session.silence()
            if isinstance(meaning, Ended):
                return meaning
            if session.established:
                yield from self._restored(heard=session.heard)
            if isinstance(meaning, Say):
                yield meaning
            elif meaning is not None:
                yield from self._received(meaning)
                if not caught_up:
                    caught_up = True
                    yield from self._catch_up()

    def _received(self, event: Event) -> Steps[None]:
        """Yield an event of the gateway, unless it is a vote that was caught up."""
        self._ready, self._polling = True, False
        if isinstance(event, Ready):
            self._bot = self._bot or event.bot.id
        elif isinstance(event, Vote) and not self._tally.count(event.user.id):
            return
        yield event

    def _restored(self, *, heard: bool) -> Steps[None]:
        self._worked = True
        if heard:
            self._failures = 0
        if self._reconnecting:
            self._reconnecting = False
            yield Reconnected()

    def _failed(self, error: errors.ListingError) -> Steps[None]:
        refused = isinstance(error, errors.Unauthorized | errors.Forbidden)
        self._refusals = self._refusals + 1 if refused else 0
        if refused and (not self._ready or self._refusals == _MOST_REFUSALS):
            raise error
        lasting = errors.Invalid | errors.NotFound | errors.DecodeError
        if not self._worked and (isinstance(error, lasting) or getattr(error, "lasting", False)):
            raise error
        code = error.status if isinstance(error, errors.ApiError) else ABNORMAL
        seconds = error.retry_after if isinstance(error, errors.RateLimited) else None
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
        """Read the voters in place of the gateway, yield the new votes, and wait."""
        list_voters(self._bot)  # raises if the bot is unknown
        if not self._polling:
            self._polling = True
            _log.warning(_NO_GATEWAY, POLL)
        try:
            votes = yield from self._new_votes()
        except errors.ListingError as error:
            yield from self._failed(error)
            return
        yield from self._restored(heard=True)
        yield from votes
        yield Wait(POLL)

    def _catch_up(self) -> Steps[None]:
        """Yield the votes that were cast since the last seen one."""
        if not self._bot:
            return
        warn = _log.warning if self._connected else _log.debug  # at first, no vote is missed
        if self._connected and self._tally.seen is None:
            warn(_NOT_CAUGHT_UP, "the voters could not be read before")
        self._connected = True
        try:
            yield from (yield from self._new_votes(seconds=_LONGEST_READ))
        except errors.ListingError as error:
            warn(_NOT_CAUGHT_UP, error.message)

    def _new_votes(self, *, seconds: float = math.inf) -> Steps[list[Vote]]:
        """Read the voters and return the new votes; in a limited time only until enough are read.

        Raises `ListingError` if a page cannot be read in time, or no vote that was seen is listed.
        """
        end, in_time = self._clock() + seconds, seconds < math.inf
        voters: list[Voter] = []
        first = list_voters(self._bot, page=1, limit=LARGEST_PAGE)
        paging = Paging(first, lambda page: page.voters)
        while not (paging.over or (in_time and self._tally.reaches(voters))):
            page = yield Ask(replace(paging.operation, deadline=end - self._clock()))
            voters += paging.take(page)
        new = self._tally.read(voters, whole=paging.over, caught_up=in_time)
        return [Vote(voter, Account(id=self._bot), caught_up=in_time) for voter in new]


def _failure(answer: errors.Reply | errors.TransportError | bool) -> errors.ListingError | None:  # noqa: FBT001 - the driver's answer
    """Return the reason for a missing WebSocket; None if it is open."""
    if isinstance(answer, bool):
        return None
    if isinstance(answer, errors.TransportError):
        return answer
    try:
        acknowledged(answer)
    except errors.ListingError as error:
        return error
    return errors.Invalid("the answer to the gateway's handshake is not a WebSocket", reply=answer)


class Tally:
    """Compares each read of a bot's voters, the newest first, with the votes seen before it.

    A read is enough when it reaches a vote that was seen, which is known by its voter and time, or
    by several voters in a row: all votes in front of it are new, unless their events have come. Two
    whole lists are compared as a whole. A voter who was in either of the last two is not new then:
    between two pages of one read an entry may move from one to the other, and a vote must not be
    invented.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.seen: deque[Seen] | None = None  # the newest first, once there was a read
        self._whole = False  # whether these are all votes
        self._events = 0  # so many of them came as events since the last read
        self._before: Counter[str] = Counter()  # the voters of the last read but one
        self._places: dict[tuple[object, ...], int] = {}  # of a seen vote, by its identity
        self._caught_up: Counter[str] = Counter()
        self._until = 0.0

    def count(self, user: str) -> bool:
        """Count the event of a vote; False if the vote was caught up just before."""
        if self._caught_up[user] and self._clock() < self._until:
            self._caught_up[user] -= 1
            return False
        if self.seen is not None:
            self._whole = self._whole and len(self.seen) < _MOST_SEEN
            self.seen.appendleft((user, None))
            self._events += 1
            self._places = {}
        return True

    def reaches(self, voters: Sequence[Voter]) -> bool:
        """Whether a read needs no more than these voters, whose last page is new."""
        if self.seen is None:
            return len(voters) >= _MOST_AT_FIRST
        return self._place(voters, start=len(voters) - LARGEST_PAGE - _ROW) is not None

    def read(
        self, voters: Sequence[Voter], *, whole: bool = True, caught_up: bool = False
    ) -> list[Voter]:
        """Return the new voters of a read, the last one being the newest.

        `caught_up` says that the events of these votes may still arrive. Raises `ListingError` if
        none of the votes that were seen is listed.
        """
        is_first, front = self.seen is None, self._front(voters, whole=whole)
        listed: list[Seen] = [(voter.id, voter.voted_at) for voter in voters]
        if front is None:
            self._keep(listed, whole=whole)
            if is_first:
                return []
            raise errors.ListingError("none of the votes that were seen is listed")
        at, known, old = front
        behind = [*(self.seen or ())][known:]
        self._keep(listed if whole else [*listed[:at], *behind], whole=whole or self._whole)
        new = Counter(user for user, _ in listed[:at]) - old
        if caught_up:
            self._caught_up, self._until = new.copy(), self._clock() + _LATE
        voted: list[Voter] = []
        for voter in voters[:at]:
            if new[voter.id] > 0:
                new[voter.id] -= 1
                voted.append(voter)
        return voted[::-1]

    def _keep(self, seen: Sequence[Seen], *, whole: bool) -> None:
        self.seen = deque(seen[:_MOST_SEEN], _MOST_SEEN)
        self._whole = whole and len(seen) <= _MOST_SEEN
        self._events, self._places = 0, {}

    def _front(
        self, voters: Sequence[Voter], *, whole: bool
    ) -> tuple[int, int, Counter[str]] | None:
        """Return how many voters in front may be new, and which of them were seen.

        That is the number of the newest votes seen, and their voters; None without such a place.
        """
        users = [user for user, _ in self.seen or ()]
        before, self._before = self._before, Counter()
        if self.seen is not None and whole and self._whole:
            self._before = Counter(users[self._events :])
            old = (self._before | before) + Counter(users[: self._events])
            return len(voters), len(users), old
        if (place := self._place(voters)) is None:
            return None
        at, known = place
        return at, known, Counter(users[:known])

    def _place(self, voters: Sequence[Voter], *, start: int = 0) -> tuple[int, int] | None:
        """Find the first vote that was seen: its index among the voters, and among the seen votes.

        A seen vote is known by its voter and time, or by voters in a row. A row of few voters is
        left out: it may be listed anywhere.
        """
        if not self._places:
            seen = [*(self.seen or ())]
            before = [user for user, _ in seen]
            for start_of_row in range(len(before) - _ROW, -1, -1):
                row = tuple(before[start_of_row : start_of_row + _ROW])
                if len(set(row)) >= _ROW // 2:
                    self._places[row] = start_of_row
            self._places |= {(user, time): at for at, (user, time) in enumerate(seen) if time}
        users = [voter.id for voter in voters]
        for at in range(max(start, 0), len(voters)):
            by_time = self._places.get((users[at], voters[at].voted_at))
            known = self._places.get(tuple(users[at : at + _ROW])) if by_time is None else by_time
            if known is not None:
                return at, known
        return None
