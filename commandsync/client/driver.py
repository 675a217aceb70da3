"""The driver for threads: the steps of apply and reads, each call in a daemon thread."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.api.listing import reading
from commandsync.api.policy import Health
from commandsync.apply.steps import Answered, Call, Elapsed
from commandsync.errors import ListingError, TransportError
from commandsync.records.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.apply.steps import Step, StepResult
    from commandsync.client.connection import Connection
    from commandsync.records.texts import Resource

_LONGEST_WAIT = 0.2  # seconds: no signal interrupts a longer wait on Windows


class SnapshotReading:
    """The reads of a listing's collections, all at the same time."""

    def __init__(self, connection: Connection, bot: str, scope: Sequence[Resource]) -> None:
        self._scope = tuple(scope)
        self._events: SimpleQueue[StepResult] = SimpleQueue()
        for key, resource in enumerate(self._scope):
            _start(Call(key, reading(bot, resource)), connection, Health(), self._events)

    def result(self) -> Snapshot:
        """Wait for all of them.

        Raises:
            ListingError: A read failed; the first in the order of the scope.
        """
        answers: dict[int, Answered] = {}
        while len(answers) < len(self._scope):
            event = _next_event(self._events, None)
            if isinstance(event, Answered):  # pragma: no branch - nothing else arrives here
                answers[event.key] = event
        for key in sorted(answers):
            if error := answers[key].error:
                raise error
        return Snapshot({name: answers[key].value for key, name in enumerate(self._scope)})


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

    Raises:
        StalePlanError: As `apply` does, before anything is sent.
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
            answer = Answered(call.key, connection.call(call.operation, health=health))
        except Exception as error:  # noqa: BLE001 - a defect must not leave the run waiting
            answer = Answered(call.key, error=listing_error(error))
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
