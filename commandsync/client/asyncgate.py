"""The gate of one event loop: so many at a time, nobody during a pause, nobody after a stop."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from time import monotonic


class AsyncGate:
    """What all requests of a client pass, whichever task they belong to; first come, first served.

    Args:
        places: How many requests may be in flight at the same time.
    """

    def __init__(self, places: int) -> None:
        self._free = places
        self._closed_until = 0.0
        self._stopped = False
        self._queue: deque[asyncio.Future[None]] = deque()  # who wants a place
        self._waiting: deque[asyncio.Future[None]] = deque()  # who only lets time pass

    @property
    def stopped(self) -> bool:
        """Whether nothing new may be sent."""
        return self._stopped

    async def enter(self) -> bool:
        """Take a place as soon as one is free and no pause is on; False after a stop."""
        while not self._stopped:
            pause = self._closed_until - monotonic()
            if pause <= 0 and self._free > 0:
                self._free -= 1
                return True
            await self._turn(pause if pause > 0 else None)
        return False

    def leave(self) -> None:
        """Give the place back."""
        self._free += 1
        self._wake_next()

    def pause(self, seconds: float) -> None:
        """Let nobody enter for so long; a longer pause that is already on stays."""
        self._closed_until = max(self._closed_until, monotonic() + seconds)

    async def wait(self, seconds: float) -> bool:
        """Wait without holding a place; False at once when the gate is stopped."""
        if not self._stopped:
            await self._woken(self._waiting, seconds)
        return not self._stopped

    def stop(self) -> None:
        """End all waits at once, and let nobody enter any more; from the loop's own thread."""
        self._stopped = True
        for waiter in (*self._queue, *self._waiting):
            _wake(waiter)

    def _wake_next(self) -> None:
        while self._queue and not _wake(self._queue.popleft()):
            pass

    async def _turn(self, seconds: float | None) -> None:
        """Wait until it may be this one's turn; a turn that comes with a cancellation goes on."""
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
            with suppress(ValueError):  # whoever woke it has taken it out
                queue.remove(waiter)


def _wake(waiter: asyncio.Future[None]) -> bool:
    if waiter.done():
        return False
    waiter.set_result(None)
    return True
