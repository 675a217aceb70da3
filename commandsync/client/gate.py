"""Who may send now: so many at a time, nobody during a pause, nobody after a stop."""

from __future__ import annotations

import time
from threading import Condition


class Gate:
    """What all requests of a run pass, from whichever thread.

    Args:
        places: How many requests may be in flight at the same time.
    """

    glance = 0.5
    """Seconds: nobody sleeps longer without looking up, for a signal handler that stops the gate
    may run in the very thread that is just about to fall asleep, and would not wake it."""

    def __init__(self, places: int) -> None:
        self._change = Condition()  # its lock is re-entrant, so a signal handler may call stop()
        self._free = places
        self._closed_until = 0.0
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether nothing new may be sent."""
        return self._stopped

    def enter(self) -> bool:
        """Take a place as soon as one is free and no pause is on; False after a stop."""
        with self._change:
            while not self._stopped:
                pause = self._closed_until - time.monotonic()
                if pause <= 0 and self._free > 0:
                    self._free -= 1
                    return True
                self._change.wait(min(pause, self.glance) if pause > 0 else self.glance)
            return False

    def leave(self) -> None:
        """Give the place back."""
        with self._change:
            self._free += 1
            self._change.notify_all()

    def pause(self, seconds: float) -> None:
        """Let nobody enter for so long; a longer pause that is already on stays."""
        with self._change:
            self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def wait(self, seconds: float) -> bool:
        """Wait without holding a place; False at once when the gate is stopped."""
        end = time.monotonic() + seconds
        with self._change:
            while not self._stopped:
                left = end - time.monotonic()
                if left <= 0:
                    return True
                self._change.wait(min(left, self.glance))
            return False

    def stop(self) -> None:
        """End all waits at once, and let nobody enter any more."""
        with self._change:
            self._stopped = True
            self._change.notify_all()
