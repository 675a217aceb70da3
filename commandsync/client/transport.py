"""Requests from threads: each over a pool of connections, without retries or redirects.

`Transport` sends one request through requests' adapter, and returns the `Reply`, or the
`TransportError` that says whether there was a connection. The classes before it change three things
below that adapter. urllib3's read time-out starts again with every byte, so that a server that
sends single bytes could hold a request for hours: here one time-out covers the whole answer.
urllib3's exceptions do not always distinguish a handshake that timed out (nothing was sent) from an
answer that did (the result is unknown): here a connection notes its failure. The service may also
have closed a kept connection unnoticed: here a connection notes whether it was used before.
"""

import http.client
import io
import socket
import threading
import time
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.util.connection import allowed_gai_family

from commandsync.api.arguments import Address
from commandsync.api.content import RateLimit
from commandsync.api.operations import Operation
from commandsync.client.network import Surroundings, failure, root_of
from commandsync.client.request import (
    LONGEST_CONNECT,
    PIECE,
    BodyError,
    LimitedBody,
    Reuse,
    Secrecy,
    StaleError,
    request_of,
)
from commandsync.client.threads import in_thread
from commandsync.errors import Reply, TransportError

_INTERIM = range(100, 200)
_SWITCHING = 101
_NOT_MODIFIED = 304
_LEAST = 0.001  # seconds: 0 would mean not to wait at all


class _ThreadConnection(threading.local):
    """The connection of the request in this thread: its failure, or whether it was used before."""

    failure: BaseException | None = None
    kept: bool = False


state = _ThreadConnection()


def look_up(*args: Any, **kwargs: Any) -> Future[Any]:  # noqa: ANN401 - passed on
    """Do as `socket.getaddrinfo`, in a thread: the system's look-up cannot be interrupted."""
    return in_thread(partial(socket.getaddrinfo, *args, **kwargs), name="commandsync-name")


class TimedSocket(io.RawIOBase):
    """A socket's bytes with one time-out for all of them."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._sock = sock
        self._raw = raw
        self._end = time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        """Return True: it is read only."""
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 - a buffer, as io types it
        """Read into a buffer; raises `TimeoutError` once the time of all bytes is over."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the whole answer timed out")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close the stream; the socket is closed by its connection."""
        self._raw.close()
        super().close()


class _TimedResponse(http.client.HTTPResponse):
    """An answer, status line and body, with one time-out; interim answers are passed over."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(TimedSocket(sock, self.fp.detach()))

    def begin(self) -> None:
        """Read the head, without its malformed parts: urllib3 would log them, unescaped."""
        super().begin()
        self.msg.defects = []
        self.msg.set_payload("")
        if self.status in {_SWITCHING, _NOT_MODIFIED}:  # the next bytes are not HTTP, or not a body
            self.will_close = True

    def _read_status(self) -> tuple[str, int, str]:
        """Read the status line after all interim answers; http.client passes over 100 alone."""
        # `begin` calls this private method, and has no hook behind the status line. Without this
        # one, an answer behind 102 or 103 would be taken for the body of the interim answer.
        while True:
            parent: Any = super()
            version, status, reason = parent._read_status()  # noqa: SLF001 - as above
            if status not in _INTERIM or status == _SWITCHING:
                return version, status, reason
            http.client.parse_headers(self.fp)


class _PlainConnection(HTTPConnection):
    """A connection that notes a failure to connect, and its reuse."""

    response_class: type[http.client.HTTPResponse] = _TimedResponse
    _used = False

    def connect(self) -> None:
        state.kept = self._used = False
        try:
            super().connect()
        except BaseException as error:
            state.failure = error
            raise

    def _new_conn(self) -> socket.socket:
        """Connect within one time-out; urllib3 gives it to each address, none to the look-up."""
        # urllib3 calls this private method for each kind of connection, also to a proxy. The public
        # `connect` adds the tunnel and TLS to it, and the public `host` lacks a final dot, which
        # keeps the system from searching other domains.
        seconds: float = self.timeout or 0.0
        end = time.monotonic() + seconds
        name, family = self._dns_host.strip("[]"), allowed_gai_family()
        try:
            addresses = look_up(name, self.port, family, socket.SOCK_STREAM).result(seconds)
        except UnicodeError:
            raise LocationParseError(f"{name!r}: a label is empty or too long") from None
        for left in range(len(addresses), 1, -1):
            share = (end - time.monotonic()) / left
            with suppress(OSError):
                return self._socket(*addresses[-left], until=end, seconds=share)
        return self._socket(*addresses[-1], until=end, seconds=end - time.monotonic())

    def _socket(
        self,
        *place: Any,  # noqa: ANN401 - as `getaddrinfo` returns it
        until: float,
        seconds: float,
    ) -> socket.socket:
        *kind, _, address = place
        sock = socket.socket(*kind)
        try:
            for option in self.socket_options or ():
                sock.setsockopt(*option)
            sock.settimeout(max(seconds, _LEAST))
            sock.connect(address)
            sock.settimeout(max(until - time.monotonic(), _LEAST))
        except OSError:
            sock.close()
            raise
        return sock

    def request(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        state.kept = self._used
        super().request(*args, **kwargs)  # which may connect
        self._used = True


class _SecureConnection(_PlainConnection, HTTPSConnection):
    """A connection over https, its tunnel and its TLS included."""


_OURS = {HTTPConnection: _PlainConnection, HTTPSConnection: _SecureConnection}


class Adapter(HTTPAdapter):
    """Requests' adapter with these connections."""

    def close(self) -> None:
        """Close the pooled connections now; urllib3 leaves that to the garbage collector."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - it cannot be iterated over, being shared by threads
                manager.pools[key].close()
        super().close()

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> HTTPConnectionPool:  # noqa: ANN401 - passed on
        """Return the pool for a request, to the service or a proxy."""
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        pool.ConnectionCls = _OURS.get(pool.ConnectionCls, pool.ConnectionCls)  # SOCKS has its own
        return pool  # type: ignore[no-any-return]  # only an instance attribute was set


class Transport:
    """Sends one request and returns its result, from any thread; keeps `kept` connections.

    Loopback is always reached directly, and `.netrc` is never read.
    """

    rate_limit: RateLimit | None = None  # that the last answer with one reported
    closed = False

    def __init__(
        self, address: Address, secrecy: Secrecy, surroundings: Surroundings, *, kept: int
    ) -> None:
        self._address = address
        self._secrecy = secrecy
        self._kept = kept
        self._adapter = self._new_adapter()
        self._reuse = Reuse()
        self._surroundings = surroundings

    def send(self, operation: Operation[Any], *, seconds: float) -> Reply | TransportError:
        """Send an operation once, within so many seconds."""
        is_stale = False
        if self._reuse.allowed(operation):
            try:
                return self._exchange(operation, self._adapter, seconds)
            except StaleError:
                is_stale = True
        with closing(self._new_adapter()) as adapter:
            answer = self._exchange(operation, adapter, seconds)
        return replace(answer, resent=is_stale) if isinstance(answer, Reply) else answer

    def _exchange(
        self, operation: Operation[Any], adapter: Adapter, seconds: float
    ) -> Reply | TransportError:
        vars(state).clear()  # of the request before
        try:
            lent = self._surroundings
            request = request_of(self._address, operation, self._secrecy, lent.headers)
            settings: Any = lent.settings
            time_out: Any = Timeout(connect=min(seconds, LONGEST_CONNECT), total=seconds)
            response = adapter.send(request, timeout=time_out, **settings)
            with closing(response):
                body = LimitedBody(encoding=response.headers.get("content-encoding", ""))
                for chunk in iter(partial(response.raw.read, PIECE, decode_content=False), b""):
                    body.feed(chunk)
                content = body.whole()
        except (OSError, HTTPError, BodyError) as error:
            if state.kept:
                self._reuse.broke(operation, root_of(error))
            unmade, state.failure = state.failure, None
            root, made = root_of(unmade or error), unmade is None
            return failure(root, self._address, self._surroundings, made=made, seconds=seconds)
        self._reuse.answered(kept=state.kept)
        return self._secrecy.reply(response.status_code, content, response.headers.items())

    def _new_adapter(self) -> Adapter:
        return Adapter(pool_connections=1, pool_maxsize=self._kept, max_retries=0)

    def close(self) -> None:
        """Close every kept connection."""
        self._adapter.close()
