"""The driver for threads: the steps of apply and reads, each call in a daemon thread."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.api.policy import Failure, Health
from commandsync.apply.outcomes import Result
from commandsync.apply.steps import Answered, Call, Elapsed, Step, StepResult
from commandsync.errors import ListingError, TransportError
from commandsync.records.snapshot import Snapshot
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from commandsync.client.connection import Connection

_LONGEST_WAIT = 0.2  # seconds: no signal interrupts a longer wait on Windows


def start_reading(
    connection: Connection, bot: str, scope: Sequence[Resource]
) -> Callable[[], Snapshot]:
    """Start to read a listing's collections, all at the same time; return what waits for them.

    That raises the `ListingError` of a read that failed, the first in the order of the scope.
    """
    events: SimpleQueue[StepResult] = SimpleQueue()
    for key, resource in enumerate(scope):
        _start(Call(key, connection.service.read(bot, resource)), connection, Health(), events)

    def result() -> Snapshot:
        answers: dict[int, Answered] = {}
        while len(answers) < len(scope):
            event = _next_event(events, None)
            if isinstance(event, Answered):  # pragma: no branch - nothing else arrives here
                answers[event.key] = event
        for key in sorted(answers):
            if error := answers[key].error:
                raise error
        return Snapshot({name: answers[key].value for key, name in enumerate(scope)})

    return result


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
    try:
        step = next(steps)
        while True:
            on_step(step)
            for call in step.start:
                _start(call, connection, health, events)
            step = steps.send(_next_event(events, step.wait))
    except StopIteration as end:
        result: Result = end.value
        return result


def listing_error(error: Exception) -> ListingError:
    """Return the error of a call; after a defect of this program its result is unknown."""
    if isinstance(error, ListingError):
        return error
    return TransportError(f"{type(error).__name__} while carrying it out: {error}")


def _start(
    call: Call, connection: Connection, health: Health, events: SimpleQueue[StepResult]
) -> None:
    def work() -> None:
        try:
            answer = Answered(call.key, connection.attempt(call.operation, health=health))
        except Exception as error:  # noqa: BLE001 - a defect must not leave the run waiting
            answer = Answered(call.key, Failure(listing_error(error)))
        events.put(answer)

    Thread(target=work, name=f"commandsync-{call.key}", daemon=True).start()


def _next_event(events: SimpleQueue[StepResult], wait: float | None) -> StepResult:
    end = None if wait is None else monotonic() + wait
    while True:
        left = _LONGEST_WAIT if end is None else min(_LONGEST_WAIT, end - monotonic())
        try:
            return events.get(timeout=max(left, 0))
        except Empty:
            if end is not None and monotonic() >= end:
                return Elapsed()
