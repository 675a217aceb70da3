"""The retry policy: accept an answer, wait and send again, or give up (a pure generator).

A driver sends and waits; every decision is made here, once for blocking and asynchronous clients.
An idempotent operation is sent again after connection errors, 408, 429, 5xx and unreadable answers;
an add only after a 429 or a connection that was certainly never made. A list in pages has one
operation for each page, up to its end: `Paging` makes the next one of the last answer.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import count
from math import inf
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

from commandsync import errors
from commandsync.api.operations import Operation, Overwritten

if TYPE_CHECKING:
    from commandsync.records.models import Bot, BotPage, Queries, Voter, VoterPage

T = TypeVar("T")

LONGEST_WAIT = 120.0
"""Seconds: a `Retry-After` beyond this is not waited for."""

LOOK = "it may have been added: check whether it is listed"
"""The advice after an add whose result is unknown."""

FAILURES_IN_A_ROW = 5
"""So many failed reads, or writes, in a row, retries included, mean that the service is down."""

_GATEWAY_TIMEOUT = 504
_FIRST_WAIT = 0.25  # seconds, doubled with every try and stretched by up to a half of it
_LONGEST_BACKOFF = 30.0


class Retry(NamedTuple):
    """The `number`-th retry of at most `most`, from 1, and the error before it."""

    number: int
    most: int
    error: errors.ListingError


class Send(NamedTuple):
    """Send the operation now; hand back the `Reply` or the `TransportError`.

    From now on it is the `other` one, where the service does not have the method of the first.
    """

    retry: Retry | None = None
    other: Operation[Any] | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait before a retry; hand back True, or False when the wait was cut short by a stop.

    After a 429 every other request has to wait too.
    """

    seconds: float
    everyone: bool = False
    retry: Retry | None = field(default=None, compare=False)


@dataclass(slots=True)
class Streak:
    """Network errors, time-outs and 5xx in a row, retries included, for one kind of operation.

    They count if `several` operations failed: the `first` alone does not describe the service.
    """

    failures: int = 0
    first: Operation[Any] | None = None
    several: bool = False

    @property
    def down(self) -> bool:
        """Whether so many failed in a row that the rest is not worth sending."""
        return self.several and self.failures >= FAILURES_IN_A_ROW

    def note(self, operation: Operation[Any], error: errors.ListingError | None) -> None:
        """Count how one attempt ended; None for a success."""
        if not isinstance(error, errors.TransportError | errors.ServerError):
            self.failures, self.first, self.several = 0, None, False
            return
        self.failures += 1
        self.first = self.first or operation
        self.several = self.several or self.first is not operation


@dataclass(slots=True)
class Health:
    """How the service has been answering in this run, shared by all its requests.

    Reads and writes are counted apart: many services still read well when they cannot write.
    """

    reads: Streak = field(default_factory=Streak)
    writes: Streak = field(default_factory=Streak)

    @property
    def down(self) -> bool:
        """Whether nothing more should be written."""
        return self.reads.down or self.writes.down

    def of(self, operation: Operation[Any]) -> Streak:
        """Return the count that an operation belongs to."""
        return self.reads if operation.method == "GET" else self.writes


class Doubt(IntEnum):
    """Whether a write that failed may have reached the listing all the same."""

    NONE = 0  # it was refused in the service's own words, or no connection was made
    REFUSED = 1  # it was answered with the service's own failure
    SILENT = 2  # it was sent, and nothing is known of it


@dataclass(frozen=True, slots=True)
class Failure:
    """An operation that was given up."""

    error: errors.ListingError  # the error of its last try
    # The greatest doubt of the earlier tries: a later refusal proves nothing about them.
    before: Doubt = Doubt.NONE

    @property
    def doubt(self) -> Doubt:
        """The greatest doubt of all tries."""
        return max(self.before, _doubt(self.error))

    def raised(self, operation: Operation[Any]) -> errors.ListingError:
        """Return the error for the caller, with a hint if an add is in doubt."""
        if self.doubt and not operation.idempotent:
            return self.error.having(hint=LOOK)
        return self.error


def attempt(
    operation: Operation[T], *, retries: int, jitter: Callable[[], float], health: Health
) -> Generator[Send | Wait, errors.Reply | errors.TransportError | bool, T | Failure]:
    """Carry one operation to its end, and return the value of its answer, or why it is given up.

    The driver sends back the result of each `Send` and `Wait`. `jitter` gives a number from 0 to 1,
    which spreads the waits of many clients; `health` is noted after every attempt.
    """
    before, retry, other = Doubt.NONE, None, None
    streak = health.of(operation)
    for tried in count():
        answer = yield Send(retry, other)
        try:
            value = _read(operation, answer)
        except errors.ListingError as error:
            streak.note(operation, error)
            failure = Failure(error, before)
            if other := operation.after(error):
                operation = other
                continue  # nothing was done: it is sent at once
            wait = _wait(operation, error, tried=tried, jitter=jitter())
            if wait is None or tried >= retries or streak.down:
                return failure
            before, retry = failure.doubt, Retry(tried + 1, retries, error)
            if not (yield replace(wait, retry=retry)):
                return failure
        else:
            streak.note(operation, None)
            is_resent = isinstance(answer, errors.Reply) and answer.resent
            return _of_first_try(value) if before or is_resent else value
    raise AssertionError  # pragma: no cover - counting never ends


def _of_first_try(value: T) -> T:
    """Return the value of a later try: an earlier one may have made the record."""
    return cast("T", str(value)) if isinstance(value, Overwritten) else value


def _doubt(error: errors.ListingError) -> Doubt:
    """Return the doubt that one try leaves.

    A 504 is a silence too: the gateway stopped waiting for a service that may yet finish.
    """
    match error:
        case errors.TransportError():
            return Doubt.SILENT if error.sent else Doubt.NONE
        case errors.ServerError():
            return Doubt.SILENT if error.status == _GATEWAY_TIMEOUT else Doubt.REFUSED
        case _:
            return Doubt.SILENT if isinstance(error, errors.DecodeError) else Doubt.NONE


def _read(operation: Operation[T], answer: Any) -> T:  # noqa: ANN401 - the driver hands it back
    if isinstance(answer, errors.TransportError):
        raise answer
    try:
        return operation.read(answer)
    except errors.NotFound as error:
        if operation.gone_is_done:
            return operation.read(errors.Reply(status=204, body=b""))
        raise error.having(hint=operation.missing) from error.__cause__


def _wait(
    operation: Operation[object], error: errors.ListingError, *, tried: int, jitter: float
) -> Wait | None:
    """Decide whether to send again, and after how long; None gives up."""
    backoff = min(_FIRST_WAIT * 2**tried, _LONGEST_BACKOFF) * (1 + jitter / 2)
    match error:
        case errors.RateLimited(retry_after=asked):
            if asked is not None and asked > LONGEST_WAIT:
                return None
            return Wait(backoff if asked is None else asked + backoff * jitter, everyone=True)
        case errors.TransportError(sent=sent, lasting=lasting):
            again = not lasting and (operation.idempotent or not sent)
        case errors.ServerError() | errors.DecodeError():
            again = operation.idempotent
        case _:
            return None
    return Wait(backoff) if again else None


R = TypeVar("R", "Bot", "Voter")
P = TypeVar("P", "BotPage", "VoterPage")

_TOO_LARGE = {400, 413, 422}


@dataclass(slots=True)
class Paging(Generic[P, R]):
    """The pages of a list."""

    operation: Operation[P]  # reads the next page
    records: Callable[[P], tuple[R, ...]]  # returns those of a page
    unique: bool = False  # whether a record is listed once; somebody may vote twice
    over: bool = False  # whether the last page was read
    _page: int = 1
    _before: tuple[str, ...] = ()  # the page before
    _pages: set[tuple[str, ...]] = field(default_factory=set)
    _listed: set[str] = field(default_factory=set)

    def take(self, page: P | Failure) -> tuple[R, ...]:
        """Return the new records of a page, and go on to the next one.

        Raises why the page could not be read, unless it does not exist, or is larger than the
        service allows.
        """
        if not isinstance(page, Failure):
            return self._new(self.records(page), page.queries)
        if not (isinstance(page.error, errors.ApiError) and self._refused(page.error)):
            raise page.error
        return ()

    def _new(self, records: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Return the new records of a page.

        The list ends where the service reports it, and with a page that is empty or was read
        before: some services begin again after the last page, or always answer with the whole
        list, whatever they report about its pages. A page of one voter alone may repeat.

        New votes move entries to later pages: a page that begins as the one before ended goes on
        behind that.
        """
        keys, last = self._keys(records, queries), self._last(records, queries)
        if self.unique:
            records = tuple(record for record in records if record.id not in self._listed)
        elif keys in self._pages and (last == inf or len(set(keys)) > 1):
            records = ()
        new = records[self._overlap(keys) :]
        self.over = not records or self._page >= last
        # Without records and pages, the list is empty, or its only page has the number 0.
        is_doubtful = (keys, last) == ((), 0) and () not in self._pages
        self._before = keys
        self._pages.add(keys)
        self._listed.update(record.id for record in new)
        if is_doubtful:
            self._page, self.over = -1, False
        self._page += 1
        self._change(page=self._page)
        return new

    def _refused(self, error: errors.ApiError) -> bool:
        """Go on after a page that does not exist, or is too large; False if it is neither."""
        limit = int(dict(self.operation.query)["limit"])
        if self._page != 1:
            self.over = isinstance(
                error, errors.NotFound if self._page else errors.NotFound | errors.Invalid
            )
            return self.over
        is_large = error.status in _TOO_LARGE and limit > 1
        if is_large:
            self._change(limit=limit // 2)
        return is_large

    def _last(self, records: tuple[R, ...], queries: Queries) -> float:
        """Return the number of the last page, where the first one is 1; infinite if unknown."""
        number = self._page if queries.page is None else queries.page
        if queries.max_page is None or (records and queries.max_page < number):
            return inf
        return queries.max_page + (number == self._page - 1)  # where they are reported from 0

    def _keys(self, records: tuple[R, ...], queries: Queries) -> tuple[str, ...]:
        """Return the keys that compare records: whole voters where the service counts its pages.

        The same users may have voted again and again, and only the times of their votes differ.
        """
        if queries.max_page is not None and not self.unique:
            return tuple(repr(record) for record in records)
        return tuple(record.id or repr(record) for record in records)

    def _overlap(self, keys: tuple[str, ...]) -> int:
        """Return how many records at the end of the page before are the beginning of this one.

        They are fewer than a page: a page of equal records means that somebody votes again. New
        bots are known by their ids.
        """
        most = 0 if self.unique else min(len(keys), len(self._before) - 1)
        counts = range(most, 0, -1)
        return next((count for count in counts if self._before[-count:] == keys[:count]), 0)

    def _change(self, **query: int) -> None:
        changed = {name: str(value) for name, value in query.items()}
        query_before = dict(self.operation.query)
        self.operation = replace(self.operation, query=tuple((query_before | changed).items()))
