"""The requests of one kind that a service still allows, as its answers say.

Discord limits each kind of request on its own ("Rate Limits" of its documentation): an answer says
how many more are allowed, and in how many seconds all of them are again. What is sent beyond that
is refused. Answers of requests that are in flight together come in any order: those that are still
awaited count as if no answer had counted them.
"""

from threading import Lock

from commandsync.api.content import Bucket
from commandsync.api.policy import LONGEST_WAIT

_POLL = 0.05  # seconds until it is known whether an answer has come


class Budget:
    """Counts the requests of one kind, from any thread; times are in seconds of one clock."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._bucket: Bucket | None = None  # of the last answer that had one
        self._left = 0  # how many of its requests are left
        self._renewal = 0.0  # when all of them are allowed again
        self._flying = 0  # how many were sent, and are not answered

    def take(self, now: float) -> float:
        """Take one request, and return 0; if none is left, return how long to wait."""
        with self._lock:
            if self._bucket and now >= self._renewal:
                if self._flying >= self._bucket.most:
                    return _POLL
            elif self._bucket:
                if self._left <= 0:
                    return self._renewal - now
                self._left -= 1
            self._flying += 1
            return 0.0

    def give_back(self, bucket: Bucket | None, now: float) -> None:
        """Note the end of a request, and what its answer says; None for nothing."""
        with self._lock:
            self._flying -= 1
            if bucket is None:
                return
            # A longer wait is left to the service: its refusal says how long it takes.
            self._bucket = bucket if bucket.seconds <= LONGEST_WAIT else None
            self._left, self._renewal = bucket.left - self._flying, now + bucket.seconds
