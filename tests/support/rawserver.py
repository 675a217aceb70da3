"""The one server of the tests: raw sockets on loopback, which can do whatever a network can.

Each fake service is a `SocketServer` with its own `handle`. With a `RawServer`, a test plans an act
for each request, in order; a request without an act is an error of the test.
"""

import json
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from io import BufferedReader
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

Act = Callable[["Exchange"], None]

LOOPBACK = "127.0.0.1"
_REQUEST_LINE = re.compile(r"(?P<method>[A-Z]+) (?P<target>\S+) HTTP/1\.[01]\s+")


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came; the names of its headers are in lower case."""

    method: str
    target: str
    headers: dict[str, str] = field(repr=False)
    body: bytes
    connection: int

    @property
    def json(self) -> Any:  # noqa: ANN401 - any content
        return json.loads(self.body) if self.body else None

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def short(self) -> str:
        """Method and what follows the bot, such as `GET commands`."""
        return f"{self.method} {'/'.join(self.target.split('/')[4:])}"

    @property
    def writes(self) -> bool:
        return self.method != "GET"


@dataclass(slots=True)
class Exchange:
    """One request, and the socket to do something with."""

    sock: socket.socket
    reader: BufferedReader
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
    """Send nothing until the test is over."""
    exchange.released.wait(30)
    exchange.close()


def closing(exchange: Exchange) -> None:
    """Close without an answer."""
    exchange.close()


def resetting(exchange: Exchange) -> None:
    """Reset without an answer."""
    exchange.reset()


@dataclass(kw_only=True)
class SocketServer:
    """A server; use it as a context manager, which fails when something was in trouble.

    Attributes:
        tls: How to encrypt, if at all.
        port: Where it listens; 0 for any free port.
        requests: What came, in the order in which it came.
        troubles: What went wrong with a request here.
        connections: How many connections there were.
        released: Set when the test is over, for whoever waits.
    """

    tls: ssl.SSLContext | None = None
    port: int = 0
    requests: list[Request] = field(default_factory=list, repr=False)
    troubles: list[str] = field(default_factory=list)
    connections: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._sockets: set[socket.socket] = set()
        self._listener: socket.socket | None = self._bound()

    def handle(self, exchange: Exchange) -> None:
        """Do something with a request."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{LOOPBACK}:{self.port}"

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if request.writes]

    def shorts(self) -> list[str]:
        return [request.short for request in self.requests]

    def wait_for(self, count: int, *, writes: bool = True) -> None:
        """Return when so many requests have come."""

        def come() -> bool:
            return len(self.writes if writes else self.requests) >= count

        with self._changed:
            assert self._changed.wait_for(come, 30), self.shorts()

    def hung_up(self) -> None:
        """Return when every conversation so far is over and closed; fail if one stays."""
        for thread in self._threads[1:]:
            thread.join(10)
            assert not thread.is_alive()

    def away(self, seconds: float) -> None:
        """Refuse connections for a while, as a service that is restarted."""

        def come_back() -> None:
            if not self.released.wait(seconds):
                self._listener = self._bound()
                self._listen(self._listener)

        self._stop_listening()
        self._start(come_back)

    def __enter__(self) -> Self:
        self._start(self._listen, self._listener)
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        self.released.set()
        self._stop_listening()
        with self._changed:
            for sock in self._sockets:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)  # below any encryption
        for thread in self._threads:
            thread.join(10)
        assert failed or not self.troubles, self.troubles

    def converse(self, sock: socket.socket, number: int) -> None:
        """Handle the requests of a connection until one of the two sides closes it."""
        with sock.makefile("rb") as reader:
            while (request := _read(reader, number)) is not None:
                with self._changed:
                    self.requests.append(request)
                    self._changed.notify_all()
                exchange = Exchange(sock, reader, request, self.released)
                try:
                    self.handle(exchange)
                except Exception as error:  # noqa: BLE001 - the test is told of it in the end
                    self.troubles.append(f"{request.method} {request.target}: {error!r}")
                    exchange.close()
                if not exchange.open:
                    return

    def _bound(self) -> socket.socket:
        listener = socket.create_server((LOOPBACK, self.port))
        self.port = listener.getsockname()[1]
        return listener

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _listen(self, listener: socket.socket) -> None:
        while listener is self._listener:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            self._start(self._serve, sock, self.connections)

    def _stop_listening(self) -> None:
        listener, self._listener = self._listener, None
        if listener is None:
            return
        try:
            listener.shutdown(socket.SHUT_RDWR)
        except OSError:  # this wakes it on Linux, and a connection does elsewhere
            with suppress(OSError):
                socket.create_connection((LOOPBACK, self.port), 1).close()
        listener.close()

    def _serve(self, plain: socket.socket, number: int) -> None:
        with plain, suppress(OSError), self._secured(plain) as sock:
            with self._changed:
                self._sockets.add(sock)
            if not self.released.is_set():
                self.converse(sock, number)
            with self._changed:
                self._sockets.discard(sock)

    def _secured(self, plain: socket.socket) -> socket.socket:
        return self.tls.wrap_socket(plain, server_side=True) if self.tls else plain


@dataclass
class RawServer(SocketServer):
    """A server that does what a test plans, with one request after the other."""

    acts: list[Act] = field(default_factory=list)

    def then(self, *acts: Act) -> Self:
        self.acts.extend(acts)
        return self

    def handle(self, exchange: Exchange) -> None:
        self.acts.pop(0)(exchange)


def _read(reader: BufferedReader, number: int) -> Request | None:
    line = _REQUEST_LINE.fullmatch(reader.readline().decode("latin-1"))
    if line is None:  # the client has left, or does not speak HTTP
        return None
    headers: dict[str, str] = {}
    while header := reader.readline().strip():
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    body = reader.read(int(headers.get("content-length", "0")))
    return Request(line["method"], line["target"], headers, body, number)
