"""The limit on requests in flight, for threads: a number of places, a pause for all, a stop."""

import time
from math import inf
from threading import Condition

from commandsync.client.threads import renew_in_children


class Gate:
    """Lets a limited number of requests through, from any thread, until it is stopped."""

    longest_wait = 0.5
    """Seconds: a signal handler that stops the gate may run in the thread that is about to wait,
    and would not wake it."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._closed_until = 0.0
        self.stopped = False
        self.renew()
        renew_in_children(self)

    def renew(self) -> None:
        """Release all places."""
        self._change = Condition()  # re-entrant, so that a signal handler may call stop()
        self._free = self._places

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
