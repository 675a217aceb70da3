"""The live part of the pages: a stream of server-sent events for each one that is open.

What the gateway sends is what the pages hear of. The first page of a bot joins the broadcast, and
each event makes one read of the counters for all pages of this bot, however many events and pages
there are. A page is sent the newest state alone, so nothing waits for one that does not read.
"""

from __future__ import annotations

import asyncio
import json
import logging
from asyncio import FIRST_COMPLETED
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import StreamingResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002 - the framework reads it

from commandsync.server import counters, listing, outbox
from commandsync.server.broadcast import Client
from commandsync.server.methods import HEAD_ONLY
from commandsync.server.pages.overlay import Overlay, Preview
from commandsync.server.protocol import AT_SHUTDOWN

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime

    from starlette.types import Receive, Scope, Send

    from commandsync.server.broadcast import Broadcast
    from commandsync.server.database import Database

router = APIRouter(include_in_schema=False)

MOST_STREAMS = 1_000
"""Pages that are served at a time by this process."""

KEEP_ALIVE = 15.0
"""Seconds without news after which a page is sent a comment; proxies close silent connections."""

_RETRY = 1.0  # seconds
_COUNTERS = ("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")

_log = logging.getLogger("commandsync.server")


@dataclass(slots=True, eq=False)
class Watched:
    """A bot whose page is open.

    Attributes:
        client: What hears of its events.
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
        """Read the counters after each event; one time for those that come together."""
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


@router.get("/bot/{bot}/live")
async def open_live(bot: str, request: Request) -> Response:
    """Return the stream of a bot's page."""
    return _Stream(request.app, bot)


def show(app: FastAPI, overlay: Overlay) -> None:
    """Let the pages of a preview show another overlay at once; may be called in any thread.

    The first version is the time: a page that was opened before a restart has another one.
    """
    version = _version(app) + 1 if app.state.preview else round(time() * 1_000)
    app.state.preview = Preview(overlay, version=version)
    app.state.live.hint()


def _version(app: FastAPI) -> int:
    """Return the version of a preview; 0 before it shows anything, and for a listing."""
    preview: Preview | None = app.state.preview
    return 0 if preview is None else preview.version


class _Stream(StreamingResponse):
    """The state of a page as an event, now and at every change, until the page is closed."""

    def __init__(self, app: FastAPI, bot: str) -> None:
        super().__init__((), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._app, self._bot = app, bot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        ending = asyncio.Event()
        scope["state"][AT_SHUTDOWN] = ending.set
        if HEAD_ONLY in scope:
            ending.set()
        async with self._app.state.live.watching(self._bot) as watched:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            tasks = [
                asyncio.create_task(work)
                for work in (
                    self._send_states(watched, send),
                    _until_closed(receive),
                    ending.wait(),
                )
            ]
            try:
                await asyncio.wait(tasks, return_when=FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_states(self, watched: Watched, send: Send) -> None:
        sent = b""
        while True:
            changed = watched.changed
            state = _event({"version": _version(self._app), "votes": watched.votes})
            news = b":\n\n" if state == sent else state
            await send({"type": "http.response.body", "body": news, "more_body": True})
            sent = state
            with suppress(TimeoutError):
                async with asyncio.timeout(KEEP_ALIVE):
                    await changed.wait()


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(content: object) -> bytes:
    return f"data: {json.dumps(content, separators=(',', ':'))}\n\n".encode()
