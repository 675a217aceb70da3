"""What a simulated listing shows, in memory: each list as it was some seconds ago."""

from collections import defaultdict, deque
from time import monotonic
from typing import Any

Records = list[dict[str, Any]]

DEFAULT = "default"
"""The key of the list that every service has."""

_MOST_KEPT = 100  # writes, announcements, and states of a list: the oldest are forgotten


class Shown:
    """The lists of one listing by their keys, and its announcements.

    Attributes:
        writes: The key and the list of each write that was accepted, the oldest first.
        announcements: What was posted, the newest first.
    """

    def __init__(self, *, lag: float = 0) -> None:
        self.writes = deque[tuple[str, Records]](maxlen=_MOST_KEPT)
        self.announcements = deque[dict[str, Any]](maxlen=_MOST_KEPT)
        self._lag = lag
        # Each with the moment from which readers see it, the newest first.
        self._states = defaultdict[str, deque[tuple[float, Records]]](
            lambda: deque(maxlen=_MOST_KEPT)
        )

    def put(self, records: Records, key: str = DEFAULT) -> None:
        """Replace a list."""
        self._states[key].appendleft((monotonic() + self._lag, records))
        self.writes.append((key, records))

    def read(self, key: str = DEFAULT) -> Records:
        """Return a list as readers see it now."""
        states, now = [*self._states.get(key, ())], monotonic()
        return next((records for since, records in states if since <= now), [])

    def lists(self) -> dict[str, Records]:
        """Return every list as readers see it now; there is always the default one."""
        return {key: self.read(key) for key in [DEFAULT, *self._states]}
