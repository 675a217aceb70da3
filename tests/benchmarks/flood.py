"""Ten minutes' worth of events at once, for a handler that is slower: memory stays flat.

    MALLOC_ARENA_MAX=1 python -m tests.benchmarks.flood [EVENTS]

60,000 votes, as many as in ten minutes of a hundred a second, are sent as fast as the client takes
them. The handler needs half a millisecond for each. The memory while they are handled is compared
with that after the first hundredth. Ends with 1 if it grows by more than 8 MiB with either client.
Without the limit of the client's buffer, it grows by about 150.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync import AsyncClient, Client, Vote
from tests.support.gateway import Gateway, vote

if TYPE_CHECKING:
    from tests.support.gateway import Guest

_MOST = 8 * 1024  # KiB
_NAP = 0.0005  # seconds that the handler takes
_PART = 100  # events that are sent together
_TOKEN = "marked-token-7f3a9c1e"


class _Flood:
    """Sends the events, and measures while they are handled.

    Attributes:
        sent: How many events were sent.
        ahead: The most that were sent and not handled.
        memory: KiB in use after each hundredth of the events.
    """

    def __init__(self, events: int) -> None:
        self._events = events
        self.sent = self.handled = self.ahead = 0
        self.memory: list[int] = []

    def send(self, guest: Guest) -> None:
        guest.welcome()
        for first in range(0, self._events, _PART):
            guest.say(*[vote(number) for number in range(first, first + _PART)])
            self.sent = first + _PART
        guest.stay()

    def note(self) -> bool:
        """Note that an event was handled; return whether it was the last."""
        self.handled += 1
        self.ahead = max(self.ahead, self.sent - self.handled)
        if self.handled % (self._events // 100) == 0:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            self.memory.append(pages * os.sysconf("SC_PAGE_SIZE") // 1024)
        return self.handled == self._events

    def growth(self) -> int:
        return max(self.memory) - self.memory[0]


def blocking(url: str, flood: _Flood) -> None:
    """Handle them with the blocking client."""
    with Client(_TOKEN, url) as client:

        @client.on(Vote)
        def handle(_: Vote) -> None:
            time.sleep(_NAP)
            if flood.note():
                client.close()

        client.listen()


def asynchronous(url: str, flood: _Flood) -> None:
    """Handle them with the asynchronous client."""

    async def main() -> None:
        async with AsyncClient(_TOKEN, url) as client:

            @client.on(Vote)
            async def handle(_: Vote) -> None:
                await asyncio.sleep(_NAP)
                if flood.note():
                    await client.close()

            await client.listen()

    asyncio.run(main())


def main(events: int) -> int:
    """Run both clients, print the figures, and return the exit code."""
    failed = False
    logging.disable(logging.WARNING)  # closing tells of the events that are left
    for run in (blocking, asynchronous):
        flood = _Flood(events)
        with Gateway() as gateway:
            run(gateway.then(flood.send).url, flood)
        failed = failed or flood.growth() > _MOST
        print(
            f"{run.__name__}: {events:,} events, at most {flood.ahead:,} ahead of the handler, "
            f"{flood.memory[-1]:,} KiB, grown by {flood.growth():,} KiB, at most {_MOST:,}",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000))
