"""The bots whose pages are open, with their counters, for the streams of the pages.

The first page of a bot joins the broadcast, as a client of the gateway does. The events that come
together make one read of the counters, for all pages of the bot. Only the newest state is kept, so
nothing waits for a page that does not read.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from commandsync.server import counters, listing, outbox
from commandsync.server.broadcast import Client
from commandsync.server.pages.overlay import Preview

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime

    from fastapi import FastAPI

    from commandsync.server.broadcast import Broadcast
    from commandsync.server.database import Database
    from commandsync.server.pages.overlay import Overlay

MOST_STREAMS = 500
"""Pages that are served at a time by this process, which may often have 1,024 files open."""

_RETRY = 1.0  # seconds
_COUNTERS = ("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")

_log = logging.getLogger("commandsync.server")


@dataclass(slots=True, eq=False)
class Watched:
    """A bot whose page is open.

    Attributes:
        client: What receives its events.
        votes: Its counters, by their names on the wire.
        changed: Set, and replaced, when there is news for its pages.
        streams: How many pages there are.
        task: What reads the counters.
    """

    client: Client
    votes: dict[str, int]
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    streams: int = 0
    task: asyncio.Task[None] = field(init=False)

    def wake(self) -> None:
        """Let every page look for news."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class Live:
    """The bots whose pages are open in this process."""

    def __init__(
        self, database: Database, broadcast: Broadcast, now: Callable[[], datetime]
    ) -> None:
        self._database, self._broadcast, self._now = database, broadcast, now
        self._loop = asyncio.get_running_loop()
        self._watched: dict[str, Watched] = {}
        self._streams = 0

    def hint(self) -> None:
        """Let every page look for news; may be called in any thread."""
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        for watched in self._watched.values():
            watched.wake()

    @asynccontextmanager
    async def watching(self, bot: str) -> AsyncIterator[Watched]:
        """Keep the counters of a bot up to date while the block lasts.

        Raises:
            UnknownError: There is no such bot.
            HTTPException: Too many pages are open.
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
                    self._end(watched)
        finally:
            self._streams -= 1

    async def _begin(self, bot: str) -> Watched:
        position, votes = await asyncio.to_thread(self._read, bot)
        if bot not in self._watched:  # another page may have been first
            watched = self._watched[bot] = Watched(Client(bot, position), votes)
            watched.task = asyncio.create_task(self._follow(watched))
            self._broadcast.join(watched.client)
        return self._watched[bot]

    def _end(self, watched: Watched) -> None:
        del self._watched[watched.client.bot]
        self._broadcast.leave(watched.client)
        watched.task.cancel()

    async def _follow(self, watched: Watched) -> None:
        """Read the counters after each event, once for those that come together."""
        client = watched.client
        while True:
            await client.frames.get()
            while not client.frames.empty():
                client.frames.get_nowait()
            try:
                with suppress(listing.UnknownError):  # it was removed: its pages stay as they are
                    _, watched.votes = await asyncio.to_thread(self._read, client.bot)
            except SQLAlchemyError as error:
                # Its words are left out: they may contain parts of the database's URL.
                _log.warning("counters cannot be read, which is retried: %s", type(error).__name__)
                self._loop.call_later(_RETRY, client.send, "")
            watched.wake()

    def _read(self, bot: str) -> tuple[int, dict[str, int]]:
        """Return the last event that the counters of a bot contain for sure, and the counters."""
        with self._database.reading() as connection:
            position = outbox.last(connection)
            stored = listing.bot_of(connection, bot)
            (record,) = counters.with_counts(connection, [stored], at=self._now())
        return position, {name: record["statistics"][name] for name in _COUNTERS}


def show(app: FastAPI, overlay: Overlay) -> None:
    """Let the pages of a preview show another overlay at once; may be called in any thread.

    The first version is the time: a page that was opened before a restart has another one.
    """
    version = version_of(app) + 1 if app.state.preview else round(time() * 1_000)
    app.state.preview = Preview(overlay, version=version)
    app.state.live.hint()


def version_of(app: FastAPI) -> int:
    """Return the version of a preview; 0 before it shows anything, and for a listing."""
    preview: Preview | None = app.state.preview
    return 0 if preview is None else preview.version
