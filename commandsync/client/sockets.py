"""What the sockets below requests have to tell and keep: was there a connection, is time over.

A kept connection tells that it was used before: the service may have closed it meanwhile, unseen.

urllib3's read time-out starts anew with every byte, so that a server that drips bytes could hold a
request for hours; and its exceptions do not always tell a handshake that timed out (nothing was
sent) from an answer that did (anything may have happened).
"""

from __future__ import annotations

import http.client
import io
import threading
import time
from typing import TYPE_CHECKING, Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    import socket

    from urllib3 import HTTPConnectionPool


class _Making(threading.local):
    """How making a connection went in this thread; a request runs in one thread from end to end.

    Attributes:
        failure: Why it could not be made.
        kept: Whether the request went over a connection that had carried another before.
    """

    failure: BaseException | None = None
    kept: bool = False


making = _Making()


class _Timely(io.RawIOBase):
    """A socket's bytes until the time-out it has now, counted once and not per byte."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._sock = sock
        self._raw = raw
        self._end = time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:  # noqa: ANN401 - a buffer, as io types it
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the whole answer is over")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimelyAnswer(http.client.HTTPResponse):
    """An answer, status line and body, that has to be complete in time."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Timely(sock, self.fp.detach()))

    def begin(self) -> None:
        """Read the head, and forget what of it is not a header: urllib3 would log it as it is."""
        super().begin()
        self.msg.defects = []
        self.msg.set_payload("")


class _Noting(HTTPConnection):
    """A connection that notes when it could not be made, and when it is used again."""

    response_class: type[http.client.HTTPResponse] = _TimelyAnswer
    _used = False

    def connect(self) -> None:
        making.kept = self._used = False
        try:
            super().connect()
        except BaseException as error:
            making.failure = error
            raise

    def request(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        making.kept = self._used
        super().request(*args, **kwargs)  # which may connect
        self._used = True


class _PlainConnection(_Noting):
    """A connection over http."""


class _SecureConnection(_Noting, HTTPSConnection):
    """A connection over https, its tunnel and its TLS included."""


_OURS = {HTTPConnection: _PlainConnection, HTTPSConnection: _SecureConnection}


class Adapter(HTTPAdapter):
    """Requests' adapter, with connections that keep time and tell whether they were made."""

    def close(self) -> None:
        """Close the pooled connections now; urllib3 leaves that to the collector of garbage."""
        for manager in (self.poolmanager, *self.proxy_manager.values()):
            for key in manager.pools.keys():  # noqa: SIM118 - it cannot be iterated over, being shared by threads
                manager.pools[key].close()
        super().close()

    def get_connection_with_tls_context(self, *args: Any, **kwargs: Any) -> HTTPConnectionPool:  # noqa: ANN401 - passed on
        """Return the pool for a request, directly to the service or through a proxy."""
        pool: Any = super().get_connection_with_tls_context(*args, **kwargs)
        pool.ConnectionCls = _OURS.get(pool.ConnectionCls, pool.ConnectionCls)  # SOCKS has its own
        return pool  # type: ignore[no-any-return]  # only an instance attribute was set
