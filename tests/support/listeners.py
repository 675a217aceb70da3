"""Clients of the service on plain sockets, which read and send nothing by themselves.

One sends and reads frames of the gateway, the other reads the live stream of a preview as a
browser.
"""

import json
import os
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from io import BufferedReader
from itertools import takewhile
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

from tests.support import gateway
from tests.support.gateway import TEXT

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            case gateway.TEXT:
                return payload.decode()
            case gateway.CLOSE:
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


@dataclass(frozen=True)
class LiveStream:
    """A stream, and the head of its answer."""

    response: HTTPResponse

    def event(self) -> bytes:
        """Return the next event as it was sent, or the next comment; empty at the end."""
        lines = iter(self.response.readline, b"")
        return b"".join(takewhile(lambda line: line != b"\n", lines))

    def state(self) -> dict[str, Any]:
        """Return the next event's content; comments are skipped."""
        while (line := self.event()).startswith(b":"):
            pass
        content: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
        return content

    def rest(self) -> bytes:
        """Return everything until the end."""
        return self.response.read()


@contextmanager
def opened_stream(
    url: str, path: str, *, method: str = "GET", receives: int = 0
) -> Iterator[LiveStream]:
    """Open the stream of a page at a path of a service; whatever it is answered.

    `receives` is how many bytes the system keeps before they are read; 0 for its own choice.
    """
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=30)) as connection:
        if receives:
            connection.sock = socket.socket()
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
            connection.sock.connect((connection.host, connection.port))
        connection.request(method, path)
        with connection.getresponse() as response:
            yield LiveStream(response)
