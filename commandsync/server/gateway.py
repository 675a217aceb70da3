"""The gateway: a WebSocket that sends a bot its events (wire notes, "Events: the gateway").

It speaks Engine.IO as published clients do. The first digit of a text frame is the kind of an
Engine.IO packet; of a message (`4`), the second one is the kind of a Socket.IO packet. A client is
admitted by its token, greeted, told that it is `ready`, and then sent every later event of its bot
until one side closes the connection. A client that names version 3 pings, one that names version 4
is pinged, and one that names none may be silent for ever.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable
from contextlib import suppress
from typing import NoReturn

from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.websockets import WebSocket, WebSocketDisconnect

from commandsync.server import protocol, storage, votes
from commandsync.server.database import Database
from commandsync.server.endpoint import refused_answer
from commandsync.server.votes import (
    UNAUTHORIZED,
    CloseReason,
    GatewayClient,
    account_of,
    event_frame,
    packed,
)

_log = logging.getLogger("commandsync.server")

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
        return CloseReason(UNAUTHORIZED, str(error))
    except SQLAlchemyError as error:
        # Its words are left out: they may contain parts of the database's URL.
        _log.warning("a client of the gateway is refused: %s", type(error).__name__)
        return _UNAVAILABLE
    client, alive = GatewayClient(bot["id"], position, key), asyncio.Event()
    for frame in greeting(version, interval=PING_INTERVAL, timeout=PING_TIMEOUT):
        client.send(frame)
    client.send(event_frame("ready", bot))
    work = [_send(socket, client), _receive(socket, client, version, alive)]
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
        return account_of(record), votes.last_event(connection), owner.key


async def _send(socket: WebSocket, client: GatewayClient) -> NoReturn:
    while True:
        await socket.send_text(await client.next_frame())


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
