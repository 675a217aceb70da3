"""Calls in threads that end with the program, and the limit on calls in flight.

A call runs in a daemon thread of its own, and its request waits at the gate until a place is free.
A pause lets nobody enter for a while; a stop ends all waits at once.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from math import inf
from threading import Condition, Thread
from typing import TypeVar

T = TypeVar("T")

LONGEST_WAIT = 0.2
"""Seconds: no signal interrupts a longer wait on Windows."""


def in_thread(function: Callable[[], T], *, name: str) -> Future[T]:
    """Call a function in a thread; the end of the program does not wait for it."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # it cannot be cancelled

    def work() -> None:
        try:
            result.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised where the result is taken
            result.set_exception(error)

    Thread(target=work, name=name, daemon=True).start()
    return result


def results_of(calls: Sequence[Future[T]]) -> list[T]:
    """Wait for the results of calls; raises the first error in their order."""
    while wait(calls, LONGEST_WAIT).not_done:
        pass
    return [call.result() for call in calls]


class Gate:
    """Lets a limited number of requests through, from any thread, until it is stopped."""

    longest_wait = 0.5
    """Seconds: a signal handler that stops the gate may run in the thread that is about to wait,
    and would not wake it."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._closed_until = 0.0
        self._change = Condition()  # re-entrant, so that a signal handler may call stop()
        self.stopped = False

    def enter(self, end: float = inf) -> bool:
        """Take a place as soon as one is free and there is no pause; False at the `end`."""
        with self._change:
            while not self.stopped and (now := time.monotonic()) < end:
                if self._closed_until <= now and self._free > 0:
                    self._free -= 1
                    return True
                until = min(end, self._closed_until if self._closed_until > now else inf)
                self._change.wait(min(until - now, self.longest_wait))
            return False

    def leave(self) -> None:
        """Release the place."""
        with self._change:
            self._free += 1
            self._change.notify_all()

    def pause(self, seconds: float) -> None:
        """Let no request enter for so long; a longer pause stays."""
        with self._change:
            self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def wait(self, seconds: float) -> bool:
        """Wait without a place; False at once when the gate is stopped."""
        end = time.monotonic() + seconds
        with self._change:
            while not self.stopped:
                left = end - time.monotonic()
                if left <= 0:
                    return True
                self._change.wait(min(left, self.longest_wait))
            return False

    def stop(self) -> None:
        """End all waits at once, and let no request enter any more."""
        with self._change:
            self.stopped = True
            self._change.notify_all()
