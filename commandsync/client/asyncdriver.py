"""The driver for an event loop: the steps of apply and reads, each call in a task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from commandsync.api.policy import Failure, Health
from commandsync.apply.outcomes import Result
from commandsync.apply.steps import Answered, Call, Elapsed, Step, StepResult
from commandsync.client.driver import listing_error
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from commandsync.client.asyncconnection import AsyncConnection


async def read_async(connection: AsyncConnection, bot: str, scope: Sequence[Resource]) -> Snapshot:
    """Read a listing's collections at the same time; raises as `start_reading` in threads."""
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
    tasks: set[asyncio.Task[None]] = set()
    try:
        step = next(steps)
        while True:
            on_step(step)
            for call in step.start:
                task = asyncio.create_task(_carry(call, connection, health, events))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            step = steps.send(await _next_event(events, step.wait))
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        left = list(tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _carry(
    call: Call, connection: AsyncConnection, health: Health, events: asyncio.Queue[StepResult]
) -> None:
    try:
        answer = Answered(call.key, await connection.attempt(call.operation, health=health))
    except Exception as error:  # noqa: BLE001 - a defect must not leave the run waiting
        answer = Answered(call.key, Failure(listing_error(error)))
    events.put_nowait(answer)


async def _next_event(events: asyncio.Queue[StepResult], wait: float | None) -> StepResult:
    try:
        async with asyncio.timeout(wait):
            return await events.get()
    except TimeoutError:
        return Elapsed()
