"""The delivery of events: from the outbox to the clients that are connected to this process.

The table is the truth. One task reads what follows the client that is furthest behind; each client
takes what follows its own position. So every event that is committed after a client's position is
delivered to it once and in order, whichever process wrote it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from commandsync.server import frames, outbox
from commandsync.server.database import Database

_log = logging.getLogger("commandsync.server")

POLL = 0.25
"""Seconds between two reads of the outbox; a commit in this process is noticed at once."""

LONGEST_QUEUE = 1_000
"""Frames that are kept for a client that does not read them."""

_BATCH = 100  # entries: all of them are sent before other requests are answered


class CloseReason(NamedTuple):
    """The close code and the reason that a client is told."""

    code: int
    reason: str


TOO_SLOW = CloseReason(
    1013, f"the client is too slow: more than {LONGEST_QUEUE} frames are waiting"
)


@dataclass(slots=True, eq=False)
class Client:
    """A client of the gateway."""

    bot: str  # the bot whose events it receives
    position: int  # the number of the last entry that it does not need
    # What it is sent next.
    frames: asyncio.Queue[str] = field(default_factory=lambda: asyncio.Queue(LONGEST_QUEUE))
    # The reason to close the connection.
    ended: asyncio.Future[CloseReason] = field(default_factory=asyncio.Future)

    def send(self, frame: str) -> None:
        """Queue a frame; a client that does not read its frames is closed."""
        try:
            self.frames.put_nowait(frame)
        except asyncio.QueueFull:
            self.end(TOO_SLOW)

    def end(self, reason: CloseReason) -> None:
        """Close the connection; the first reason counts."""
        if not self.ended.done():
            self.ended.set_result(reason)


class Broadcast:
    """The clients that are connected to this process, and the task that reads for them."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._clients: set[Client] = set()
        self._changed = asyncio.Event()
        self._failing = False

    def join(self, client: Client) -> None:
        """Deliver to a client every entry that follows its position."""
        self._clients.add(client)
        self._changed.set()

    def leave(self, client: Client) -> None:
        """Deliver nothing more to a client."""
        self._clients.discard(client)

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            self._changed.clear()
            if not await self._deliver():
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL if self._clients else None):
                        await self._changed.wait()

    def hint(self) -> None:
        """Read the outbox at once."""
        self._changed.set()

    async def _deliver(self) -> bool:
        """Deliver the next entries; return whether there may be more of them."""
        clients = [*self._clients]
        if not clients:
            return False
        entries = await asyncio.to_thread(self._read, min(client.position for client in clients))
        by_bot: dict[str, list[Client]] = {}
        for client in clients:
            by_bot.setdefault(client.bot, []).append(client)
        for entry in entries:
            waiting = [c for c in by_bot.get(entry.bot, ()) if c.position < entry.seq]
            frame = frames.event(entry.event, entry.data) if waiting else ""
            for client in waiting:
                client.send(frame)
        for client in clients if entries else ():
            client.position = max(client.position, entries[-1].seq)
        return len(entries) == _BATCH

    def _read(self, position: int) -> list[outbox.Entry]:
        try:
            with self._database.reading() as connection:
                entries = outbox.after(connection, position, _BATCH)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next read may succeed
            if not self._failing:
                _log.warning("events cannot be read, which is retried: %s", type(error).__name__)
            self._failing = True
            return []
        self._failing = False
        return entries


@asynccontextmanager
async def delivering(database: Database) -> AsyncIterator[Broadcast]:
    """Deliver for as long as the block lasts."""
    broadcast = Broadcast(database)
    loop = asyncio.get_running_loop()
    database.after_commit = lambda: loop.call_soon_threadsafe(broadcast.hint)
    task = asyncio.create_task(broadcast.run())
    try:
        yield broadcast
    finally:
        database.after_commit = lambda: None
        task.cancel()
        await asyncio.wait([task])
