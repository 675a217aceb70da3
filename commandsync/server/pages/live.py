"""The bots whose pages are open, with their counters, for the streams of the pages.

The first page of a bot joins the broadcast, as a client of the gateway does. The events that come
together make one read of the counters, for all pages of the bot. Only the newest state is kept, so
nothing waits for a page that does not read.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from commandsync.server import counters, outbox, storage
from commandsync.server.broadcast import Broadcast, Client
from commandsync.server.database import Database
from commandsync.server.pages.stream import News

MOST_STREAMS = 500
"""Pages that are served at a time by this process, which may often have 1,024 files open."""

_RETRY = 1.0  # seconds
_COUNTERS = ("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")

_log = logging.getLogger("commandsync.server")


@dataclass(slots=True, eq=False, kw_only=True)
class Watched(News):
    """A bot whose page is open; its state is its counters, by their names on the wire."""

    client: Client  # what receives its events
    streams: int = 0  # how many pages there are
    task: asyncio.Task[None] = field(init=False)  # what reads the counters


class Live:
    """The bots whose pages are open in this process."""

    def __init__(
        self, database: Database, broadcast: Broadcast, now: Callable[[], datetime]
    ) -> None:
        self._database, self._broadcast, self._now = database, broadcast, now
        self._watched: dict[str, Watched] = {}
        self._streams = 0

    @asynccontextmanager
    async def watching(self, bot: str) -> AsyncIterator[Watched]:
        """Keep the counters of a bot up to date while the block lasts.

        Raises `UnknownError` without such a bot, and `HTTPException` if too many pages are open.
        """
        if self._streams >= MOST_STREAMS:
            raise HTTPException(503, "too many pages are open", {"Retry-After": "60"})
        self._streams += 1
        try:
            watched = self._watched.get(bot) or await self._begin(bot)
            watched.streams += 1
            try:
                yield watched
            finally:
                watched.streams -= 1
                if not watched.streams:
                    del self._watched[bot]
                    self._broadcast.leave(watched.client)
                    watched.task.cancel()
        finally:
            self._streams -= 1

    async def _begin(self, bot: str) -> Watched:
        position, state = await asyncio.to_thread(self._read, bot)
        if bot not in self._watched:  # another page may have been first
            watched = self._watched[bot] = Watched(state=state, client=Client(bot, position))
            watched.task = asyncio.create_task(self._follow(watched))
            self._broadcast.join(watched.client)
        return self._watched[bot]

    async def _follow(self, watched: Watched) -> None:
        """Read the counters after each event, once for those that come together."""
        client, state = watched.client, watched.state
        while True:
            await client.next_frame()
            while not client.frames.empty():
                await client.next_frame()
            try:
                with suppress(storage.UnknownError):  # it was removed: its pages stay as they are
                    _, state = await asyncio.to_thread(self._read, client.bot)
            except SQLAlchemyError as error:
                # Its words are left out: they may contain parts of the database's URL.
                _log.warning("counters cannot be read, which is retried: %s", type(error).__name__)
                self._broadcast.loop.call_later(_RETRY, client.send, "")
            watched.tell(state)

    def _read(self, bot: str) -> tuple[int, dict[str, object]]:
        """Return the last event that the counters of a bot contain for sure, and their state."""
        with self._database.reading() as connection:
            position = outbox.last(connection)
            record = counters.counted_bot(connection, bot, at=self._now())
        return position, {"votes": {name: record["statistics"][name] for name in _COUNTERS}}
