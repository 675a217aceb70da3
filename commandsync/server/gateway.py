"""The gateway: a WebSocket that sends a bot its events (wire notes, "Events: the gateway").

The outbox of `votes.py` has the events of all processes in their order. One task of each process, a
`Broadcast`, reads the events after the position of the client that is furthest behind, and each
client takes those after its own. So every event that is committed after a client's position is
delivered to it once and in order, whichever process wrote it.

The WebSocket speaks Engine.IO as published clients do. The first digit of a text frame is the kind
of an Engine.IO packet. A message (`4`) has the kind of a Socket.IO packet as its second digit. A
client is admitted by its token, greeted, told that it is `ready`, and then sent every later event
of its bot until one side closes the connection. A client of version 3 pings, a client of version 4
is pinged, and a client that names none may be silent for ever.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from sys import getsizeof
from typing import Any, NamedTuple, NoReturn

from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocket, WebSocketDisconnect

from commandsync.server import protocol, storage, votes
from commandsync.server.database import Database
from commandsync.server.endpoint import refused_answer

_log = logging.getLogger("commandsync.server")

POLL = 0.25
"""Seconds between two reads of the outbox; a commit in this process is noticed at once."""

LARGEST_QUEUE = 1024 * 1024
"""Bytes of the frames that are kept for a client that does not read them."""

CHECK = 1.0
"""Seconds between two checks of the tokens of all clients, and for reminders that are due."""

_UNAUTHORIZED = 3000  # registered for WebSockets with this meaning

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
    """The close code of a WebSocket, and the reason in words."""

    code: int
    reason: str


TOO_SLOW = CloseReason(1013, "the client is too slow: more than 1 MiB is waiting")
_REVOKED = CloseReason(_UNAUTHORIZED, "the bot was removed, or its token was replaced by a new one")


@dataclass(slots=True, eq=False)
class GatewayClient:
    """A client of the gateway."""

    bot: str  # the bot whose events it receives
    position: int  # the number of the last entry that it does not need
    key: str  # the key of its token
    # The frames that it is sent next, and their size.
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
        self._clients: set[GatewayClient] = set()
        self._changed = asyncio.Event()
        self._failing: set[str] = set()
        self.loop = asyncio.get_running_loop()
        """The loop that all of this runs in."""

    def bots(self) -> set[str]:
        """Return the bots that are connected to this process; may be called in any thread."""
        return {client.bot for client in [*self._clients]}

    def join(self, client: GatewayClient) -> None:
        """Deliver to a client every entry that follows its position."""
        self._clients.add(client)
        self._changed.set()

    def leave(self, client: GatewayClient) -> None:
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

    def wake(self) -> None:
        """Read the outbox at once; may be called in any thread."""
        self.loop.call_soon_threadsafe(self._changed.set)

    async def _deliver(self) -> bool:
        """Deliver the next entries; return whether there may be more of them."""
        clients = [*self._clients]
        if not clients:
            return False
        entries = await asyncio.to_thread(self._read, min(client.position for client in clients))
        by_bot: dict[str, list[GatewayClient]] = {}
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

        def token_keys(bots: set[str]) -> dict[str, str]:
            with self._database.reading() as connection:
                return storage.token_keys_of(connection, bots)

        while True:
            await asyncio.sleep(CHECK)
            # The read may leave out the bots of clients that join meanwhile.
            clients = [*self._clients]
            if not clients:
                continue
            with self._retried("tokens cannot be checked, or reminders sent"):
                bots = {client.bot for client in clients}
                keys = await asyncio.to_thread(token_keys, bots)
                for client in clients:
                    if client.key != keys.get(client.bot):
                        client.end(_REVOKED)
                await asyncio.to_thread(remind, bots)

    @contextmanager
    def _retried(self, problem: str) -> Iterator[None]:
        """Pass over a failure of the database, and log the first one of several in a row."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - after any error, the next try may succeed
            if problem not in self._failing:  # the words may contain parts of the database's URL
                _log.warning("%s, which is retried: %s", problem, type(error).__name__)
            self._failing.add(problem)
        else:
            self._failing.discard(problem)

    def _read(self, position: int) -> Sequence[Any]:
        with self._retried("events cannot be read"), self._database.reading() as connection:
            return votes.events_after(connection, position, _BATCH)
        return []


@asynccontextmanager
async def delivering(
    database: Database, remind: Callable[[set[str]], object] = lambda _: None
) -> AsyncIterator[Broadcast]:
    """Deliver for as long as the block lasts; `remind` sends the reminders of bots."""
    broadcast = Broadcast(database)
    database.after_commit = broadcast.wake
    tasks = [asyncio.create_task(work) for work in (broadcast.run(), broadcast.look_after(remind))]
    try:
        yield broadcast
    finally:
        database.after_commit = lambda: None
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


router = APIRouter()

LARGEST_FRAME = 64 * 1024
"""Bytes that a client may send in one frame; the packets that it needs are a few bytes long."""

CLOSE, PING, PONG, DISCONNECT = "1", "2", "3", "41"


PING_INTERVAL = 25.0
"""Seconds between two pings: Engine.IO's own default."""

PING_TIMEOUT = 20.0
"""Seconds within which a ping is answered: Engine.IO's own default."""

_LEFT = CloseReason(1000, "")
_SILENT = CloseReason(1008, "no heartbeat in time")
_UNAVAILABLE = CloseReason(1013, "the database does not answer; try again later")
_VERSIONS = {"", "3", "4"}
_SIGN_OF_LIFE = {"3": PING, "4": PONG}


@router.websocket("/gateway/")
@router.websocket("/gateway")
async def open_gateway(socket: WebSocket) -> None:
    """Serve one client, from the handshake until one of the two sides closes the connection."""
    query = socket.query_params
    with suppress(WebSocketDisconnect):
        if query.get("transport", "websocket") != "websocket":
            await socket.send_denial_response(
                refused_answer(400, "the transport must be websocket")
            )
        elif query.get("EIO", "") not in _VERSIONS:
            await socket.send_denial_response(refused_answer(400, "EIO must be 3 or 4, or absent"))
        else:
            await socket.accept()
            reason = await _serve(socket, query.get("token", ""), query.get("EIO", ""))
            await socket.close(*reason)


@router.get("/gateway/", include_in_schema=False)
@router.get("/gateway", include_in_schema=False)
async def explain_gateway() -> None:
    """Answer a request that does not ask for a WebSocket."""
    raise HTTPException(
        426, "the gateway is a WebSocket: see docs/service.md", {"Upgrade": "websocket"}
    )


def greeting(version: str, *, interval: float, timeout: float) -> tuple[str, ...]:
    """Return the first frames of a connection; `version` is Engine.IO's, or empty.

    Seconds are between two pings (`interval`), and within which one is answered (`timeout`).
    """
    session = {
        "sid": secrets.token_urlsafe(15),
        "upgrades": [],
        "pingInterval": round(interval * 1000),
        "pingTimeout": round(timeout * 1000),
        "maxPayload": LARGEST_FRAME,
    }
    # With version 4 a client reads the connect packet as one of version 2 unless it has an id.
    connected = packed({"sid": secrets.token_urlsafe(15)}) if version == "4" else ""
    return f"0{packed(session)}", f"40{connected}"


async def _serve(socket: WebSocket, token: str, version: str) -> CloseReason:
    """Send a client its events until there is a reason to close, or it closes the connection.

    A refused token is such a reason, and not a status of the handshake: a client sees the reason.
    """
    state = socket.app.state
    try:
        bot, position, key = await asyncio.to_thread(_admit, state.database, token)
    except (protocol.BadTokenError, storage.UnknownError) as error:
        return CloseReason(_UNAUTHORIZED, str(error))
    except SQLAlchemyError as error:
        # Its words are left out: they may contain parts of the database's URL.
        _log.warning("a client of the gateway is refused: %s", type(error).__name__)
        return _UNAVAILABLE
    client, alive = GatewayClient(bot["id"], position, key), asyncio.Event()
    for frame in greeting(version, interval=PING_INTERVAL, timeout=PING_TIMEOUT):
        client.send(frame)
    client.send(event_frame("ready", bot))

    async def send() -> NoReturn:
        while True:
            await socket.send_text(await client.next_frame())

    work = [send(), _receive(socket, client, version, alive)]
    if version:
        work.append(_ping(client, alive) if version == "4" else _await_pings(alive))
    state.broadcast.join(client)
    try:
        reason = await _first_of(client.ended, *work)
    finally:
        state.broadcast.leave(client)
    return reason


async def _first_of(*work: Awaitable[CloseReason]) -> CloseReason:
    """Return the result of the first that ends, and cancel the rest."""
    tasks = [asyncio.ensure_future(part) for part in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _admit(database: Database, token: str) -> tuple[dict[str, str], int, str]:
    """Return a token's bot, as in `ready`, the last event that it does not need, and the key."""
    owner = protocol.owner_of(token, secret=database.secret)
    with database.reading() as connection:
        record = storage.bot_of(connection, owner.bot)
        protocol.check(owner, storage.token_key_of(connection, owner.bot))
        return votes.account_of(record), votes.last_event(connection), owner.key


async def _receive(
    socket: WebSocket, client: GatewayClient, version: str, alive: asyncio.Event
) -> CloseReason:
    """Answer pings until the client leaves; unknown frames are ignored."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"])
        frame = message.get("text") or ""
        if frame in {CLOSE, DISCONNECT}:
            return _LEFT
        if frame.startswith(PING):
            client.send(PONG + frame[1:])
        if frame[:1] == _SIGN_OF_LIFE.get(version):
            alive.set()


async def _ping(client: GatewayClient, alive: asyncio.Event) -> CloseReason:
    """Ping a client of version 4 until it does not answer."""
    answered = True
    while answered:
        await asyncio.sleep(PING_INTERVAL)
        alive.clear()
        client.send(PING)
        answered = await _is_set(alive, PING_TIMEOUT)
    return _SILENT


async def _await_pings(alive: asyncio.Event) -> CloseReason:
    """Wait until a client of version 3, which pings if it can, has stopped."""
    await alive.wait()
    while await _is_set(alive, PING_INTERVAL + PING_TIMEOUT):
        alive.clear()
    return _SILENT


async def _is_set(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
