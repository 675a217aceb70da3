"""The gateway's other side: a small real WebSocket server that speaks Engine.IO, on loopback.

It is told what to do with each connection that will come, in order; the last one stays for all
that follow. It shares nothing with the product.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.support.blocked import LoopThread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Self

    Act = Callable[["Guest"], Awaitable[None]]

BOT = {"id": "42", "username": "Helper"}
PROMISE = {"sid": "s1", "upgrades": [], "pingInterval": 25000, "pingTimeout": 20000}


def event(name: str, data: object, *, folds: int = 1) -> str:
    """Return an event's frame, with JSON folded so many times into strings."""
    said: object = {"event": name, "data": data}
    for _ in range(folds):
        said = json.dumps(said)
    return "42" + json.dumps(["message", said])


def vote(user: int | str) -> str:
    """Return the frame of a vote."""
    return event("vote", {"user": {"id": str(user), "username": f"u{user}"}, "bot": BOT})


READY = event("ready", BOT)


@dataclass
class Guest:
    """One connection."""

    socket: web.WebSocketResponse
    request: web.Request
    heard: list[str] = field(default_factory=list)

    async def say(self, *frames: str) -> None:
        for frame in frames:
            await self.socket.send_str(frame)

    async def welcome(self, **promise: int) -> None:
        """Do what comes first on every good connection."""
        await self.say("0" + json.dumps({**PROMISE, **promise}), "40", READY)

    async def hear(self) -> str | None:
        """Return the next frame; None when the client has left."""
        message = await self.socket.receive()
        if message.type is not WSMsgType.TEXT:
            return None
        self.heard.append(message.data)
        return self.heard[-1]

    async def stay(self) -> None:
        """Keep the connection until the client leaves."""
        while await self.hear() is not None:
            pass


@dataclass
class Gateway:
    """The server; use it as a context manager.

    Attributes:
        acts: What to do with each connection.
        status: What the handshake is answered with, one after the other, before any connection.
        voters: What a read of the voters shows, one after the other; the last one stays.
        guests: The connections so far.
        asked: The query of every handshake.
    """

    acts: list[Act] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    voters: list[list[dict[str, Any]] | int] = field(default_factory=list)
    guests: list[Guest] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Self:
        self._thread = LoopThread()
        self._thread.run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.run(self._runner.cleanup())
        self._thread.close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def then(self, *acts: Act) -> Self:
        self.acts.extend(acts)
        return self

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_get("/v1/gateway/", self._handshake)
        app.router.add_get("/v1/bot/42/voters", self._voters)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _handshake(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(dict(request.query))
        if self.status:
            status = self.status.pop(0)
            return web.json_response(
                {"error": "no"}, status=status, headers={"Location": "http://127.0.0.1:9/"}
            )
        if not self.acts:
            return web.json_response({"error": "no gateway"}, status=404)
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        guest = Guest(socket, request)
        self.guests.append(guest)
        await act(guest)
        return socket

    async def _voters(self, request: web.Request) -> web.Response:
        if request.query["page"] != "1":
            return web.json_response({"success": True, "data": {"data": []}})
        shown = self.voters.pop(0) if len(self.voters) > 1 else self.voters[0]
        if isinstance(shown, int):
            return web.json_response({"error": "no"}, status=shown)
        queries = {"page": 1, "maxPage": 1}
        return web.json_response({"success": True, "data": {"queries": queries, "data": shown}})


async def staying(guest: Guest) -> None:
    """Welcome, and keep the connection."""
    await guest.welcome()
    await guest.stay()


def telling(*frames: str) -> Act:
    """Welcome, say this and keep the connection."""

    async def act(guest: Guest) -> None:
        await guest.welcome()
        await guest.say(*frames)
        await guest.stay()

    return act


def closing(*frames: str, code: int = 1012, reason: str = "", welcome: bool = True) -> Act:
    """Welcome, say this and close."""

    async def act(guest: Guest) -> None:
        if welcome:
            await guest.welcome()
        await guest.say(*frames)
        await guest.socket.close(code=code, message=reason.encode())

    return act


async def half_open(guest: Guest) -> None:
    """Promise heartbeats, and never say anything again, as behind a broken router."""
    await guest.welcome(pingInterval=40, pingTimeout=40)
    await asyncio.sleep(0)
    await guest.stay()
