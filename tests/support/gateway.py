"""A small real gateway: a WebSocket server that speaks Engine.IO, on loopback.

A test plans an act for each connection, in order; the last one serves all that follow. It shares
nothing with the product.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any, Self

from tests.support.rawserver import Exchange, SocketServer, answer

Act = Callable[["Guest"], None]

BOT = {"id": "42", "username": "Helper"}
PROMISE = {"sid": "s1", "upgrades": [], "pingInterval": 25000, "pingTimeout": 20000}
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10  # kinds of frames, RFC 6455, 5.2
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


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


def framed(payload: bytes, kind: int = TEXT) -> bytes:
    """Return a WebSocket frame as a server sends it."""
    length = len(payload)
    if length < 126:
        return bytes([0x80 | kind, length]) + payload
    marker, size = (126, 2) if length < 1 << 16 else (127, 8)
    return bytes([0x80 | kind, marker]) + length.to_bytes(size) + payload


@dataclass
class Guest:
    """One connection."""

    exchange: Exchange
    heard: list[str] = field(default_factory=list)

    def say(self, *frames: str) -> None:
        self.exchange.send(b"".join(framed(frame.encode()) for frame in frames))

    def welcome(self, **promise: int) -> None:
        """Do what comes first on every good connection."""
        self.say("0" + json.dumps({**PROMISE, **promise}), "40", READY)

    def hear(self) -> str | None:
        """Return the next frame; None when the client has left."""
        while (frame := self._received())[0] == PING:
            self.exchange.send(framed(frame[1], PONG))
        kind, payload = frame
        if kind != TEXT:
            return None
        self.heard.append(payload.decode())
        return self.heard[-1]

    def stay(self) -> None:
        """Keep the connection until the client leaves."""
        while self.hear() is not None:
            pass

    def leave(self, code: int, reason: str) -> None:
        """Close, and wait for the client to have seen it."""
        self.exchange.send(framed(code.to_bytes(2) + reason.encode(), CLOSE))
        self.stay()

    def _received(self) -> tuple[int, bytes]:
        read = self.exchange.reader.read
        head = read(2)
        if len(head) < 2:
            return CLOSE, b""
        length = head[1] & 0x7F
        if length > 125:
            length = int.from_bytes(read(2 if length == 126 else 8))
        mask, payload = read(4), read(length)
        return head[0] & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))


@dataclass
class Gateway(SocketServer):
    """The server.

    Attributes:
        acts: What to do with each connection.
        status: What the handshake is answered with, one after the other, before any connection.
        voters: What a read of the voters shows, one after the other; the last one stays, and
            without any the bot is unknown.
        guests: The connections so far.
    """

    acts: list[Act] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    voters: list[list[dict[str, Any]] | int] = field(default_factory=list)
    guests: list[Guest] = field(default_factory=list)

    @property
    def asked(self) -> list[dict[str, str]]:
        """The query of every handshake."""
        return [request.query for request in self.requests if request.path == "/v1/gateway/"]

    def then(self, *acts: Act) -> Self:
        self.acts.extend(acts)
        return self

    def handle(self, exchange: Exchange) -> None:
        if exchange.request.path == "/v1/bot/42/voters":
            exchange.send(self._voters(exchange.request.query["page"]))
        elif exchange.request.path.startswith("/v1/bot/42/voters/"):
            exchange.send(answer({"voted": False}))
        elif self.status:
            headers = {"Location": "http://127.0.0.1:9/"}
            exchange.send(answer({"error": "no"}, status=self.status.pop(0), headers=headers))
        elif not self.acts:
            exchange.send(answer({"error": "no gateway"}, status=404))
        else:
            self._connect(exchange)

    def _connect(self, exchange: Exchange) -> None:
        key = exchange.request.headers["sec-websocket-key"] + _GUID
        digest = sha1(key.encode()).digest()  # noqa: S324 - the protocol's own, not for secrecy
        exchange.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + b64encode(digest) + b"\r\n\r\n"
        )
        guest = Guest(exchange)
        self.guests.append(guest)
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        act(guest)
        exchange.close()

    def _voters(self, page: str) -> bytes:
        if page != "1":
            return answer({"success": True, "data": {"data": []}})
        shown = self.voters.pop(0) if len(self.voters) > 1 else (self.voters or [404])[0]
        if isinstance(shown, int):
            return answer({"error": "no"}, status=shown)
        queries = {"page": 1, "maxPage": 1}
        return answer({"success": True, "data": {"queries": queries, "data": shown}})


def staying(guest: Guest) -> None:
    """Welcome, and keep the connection."""
    guest.welcome()
    guest.stay()


def telling(*frames: str) -> Act:
    """Welcome, say this and keep the connection."""

    def act(guest: Guest) -> None:
        guest.welcome()
        guest.say(*frames)
        guest.stay()

    return act


def closing(*frames: str, code: int = 1012, reason: str = "", welcome: bool = True) -> Act:
    """Welcome, say this and close."""

    def act(guest: Guest) -> None:
        if welcome:
            guest.welcome()
        guest.say(*frames)
        guest.leave(code, reason)

    return act


def half_open(guest: Guest) -> None:
    """Promise heartbeats, and never say anything again, as behind a broken router."""
    guest.welcome(pingInterval=40, pingTimeout=40)
    guest.stay()
