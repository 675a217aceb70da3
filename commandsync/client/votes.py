"""The votes that are new in a list of voters."""

from collections import Counter
from collections.abc import Callable, Sequence

from commandsync.records.models import Voter

_LATE = 10.0  # seconds in which the event of a vote may arrive that the list contained already


class Tally:
    """Compares each read of a bot's voters with the reads and the events before it.

    A voter who was in either of the last two reads is not new: between two pages of one read an
    entry may move from one to the other, and a vote must not be invented.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._read: list[str] | None = None  # the last read, once there is one
        self._before: Counter[str] = Counter()  # the one before it
        self._events: Counter[str] = Counter()  # the votes since the last read
        self._caught_up: Counter[str] = Counter()
        self._until = 0.0

    def count(self, user: str) -> bool:
        """Count the event of a vote; False if the vote was caught up just before."""
        if self._caught_up[user] and self._clock() < self._until:
            self._caught_up[user] -= 1
            return False
        if self._read is not None:
            self._events[user] += 1
        return True

    def read(self, voters: Sequence[Voter], *, caught_up: bool = False) -> list[Voter]:
        """Return the new voters of a whole list, whose newest votes are in front, in their order.

        `caught_up` says that the events of these votes may still arrive.
        """
        listed = [voter.id for voter in voters]
        last, before, events = self._read, self._before, self._events
        self._read, self._events = listed, Counter()
        if last is None:
            return []
        self._before = Counter(last)
        new = Counter(listed) - (self._before | before) - events
        if caught_up:
            self._caught_up, self._until = new.copy(), self._clock() + _LATE
        voted: list[Voter] = []
        for voter in voters:
            if new[voter.id] > 0:
                new[voter.id] -= 1
                voted.append(voter)
        return voted[::-1]
