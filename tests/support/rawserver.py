"""A server of raw sockets on loopback: it can do to a client whatever a network can do.

It is told what to do with each request that will come, in order, and keeps what came. What was
not asked for is an error of the test, as is a request nobody planned.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator
    from typing import Self

    Act = Callable[["Exchange"], None]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> object:
        return json.loads(self.body)


@dataclass(slots=True)
class Exchange:
    """One request, and the socket to do something with."""

    sock: socket.socket
    request: Request
    released: threading.Event
    open: bool = True

    def send(self, data: bytes) -> None:
        with suppress(OSError):  # the client may have seen enough and left
            self.sock.sendall(data)

    def close(self) -> None:
        """Close in order, after what was sent."""
        self.open = False

    def reset(self) -> None:
        """Close with RST, as a crashed machine or a firewall does."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.open = False


def answer(
    body: bytes | object = b"", *, status: int = 200, headers: dict[str, str] | None = None
) -> bytes:
    """Return the bytes of an answer; what is not bytes is sent as JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": "application/json", "Content-Length": str(len(content))}
    named |= headers or {}
    head = f"HTTP/1.1 {status} Whatever\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return head.encode("latin-1") + b"\r\n" + content


def answering(body: bytes | object = b"", **kwargs: object) -> Act:
    """Answer and keep the connection."""
    return keeping(answer(body, **kwargs))  # type: ignore[arg-type]  # passed on as it is


def keeping(data: bytes) -> Act:
    """Send these bytes and keep the connection."""
    return lambda exchange: exchange.send(data)


def sending(data: bytes) -> Act:
    """Send these bytes and close."""

    def act(exchange: Exchange) -> None:
        exchange.send(data)
        exchange.close()

    return act


def dripping(data: bytes, *, tail: bytes) -> Act:
    """Send some bytes, then one more every few milliseconds until the client has had enough."""

    def act(exchange: Exchange) -> None:
        exchange.send(data)
        while not exchange.released.wait(0.02):
            try:
                exchange.sock.sendall(tail)
            except OSError:
                break
        exchange.close()

    return act


def hanging(exchange: Exchange) -> None:
    """Say nothing until the test is over."""
    exchange.released.wait(30)
    exchange.close()


def closing(exchange: Exchange) -> None:
    """Close without a word."""
    exchange.close()


def resetting(exchange: Exchange) -> None:
    """Reset without a word."""
    exchange.reset()


@dataclass
class RawServer:
    """The server; use it as a context manager, and `then` to plan its acts."""

    tls: ssl.SSLContext | None = None
    requests: list[Request] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self.released = threading.Event()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def then(self, *acts: Act) -> Self:
        self.acts.extend(acts)
        return self

    def __enter__(self) -> Self:
        self._start(self._listen)
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def hung_up(self) -> None:
        """Return when every conversation so far is over and closed; fail if one stays."""
        for thread in self._threads[1:]:
            thread.join(10)
            assert not thread.is_alive()

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self) -> None:
        while not self.released.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                number = self.connections
            self._start(self._serve, sock, number)

    def _serve(self, plain: socket.socket, number: int) -> None:
        plain.settimeout(20)
        with _shut(plain), suppress(OSError):
            if self.tls is None:
                self._converse(plain, number)
                return
            with self.tls.wrap_socket(plain, server_side=True) as sock:
                self._converse(sock, number)

    def _converse(self, sock: socket.socket, number: int) -> None:
        reader = sock.makefile("rb")
        with reader:
            while (request := self._read(reader, number)) is not None:
                with self._lock:
                    self.requests.append(request)
                    act = self.acts.pop(0) if self.acts else None
                if act is None:
                    self.troubles.append(f"nobody planned {request.method} {request.target}")
                    return
                exchange = Exchange(sock, request, self.released)
                act(exchange)
                if not exchange.open:
                    return

    def _read(self, reader: object, number: int) -> Request | None:
        readline: Callable[[], bytes] = reader.readline  # type: ignore[attr-defined]  # makefile
        first = readline()
        if not first.strip():
            return None
        method, target, _ = first.decode("latin-1").split(" ")
        headers: dict[str, str] = {}
        while line := readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", "0"))
        body: bytes = reader.read(length)  # type: ignore[attr-defined]  # as above
        return Request(method, target, headers, body, number)


@contextmanager
def _shut(sock: socket.socket) -> Iterator[None]:
    try:
        yield
    finally:
        sock.close()
