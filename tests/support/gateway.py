"""Both ends of the gateway on plain sockets, which share nothing with the product.

`Gateway` is a WebSocket server that speaks Engine.IO, on loopback: a test plans an act for each
connection, in order; the last one serves all that follow. A `Listener` is a client that sends and
reads frames; it reads and sends nothing by itself.
"""

import json
import os
import socket
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha1
from io import BufferedReader
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

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


LONGEST = 30  # seconds that a test waits before it gives up
_FINAL, _MASKED = 0x80, 0x80  # RFC 6455, 5.2


class Closed(NamedTuple):
    """The end of a connection: the code and the reason of the close frame, or 1006 without one."""

    code: int
    reason: str = ""


class Refused(NamedTuple):
    """The answer to a handshake that was not accepted."""

    status: int
    body: bytes


def masked(payload: bytes, kind: int = TEXT, *, final: bool = True) -> bytes:
    """Return a WebSocket frame as a client sends it, with a mask of zeros."""
    length = len(payload)
    head = bytes([(_FINAL if final else 0) | kind])
    if length < 126:
        head += bytes([_MASKED | length])
    elif length < 1 << 16:
        head += bytes([_MASKED | 126]) + length.to_bytes(2)
    else:
        head += bytes([_MASKED | 127]) + length.to_bytes(8)
    return head + bytes(4) + payload


@dataclass
class Listener:
    """A connection to a gateway.

    Attributes:
        receives: Bytes that the system keeps for the client before it reads them; 0 for its own
            choice.
    """

    url: str
    query: dict[str, str]
    path: str = "/v1/gateway/"
    receives: int = 0
    refused: Refused | None = None
    _socket: socket.socket = field(init=False)
    _reader: BufferedReader = field(init=False)

    def __enter__(self) -> Self:
        there = urlsplit(self.url)
        self._socket = socket.socket()
        self._socket.settimeout(LONGEST)
        if self.receives:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receives)
        self._socket.connect((there.hostname, there.port))
        self._reader = self._socket.makefile("rb")
        self._shake_hands(there.netloc)
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the socket without a word."""
        self._reader.close()
        self._socket.close()

    def say(self, *frames: str) -> None:
        """Send text frames."""
        self.send(b"".join(masked(frame.encode()) for frame in frames))

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._socket.sendall(data)

    def hear(self) -> str | Closed:
        """Return the next text frame, or the end."""
        head = self._read(2)
        if len(head) < 2:
            return Closed(1006)
        assert head[0] & _FINAL
        assert not head[1] & _MASKED
        length = head[1]
        if length > 125:
            length = int.from_bytes(self._read(2 if length == 126 else 8))
        payload = self._read(length)
        match head[0] & 0x0F:
            case 1:  # text
                return payload.decode()
            case 8:  # close
                return Closed(int.from_bytes(payload[:2]), payload[2:].decode())
            case kind:
                raise AssertionError(f"a frame of kind {kind}")

    def text(self) -> str:
        """Return the next text frame."""
        frame = self.hear()
        assert isinstance(frame, str), frame
        return frame

    def event(self) -> dict[str, Any]:
        """Return the next event, as published clients read it."""
        frame = self.text()
        before, marker, rest = frame.partition('"message",')
        assert (before, marker) == ("42[", '"message",')
        content = json.loads(rest[:-1])
        assert isinstance(content, str)
        value: dict[str, Any] = json.loads(content)
        return value

    def greeted(self) -> Self:
        """Read the first frames, up to `ready`."""
        assert self.refused is None
        assert self.text().startswith("0{")
        assert self.text().startswith("40")
        assert self.event()["event"] == "ready"
        return self

    def users(self, count: int) -> list[str]:
        """Return the ids of the users of the next events."""
        return [self.event()["data"]["user"]["id"] for _ in range(count)]

    def ended(self) -> Closed:
        """Read until the end."""
        while isinstance(frame := self.hear(), str):
            pass
        return frame

    def _shake_hands(self, host: str) -> None:
        key = b64encode(os.urandom(16)).decode()
        target = f"{self.path}?{urlencode(self.query)}"
        self.send(
            f"GET {target} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n"
            f"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n".encode()
        )
        status = int(self._reader.readline().split()[1])
        headers = {}
        while line := self._reader.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        assert "sec-websocket-extensions" not in headers
        if status != 101:
            body = self._reader.read(int(headers["content-length"]))
            self.refused = Refused(status, body)

    def _read(self, size: int) -> bytes:
        try:
            return self._reader.read(size)
        except ConnectionError:
            return b""
