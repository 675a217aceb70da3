"""Events: from the outbox to the clients that are connected to this process.

An event is added to the outbox, a table, in the transaction that causes it: it is committed with
its vote or not at all. Its number gives its place, and the order of the numbers is the order in
which the events are committed. The table is the truth: one task reads the events after the position
of the client that is furthest behind, and each client takes those after its own. So every event
that is committed after a client's position is delivered to it once and in order, whichever process
wrote it.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from sys import getsizeof
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from commandsync.server import database, storage
from commandsync.server.database import Database
from commandsync.server.tables import outbox

EventName = Literal["vote", "reminder"]

_LOCK = 0x636F6D6D  # of those who write to the outbox


def add_event(
    connection: Connection, bot: str, event: EventName, data: Mapping[str, Any], *, at: datetime
) -> None:
    """Add an event to the outbox, in a transaction that writes; `at` is its time.

    A reader that has seen a number never finds a smaller one later.
    """
    database.wait_alone(connection, _LOCK)
    values = {"bot": bot, "event": event, "data": data, "created_at": storage.timestamp(at)}
    connection.execute(insert(outbox).values(values))


def last_event(connection: Connection) -> int:
    """Return the number of the last event; 0 if there is none."""
    number: int = connection.execute(select(func.coalesce(func.max(outbox.c.seq), 0))).scalar_one()
    return number


def events_after(connection: Connection, seq: int, limit: int) -> Sequence[Any]:
    """Return the events that follow a number, in their order and at most `limit`.

    Each has its number `seq`, its `bot`, its name `event`, and its `data` as on the wire.
    """
    query = (
        select(outbox.c.seq, outbox.c.bot, outbox.c.event, outbox.c.data)
        .where(outbox.c.seq > seq)
        .order_by(outbox.c.seq)
        .limit(limit)
    )
    return connection.execute(query).all()


def prune_events(connection: Connection, *, before: datetime) -> None:
    """Delete the events from before a time; no client waits for one of them."""
    database.wait_alone(connection, _LOCK)
    connection.execute(delete(outbox).where(outbox.c.created_at < storage.timestamp(before)))


_log = logging.getLogger("commandsync.server")

POLL = 0.25
"""Seconds between two reads of the outbox; a commit in this process is noticed at once."""

LARGEST_QUEUE = 1024 * 1024
"""Bytes of the frames that are kept for a client that does not read them."""

CHECK = 1.0
"""Seconds between two checks of the tokens of all clients, and for reminders that are due."""

UNAUTHORIZED = 3000  # registered for WebSockets with this meaning

_BATCH = 100  # entries: all of them are sent before other requests are answered


def event_frame(name: str, data: Mapping[str, Any]) -> str:
    """Return the frame of an event.

    Published clients split it at `"message",` and parse the rest until it is an object, so that the
    content is JSON in a string.
    """
    return "42" + packed(["message", packed({"event": name, "data": data})])


def packed(content: object) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(content, separators=(",", ":"))


class CloseReason(NamedTuple):
    """The close code and the reason that a client is told."""

    code: int
    reason: str


TOO_SLOW = CloseReason(1013, "the client is too slow: more than 1 MiB is waiting")
_REVOKED = CloseReason(UNAUTHORIZED, "the bot was removed, or its token was replaced by a new one")


@dataclass(slots=True, eq=False)
class Client:
    """A client of the gateway."""

    bot: str  # the bot whose events it receives
    position: int  # the number of the last entry that it does not need
    key: str  # the key of its token
    # What it is sent next, and its size.
    frames: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    waiting: int = 0
    # The reason to close the connection.
    ended: asyncio.Future[CloseReason] = field(default_factory=asyncio.Future)

    def send(self, frame: str) -> None:
        """Queue a frame; a client that does not read its frames is closed."""
        if self.waiting + getsizeof(frame) > LARGEST_QUEUE:
            self.end(TOO_SLOW)
        else:
            self.waiting += getsizeof(frame)
            self.frames.put_nowait(frame)

    async def next_frame(self) -> str:
        """Wait for the next frame, and return it."""
        frame = await self.frames.get()
        self.waiting -= getsizeof(frame)
        return frame

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
        self._failing: set[str] = set()
        self.loop = asyncio.get_running_loop()
        """The loop that all of this runs in."""

    def bots(self) -> set[str]:
        """Return the bots that are connected to this process; may be called in any thread."""
        return {client.bot for client in [*self._clients]}

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
        """Read the outbox at once; may be called in any thread."""
        self.loop.call_soon_threadsafe(self._changed.set)

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
            frame = event_frame(entry.event, entry.data) if waiting else ""
            for client in waiting:
                client.send(frame)
        for client in clients if entries else ():
            client.position = max(client.position, entries[-1].seq)
        return len(entries) == _BATCH

    async def look_after(self, remind: Callable[[set[str]], object]) -> None:
        """Check the tokens of all clients and remind their bots, each second until cancelled."""
        while True:
            await asyncio.sleep(CHECK)
            # Those that join during the read are of bots that it may leave out.
            clients = [*self._clients]
            if not clients:
                continue
            with self._retried("tokens cannot be checked, or reminders sent"):
                bots = {client.bot for client in clients}
                keys = await asyncio.to_thread(self._keys_of, bots)
                for client in clients:
                    if client.key != keys.get(client.bot):
                        client.end(_REVOKED)
                await asyncio.to_thread(remind, bots)

    @contextmanager
    def _retried(self, problem: str) -> Iterator[None]:
        """Pass over a failure of the database, and log the first one of several in a row."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, the next try may succeed
            if problem not in self._failing:  # the words may contain parts of the database's URL
                _log.warning("%s, which is retried: %s", problem, type(error).__name__)
            self._failing.add(problem)
        else:
            self._failing.discard(problem)

    def _keys_of(self, bots: set[str]) -> dict[str, str]:
        with self._database.reading() as connection:
            return storage.token_keys_of(connection, bots)

    def _read(self, position: int) -> Sequence[Any]:
        with self._retried("events cannot be read"), self._database.reading() as connection:
            return events_after(connection, position, _BATCH)
        return []


@asynccontextmanager
async def delivering(
    database: Database, remind: Callable[[set[str]], object] = lambda _: None
) -> AsyncIterator[Broadcast]:
    """Deliver for as long as the block lasts; `remind` sends the reminders of bots."""
    broadcast = Broadcast(database)
    database.after_commit = broadcast.hint
    tasks = [asyncio.create_task(work) for work in (broadcast.run(), broadcast.look_after(remind))]
    try:
        yield broadcast
    finally:
        database.after_commit = lambda: None
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
