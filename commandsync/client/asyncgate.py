"""The limit on requests in flight, for an event loop: a number of places, a pause, a stop."""

import asyncio
from collections import deque
from contextlib import suppress
from math import inf
from time import monotonic

from commandsync.client.threads import renew_in_children


class AsyncGate:
    """Lets a limited number of requests through, in the order in which their tasks wait."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._closed_until = 0.0
        self.stopped = False
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Release all places."""
        self._free = self._places
        self._queue: deque[asyncio.Future[None]] = deque()  # tasks that wait for a place
        self._waiting: deque[asyncio.Future[None]] = deque()  # tasks that wait for a time

    async def enter(self, end: float = inf) -> bool:
        """Take a place as soon as one is free and there is no pause; False at the `end`."""
        while not self.stopped and (now := monotonic()) < end:
            if self._closed_until <= now and self._free > 0:
                self._free -= 1
                return True
            until = min(end, self._closed_until if self._closed_until > now else inf)
            await self._turn(None if until == inf else until - now)
        return False

    def leave(self) -> None:
        """Release the place."""
        self._free += 1
        self._wake_next()

    def pause(self, seconds: float) -> None:
        """Let no request enter for so long; a longer pause stays."""
        self._closed_until = max(self._closed_until, monotonic() + seconds)

    async def wait(self, seconds: float) -> bool:
        """Wait without a place; False at once when the gate is stopped."""
        if not self.stopped:
            await self._woken(self._waiting, seconds)
        return not self.stopped

    def stop(self) -> None:
        """End all waits at once, and let no request enter; to be called in the loop's thread."""
        self.stopped = True
        for waiter in (*self._queue, *self._waiting):
            _wake(waiter)

    def _wake_next(self) -> None:
        while self._queue and not _wake(self._queue.popleft()):
            pass

    async def _turn(self, seconds: float | None) -> None:
        """Wait for a turn; a turn that arrives with a cancellation goes to the next task."""
        try:
            await self._woken(self._queue, seconds)
        except asyncio.CancelledError:
            self._wake_next()
            raise

    @staticmethod
    async def _woken(queue: deque[asyncio.Future[None]], seconds: float | None) -> None:
        waiter = asyncio.get_running_loop().create_future()
        queue.append(waiter)
        try:
            async with asyncio.timeout(seconds):
                await waiter
        except TimeoutError:
            pass
        finally:
            with suppress(ValueError):  # it was removed when it was woken
                queue.remove(waiter)


def _wake(waiter: asyncio.Future[None]) -> bool:
    if waiter.done():
        return False
    waiter.set_result(None)
    return True
