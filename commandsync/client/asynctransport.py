"""Requests from an event loop: a limit on those in flight, and each of them over aiohttp.

A request waits at the gate for its place. The transport then sends it without cookies, retries or
redirects, and returns the `Reply`, or the `TransportError` that says whether there was a
connection. To know that, each task notes the connection that the pool gives to its request. The
gateway's WebSocket is opened in the same way.
"""

from __future__ import annotations

import asyncio
import http.client
import socket
import warnings
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeAlias, TypeVar, cast
from urllib.parse import urlencode

import aiohttp
from aiohttp.client_proto import ResponseHandler
from requests.exceptions import InvalidURL, RequestException
from yarl import URL

from commandsync.api.arguments import Address
from commandsync.api.content import RateLimit
from commandsync.api.operations import Operation
from commandsync.client.network import Surroundings, failure, proxy_of, root_of, trust_of
from commandsync.client.request import (
    HEADERS,
    LONGEST_CONNECT,
    PIECE,
    BodyError,
    LimitedBody,
    Reuse,
    Secrecy,
    StaleError,
    request_of,
)
from commandsync.client.transport import look_up
from commandsync.errors import Reply, TransportError, UsageError


class AsyncGate:
    """Lets a limited number of requests through, in the order in which their tasks wait."""

    def __init__(self, places: int) -> None:
        self._free = asyncio.Semaphore(places)
        self._stop = asyncio.Event()
        self._closed_until = 0.0
        self.stopped = False

    async def enter(self, end: float = inf) -> bool:
        """Take a place as soon as one is free and there is no pause; False at the `end`."""
        try:
            async with asyncio.timeout(None if end == inf else end - monotonic()):
                await self._free.acquire()
        except TimeoutError:
            return False
        try:
            while not self.stopped and (now := monotonic()) < min(end, self._closed_until):
                await self.wait(min(end, self._closed_until) - now)
        except asyncio.CancelledError:
            self.leave()
            raise
        if self.stopped or monotonic() >= end:
            self.leave()  # also for the next request that waits
            return False
        return True

    def leave(self) -> None:
        """Release the place."""
        self._free.release()

    def pause(self, seconds: float) -> None:
        """Let no request enter for so long; a longer pause stays."""
        self._closed_until = max(self._closed_until, monotonic() + seconds)

    async def wait(self, seconds: float) -> bool:
        """Wait without a place; False at once when the gate is stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        return not self.stopped

    def stop(self) -> None:
        """End all waits at once, and let no request enter; to be called in the loop's thread."""
        self.stopped = True
        self._stop.set()
        self._free.release()


T = TypeVar("T")
WebSocket: TypeAlias = "aiohttp.ClientWebSocketResponse[bool]"

_SWITCHING = 101
_BODILESS = (b"HTTP/1.1 204", b"HTTP/1.1 304")
_LONGEST_LINE = 65536  # bytes of a header, as http.client has it


@dataclass(slots=True, eq=False)
class _TaskConnection:
    """The connection of the running task's request."""

    limit: asyncio.Timeout
    over: asyncio.Future[None]  # done when the request is over
    writes: bool  # whether the request may change something
    transport: asyncio.Transport | None = None  # None until there is a connection
    kept: bool = False  # whether it had carried another request before

    def cut(self) -> None:
        """Close the connection at once: TLS would wait for a broken peer to close it."""
        if self.transport is not None:
            self.transport.abort()


_current: ContextVar[_TaskConnection] = ContextVar("commandsync_connection")


class _NameLookup:
    """Looks up host names without the threads of a loop, for which its end would wait."""

    async def getaddrinfo(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - passed on
        return await asyncio.wrap_future(look_up(*args, **kwargs))

    async def getnameinfo(self, *args: Any) -> Any:  # noqa: ANN401 - passed on
        return socket.getnameinfo(*args)  # of a number: it asks nobody


class _RefusedError(Exception):
    """The `Reply` in place of a WebSocket."""


class _Protocol(ResponseHandler):
    """Passes on the head alone of an answer whose status allows no body, as http.client does."""

    used = False  # whether its connection has carried a request

    def data_received(self, data: bytes) -> None:
        if data.startswith(_BODILESS):
            head, end, rest = data.partition(b"\r\n\r\n")
            data = head + end
            if rest:
                self.force_close()
        super().data_received(data)


class _Connector(aiohttp.TCPConnector):
    """A pool that notes the connection of each request."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - passed on
        parent: Any = super()  # its types are incomplete
        parent.__init__(**settings)
        # There is no public setting for the class of a connection's protocol.
        self._factory: Any = partial(_Protocol, loop=asyncio.get_running_loop())

    async def connect(self, *args: Any, **kwargs: Any) -> aiohttp.connector.Connection:  # noqa: ANN401 - passed on
        connection = await super().connect(*args, **kwargs)
        state, protocol = _current.get(), cast("_Protocol", connection.protocol)
        state.transport, state.kept, protocol.used = connection.transport, protocol.used, True
        return connection


class AsyncTransport:
    """Sends one request, or opens one WebSocket, in `timeout` seconds, and returns its result."""

    rate_limit: RateLimit | None = None  # that the last answer with one reported
    closed = False

    def __init__(
        self, address: Address, secrecy: Secrecy, surroundings: Surroundings, *, timeout: float
    ) -> None:
        self._address = address
        self._secrecy = secrecy
        self._timeout = timeout
        self._surroundings = surroundings
        self._reuse = Reuse()
        self._opened: dict[bool, aiohttp.ClientSession] = {}  # by whether it keeps connections
        self._home: asyncio.AbstractEventLoop | None = None
        self._requests: set[_TaskConnection] = set()

    async def send(self, operation: Operation[Any], *, seconds: float) -> Reply | TransportError:
        """Send an operation once, within so many seconds."""
        is_stale = False
        if self._reuse.allowed(operation):
            work = self._exchange(operation, keeps=True, seconds=seconds)
            try:
                return await self._timely(work, operation, seconds=seconds)
            except StaleError:
                is_stale = True
        work = self._exchange(operation, keeps=False, seconds=seconds)
        answer = await self._timely(work, operation, seconds=seconds)
        return replace(answer, resent=is_stale) if isinstance(answer, Reply) else answer

    async def upgrade(self, query: Mapping[str, str]) -> WebSocket | Reply | TransportError:
        """Open the gateway's WebSocket; a `Reply` is the answer of a service that refuses."""
        try:
            return await self._timely(self._shake_hands(query), seconds=self._timeout)
        except _RefusedError as refused:
            reply: Reply = refused.args[0]
            return reply

    def __del__(self) -> None:
        """Name the client, and where to close it: the warning of aiohttp names its own session."""
        if any(not session.closed for session in self._opened.values()):
            warnings.warn(
                f"an AsyncClient of {self._address.base_url} was not closed: use it with "
                "`async with`, or await its `close`",
                ResourceWarning,
                source=self,
                stacklevel=2,
            )

    async def close(self) -> None:
        """Finish the writes in flight, and close every connection."""
        for request in self._requests:
            if not (request.limit.expired() or (request.writes and request.transport)):
                request.limit.reschedule(0)
        if self._requests:
            await asyncio.wait([request.over for request in self._requests])
        for session in self._opened.values():
            await session.close()
        await asyncio.sleep(0)  # aborted connections close now

    async def _timely(
        self,
        work: Coroutine[Any, Any, T],
        operation: Operation[Any] | None = None,
        *,
        seconds: float,
    ) -> T | TransportError:
        state = _TaskConnection(
            limit=asyncio.timeout(seconds),
            over=asyncio.get_running_loop().create_future(),
            writes=operation is not None and operation.method != "GET",
        )
        _current.set(state)
        self._requests.add(state)
        try:
            async with state.limit:
                answer = await work
        except (OSError, aiohttp.ClientError, RequestException, BodyError, UnicodeError) as error:
            state.cut()
            if operation is not None and state.kept:
                self._reuse.broke(operation, _cause(error))
            if self.closed and state.limit.expired() and not (state.writes and state.transport):
                return TransportError("the client was closed", sent=state.transport is not None)
            root, made = _cause(error), state.transport is not None
            return failure(root, self._address, self._surroundings, made=made, seconds=seconds)
        except BaseException:
            state.cut()
            raise
        finally:
            self._requests.discard(state)
            state.over.set_result(None)
        self._reuse.answered(kept=state.kept)
        return answer

    async def _exchange(self, operation: Operation[Any], *, keeps: bool, seconds: float) -> Reply:
        request = request_of(self._address, operation, self._secrecy, self._surroundings.headers)
        async with self._session(keeps=keeps).request(
            operation.method,
            URL(str(request.url), encoded=True),
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
            proxy=proxy_of(self._address, self._surroundings),
            timeout=aiohttp.ClientTimeout(total=None, connect=min(seconds, LONGEST_CONNECT)),
        ) as response:
            return await self._reply(response)

    async def _shake_hands(self, query: Mapping[str, str]) -> WebSocket:
        parameters = urlencode({**query, **self._secrecy.query})
        return await self._session(keeps=True).ws_connect(
            URL(f"{self._address.api}/gateway/?{parameters}", encoded=True),
            headers={**self._surroundings.headers, "User-Agent": HEADERS["User-Agent"]},
            proxy=proxy_of(self._address, self._surroundings),
        )

    async def _reply(self, response: aiohttp.ClientResponse) -> Reply:
        body = LimitedBody(encoding=response.headers.get("content-encoding", ""))
        async for chunk in response.content.iter_chunked(PIECE):
            body.feed(chunk)
        return self._secrecy.reply(response.status, body.whole(), response.headers.items())

    async def _refusing(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Raise an answer that is not a WebSocket, since aiohttp would follow redirects."""
        response = await handler(request)
        if "Upgrade" in request.headers and response.status != _SWITCHING:
            raise _RefusedError(await self._reply(response))
        return response

    def _session(self, *, keeps: bool) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        self._home = self._home or loop
        if loop is not self._home:
            raise UsageError(
                "the client belongs to another event loop, the one of its first request",
                hint="create and close a client within each asyncio.run",
            )
        if keeps not in self._opened:
            session = aiohttp.ClientSession(
                connector=_Connector(
                    limit=0,  # the gate counts
                    resolver=aiohttp.ThreadedResolver(loop=_NameLookup()),  # type: ignore[arg-type]  # a loop's look-ups
                    ssl=not self._address.base_url.startswith("https:")
                    or trust_of(self._surroundings),
                    force_close=not keeps,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=min(self._timeout, LONGEST_CONNECT)
                ),
                middlewares=(self._refusing,),
                max_line_size=_LONGEST_LINE,
                max_field_size=_LONGEST_LINE,
            )
            # aiohttp would send a request again if a kept connection breaks; the policy decides
            # that. There is no public setting; a test covers this one.
            vars(session)["_retry_connection"] = False
            self._opened[keeps] = session
        return self._opened[keeps]


def _cause(error: BaseException) -> BaseException:
    """Return the cause of aiohttp's exception, as an exception with a message in `failures`."""
    match error:
        case TimeoutError():
            cause: BaseException = TimeoutError()  # the cause that asyncio gives is a cancellation
        case aiohttp.ClientHttpProxyError(status=status, message=message):
            cause = OSError(f"Tunnel connection failed: {status} {message}")
        case aiohttp.ServerDisconnectedError():
            cause = http.client.RemoteDisconnected("")
        case aiohttp.ClientPayloadError():
            cause = http.client.IncompleteRead(b"")
        case aiohttp.ClientResponseError():
            cause = http.client.HTTPException()
        case aiohttp.InvalidURL() | UnicodeError():
            cause = InvalidURL()  # a label of the host's name is too long, or empty
        case _:
            cause = root_of(error)
    return cause
