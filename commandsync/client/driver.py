"""The drivers of a run: they read the collections, and carry out the steps of apply.

`apply` is a generator that decides; a driver starts the calls of each step, waits for the next
event or until the time of the step is over, and sends it back. In the first half each call runs in
a daemon thread, in the second half in a task of an event loop. asyncio is imported there alone:
the command line uses threads and does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.api.policy import Failure, Health
from commandsync.apply.outcomes import Answered, Call, Elapsed, Step, StepResult
from commandsync.client.threads import LONGEST_WAIT, in_thread, results_of
from commandsync.errors import ListingError, TransportError
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    import asyncio

    from commandsync.apply.outcomes import Result
    from commandsync.client.connection import AsyncConnection, Connection


def start_reading(
    connection: Connection, bot: str, scope: Sequence[Resource]
) -> Callable[[], Snapshot]:
    """Start to read a listing's collections at the same time; return a function to wait for them.

    It raises the `ListingError` of a read that failed, the first in the order of the scope.
    """
    reads = [
        in_thread(
            partial(connection.call, connection.service.read(bot, resource)),
            name=f"commandsync-{resource}",
        )
        for resource in scope
    ]
    return lambda: Snapshot(dict(zip(scope, results_of(reads), strict=True)))


def drive(
    steps: Generator[Step, StepResult, Result],
    connection: Connection,
    *,
    health: Health,
    events: SimpleQueue[StepResult],
    on_step: Callable[[Step], object],
) -> Result:
    """Carry out the steps of apply, with the health that was given to it.

    A signal handler puts `Interrupted` or `Aborted` into the events, and stops the connection, so
    that waits end at once. `on_step` is called in this thread with each step, before its calls.
    Raises `StalePlanError` as `apply` does, before anything is sent.
    """

    def carry(call: Call) -> None:
        try:
            answer = Answered(call.key, connection.attempt(call.operation, health=health))
        except Exception as error:  # noqa: BLE001 - a defect must not leave the run waiting
            answer = Answered(call.key, Failure(listing_error(error)))
        events.put(answer)

    try:
        step = next(steps)
        while True:
            on_step(step)
            for call in step.start:
                in_thread(partial(carry, call), name=f"commandsync-{call.key}")
            step = steps.send(_next_event(events, step.wait))
    except StopIteration as end:
        result: Result = end.value
        return result


def listing_error(error: Exception) -> ListingError:
    """Return the error of a call; after a defect of this program its result is unknown."""
    if isinstance(error, ListingError):
        return error
    return TransportError(f"{type(error).__name__} while carrying it out: {error}")


def _next_event(events: SimpleQueue[StepResult], wait: float | None) -> StepResult:
    end = None if wait is None else monotonic() + wait
    while True:
        left = LONGEST_WAIT if end is None else min(LONGEST_WAIT, end - monotonic())
        try:
            return events.get(timeout=max(left, 0))
        except Empty:
            if end is not None and monotonic() >= end:
                return Elapsed()


async def read_async(connection: AsyncConnection, bot: str, scope: Sequence[Resource]) -> Snapshot:
    """Read a listing's collections at the same time; raises as `start_reading` in threads."""
    import asyncio  # noqa: PLC0415 - the command line does not need it

    reads = (connection.call(connection.service.read(bot, resource)) for resource in scope)
    results = await asyncio.gather(*reads, return_exceptions=True)
    entries = {}
    for resource, result in zip(scope, results, strict=True):
        if isinstance(result, BaseException):
            raise result
        entries[resource] = result
    return Snapshot(entries)


async def drive_async(
    steps: Generator[Step, StepResult, Result],
    connection: AsyncConnection,
    *,
    health: Health,
    events: asyncio.Queue[StepResult],
    on_step: Callable[[Step], object],
) -> Result:
    """Carry out the steps of apply, as `drive` does in threads.

    If it is cancelled, it cancels the calls in flight and waits until each has released its place.
    For an orderly end, put `Interrupted` into the events and stop the connection. Raises
    `StalePlanError` as `apply` does, before anything is sent.
    """
    import asyncio  # noqa: PLC0415 - as above

    async def carry(call: Call) -> None:
        try:
            answer = Answered(call.key, await connection.attempt(call.operation, health=health))
        except Exception as error:  # noqa: BLE001 - a defect must not leave the run waiting
            answer = Answered(call.key, Failure(listing_error(error)))
        events.put_nowait(answer)

    tasks: list[asyncio.Task[None]] = []
    try:
        step = next(steps)
        while True:
            on_step(step)
            tasks += [asyncio.create_task(carry(call)) for call in step.start]
            event: StepResult = Elapsed()
            with suppress(TimeoutError):
                async with asyncio.timeout(step.wait):
                    event = await events.get()
            step = steps.send(event)
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
