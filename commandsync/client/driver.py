"""Carry out steps and reads over a connection, on threads that never keep the program alive."""

from __future__ import annotations

from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from commandsync.api.listing import reading
from commandsync.apply.steps import Answered, Elapsed
from commandsync.errors import ListingError, TransportError
from commandsync.records.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from commandsync.api.policy import Health
    from commandsync.apply.outcomes import Result, Settled
    from commandsync.apply.steps import Call, Event, Step
    from commandsync.client.connection import Connection
    from commandsync.records.snapshot import Entry
    from commandsync.records.texts import Resource

T = TypeVar("T")

_GLANCE = 0.2  # seconds: a wait that a signal cannot break (Windows) is never longer than this


class SnapshotReading:
    """The reads of a listing's collections, under way at the same time.

    Args:
        connection: The way to the service.
        bot: Whose listing.
        scope: The collections to read.
    """

    def __init__(self, connection: Connection, bot: str, scope: Sequence[Resource]) -> None:
        self._futures: dict[Resource, Future[tuple[Entry, ...]]] = {
            resource: _started(lambda r=resource: connection.call(reading(bot, r)))  # type: ignore[misc]
            for resource in scope
        }

    def result(self) -> Snapshot:
        """Wait for all of them.

        Raises:
            ListingError: One of them failed; the first in the order of the scope.
        """
        return Snapshot({resource: _result(future) for resource, future in self._futures.items()})


def drive(
    steps: Generator[Step, Event, Result],
    connection: Connection,
    *,
    health: Health,
    events: SimpleQueue[Event],
    on_settled: Callable[[Sequence[Settled]], object],
) -> Result:
    """Carry apply's steps out.

    Args:
        steps: What `commandsync.apply.run.apply` returned.
        connection: The way to the service.
        health: The one that was given to `apply`.
        events: Where answers arrive; a signal handler puts `Interrupted` or `Aborted` here (and
            stops the connection, so that waits end at once).
        on_settled: Told of outcomes as they become final, on this thread.

    Raises:
        StalePlanError: As `apply` does, before anything is sent.
    """
    try:
        step = next(steps)
        while True:
            on_settled(step.settled)
            for call in step.start:
                _start(call, connection, health, events)
            step = steps.send(_next_event(events, step.wait))
    except StopIteration as end:
        result: Result = end.value
        return result


def unclear(defect: Exception) -> TransportError:
    """Say of a call that a defect of this program ended that it may have happened."""
    return TransportError(f"{type(defect).__name__} while carrying it out: {defect}")


def _start(call: Call, connection: Connection, health: Health, events: SimpleQueue[Event]) -> None:
    def work() -> None:
        try:
            value = connection.call(call.operation, health=health)
        except ListingError as error:
            events.put(Answered(call.key, error=error))
        except Exception as error:  # noqa: BLE001 - a defect here must not leave the run waiting
            events.put(Answered(call.key, error=unclear(error)))
        else:
            events.put(Answered(call.key, value))

    Thread(target=work, name=f"commandsync-{call.key}", daemon=True).start()


def _next_event(events: SimpleQueue[Event], wait: float | None) -> Event:
    end = None if wait is None else monotonic() + wait
    while True:
        left = _GLANCE if end is None else min(_GLANCE, end - monotonic())
        try:
            return events.get(timeout=max(left, 0))
        except Empty:
            if end is not None and monotonic() >= end:
                return Elapsed()


def _started(work: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for the result
            future.set_exception(error)

    Thread(target=run, name="commandsync-read", daemon=True).start()
    return future


def _result(future: Future[T]) -> T:
    while True:
        try:
            return future.result(timeout=_GLANCE)
        except TimeoutError:
            if future.done():
                raise
