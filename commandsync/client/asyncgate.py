"""The limit on requests in flight, for an event loop: a number of places, a pause, a stop."""

import asyncio
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
        self._free = asyncio.Semaphore(self._places)
        self._stop = asyncio.Event()

    async def enter(self, end: float = inf) -> bool:
        """Take a place as soon as one is free and there is no pause; False at the `end`."""
        try:
            async with asyncio.timeout(None if end == inf else end - monotonic()):
                await self._free.acquire()
        except TimeoutError:
            return False
        try:
            while not self.stopped and (now := monotonic()) < min(end, self._closed_until):
                await self.wait(min(end, self._closed_until) - now)
        except asyncio.CancelledError:
            self.leave()
            raise
        if self.stopped or monotonic() >= end:
            self.leave()  # also for the next one that waits
            return False
        return True

    def leave(self) -> None:
        """Release the place."""
        self._free.release()

    def pause(self, seconds: float) -> None:
        """Let no request enter for so long; a longer pause stays."""
        self._closed_until = max(self._closed_until, monotonic() + seconds)

    async def wait(self, seconds: float) -> bool:
        """Wait without a place; False at once when the gate is stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        return not self.stopped

    def stop(self) -> None:
        """End all waits at once, and let no request enter; to be called in the loop's thread."""
        self.stopped = True
        self._stop.set()
        self._free.release()
