"""The connections and their callers: HTTP and WebSocket as the web server speaks them, with limits.

The head of a request has a time limit, and so have its answer and a reader that does not read;
connections are limited for each address and in all, and every refusal is JSON. A WebSocket is
closed in time whatever its client does, and nothing that a client sends is an error of the service.

The caller is the bot of the token, or else the address. A bot token is signed when a bot is
created, checked for each write, and never logged. It is a JWT (HS256) whose payload contains the
bot's `id` and `iat` (wire notes); the interface sends it as `Authorization: Bot <token>`. Limits
count the requests of each bot with a valid token, and the other requests of each address.
"""

import asyncio
import json
import logging
import re
import sys
from contextlib import suppress
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import unquote_plus

import h11
import jwt
from starlette.types import Scope
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import SecurityError
from websockets.http11 import Request

ALGORITHM = "HS256"
"""That signs tokens and cookies."""

_LOGGERS = ("uvicorn.access", "uvicorn.error")  # the second logs the requests of WebSockets
# A simulation of Telegram has the token in the path.
_IN_PATH = re.compile(r"/bot(?!s?(?:/|$))[^/]+")


class BadTokenError(Exception):
    """The token is missing or was not signed by this service; the message reports which."""


class Owner(NamedTuple):
    """The bot that a token was signed for, and the key that is the bot's own until it changes."""

    bot: str
    key: str


def sign(bot: str, *, issued_at: int, secret: str, key: str) -> str:
    """Return the token of a bot."""
    claims = {"id": bot, "iat": issued_at, "jti": key}
    return jwt.encode(claims, secret, algorithm=ALGORITHM)


def owner_of_header(authorization: str | None, *, secret: str) -> Owner:
    """Return the bot whose token a header contains; raises `BadTokenError`."""
    if not authorization:
        raise BadTokenError("a token is needed: send the header `Authorization: Bot <token>`")
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bot" or not token:
        raise BadTokenError("the header Authorization must be `Bot <token>`")
    return owner_of(token.strip(), secret=secret)


def owner_of(token: str, *, secret: str) -> Owner:
    """Return the bot that a token was signed for; raises `BadTokenError`."""
    if not token:
        raise BadTokenError("a bot token is needed")
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[ALGORITHM],
            # A clock set back must not lock a bot out: `iat` has to be there and limits nothing.
            options={"require": ["id", "iat"], "verify_iat": False},
        )
    except (jwt.InvalidTokenError, RecursionError) as error:  # deep nesting, in older PyJWT
        raise BadTokenError("the bot token is invalid") from error
    owner = Owner(claims["id"], claims.get("jti", ""))
    if not all(isinstance(part, str) for part in owner):
        raise BadTokenError("the bot token is invalid")
    return owner


def check(owner: Owner, key: str) -> None:
    """Raise `BadTokenError` unless a token has the key that its bot has now."""
    if owner.key != key:
        raise BadTokenError("the bot token was replaced by a new one")


def log_without_tokens() -> None:
    """Let the web server log no token; a second call changes nothing.

    The gateway's URL carries one by protocol (wire notes). Headers are never logged.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_redact)


def _redact(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(
            without_token(value) if isinstance(value, str) else value for value in record.args
        )
    return True


def without_token(path: str) -> str:
    """Return a path and its query with `***` in place of a token."""
    path, question, query = path.partition("?")
    parameters = query.split("&")
    for place, parameter in enumerate(parameters):
        name = parameter.partition("=")[0]
        if unquote_plus(name).lower() == "token":
            parameters[place] = f"{name}=***"
    return _IN_PATH.sub("/bot***", path) + question + "&".join(parameters)


_OWN = {"127.0.0.1", "::1"}


def counted(host: str) -> str | None:
    """Return the part of an address that a limit counts: of IPv6 the network of a site (/64).

    None for this machine, which has no limits.
    """
    if host in _OWN:
        return None
    with suppress(ValueError):
        if isinstance(ip_address(host), IPv6Address):
            return str(ip_network((host, 64), strict=False))
    return host


def address_of(scope: Scope) -> str | None:
    """Return the address that sent a request, as it is counted; None for this machine.

    Of a request from this machine, a proxy has added the sender at the end of `X-Forwarded-For`.
    """
    host, _ = scope["client"] or ("", 0)
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
    return counted(forwarded.rpartition(",")[2].strip() or host if host in _OWN else host)


def caller_of(scope: Scope) -> str | None:
    """Return the sender of a request: the bot of a valid token, else its `address_of`."""
    header = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    with suppress(BadTokenError):
        return "/".join(owner_of_header(header, secret=scope["app"].state.database.secret))
    return address_of(scope)


if sys.platform != "win32":
    import resource

REQUEST_SECONDS = 30.0
"""How long the head of a request may take to arrive, and how long its body."""

ANSWER_SECONDS = 60.0
"""How long it may take until an answer begins, and how long its reader may read nothing of it."""

MOST_CONNECTIONS = 10_000
"""Connections of a process that may open enough files."""

_OTHER_FILES = 256  # of the database, and connections that are accepted and refused
BACKLOG = 128  # connections that are accepted at once, and so refused at once
ABORT = "commandsync.abort"
"""The name of the function, in the state of a request, that closes its connection at once."""

LONGEST_SHUTDOWN = 2.0
"""Seconds for a client to receive the rest of its answer when the service ends."""


LONGEST_CLOSE = 10.0
"""Seconds for a client to receive all frames, its close frame included."""

_RESTART = (1012, "the service restarts")


def most_connections() -> int:
    """Return how many connections this process can have: each is an open file."""
    if sys.platform == "win32":
        return MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = soft == resource.RLIM_INFINITY
    return MOST_CONNECTIONS if unlimited else max(64, min(MOST_CONNECTIONS, soft - _OTHER_FILES))


def refuse(transport: asyncio.Transport, status: HTTPStatus, reason: str) -> None:
    """Answer a request that no application sees, and close its connection."""
    body = json.dumps({"error": reason}).encode()
    head = (
        f"HTTP/1.1 {status} {status.phrase}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    transport.write(head.encode() + body)
    transport.close()


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes connections whose sender, reader or answer is too slow.

    The web server itself waits for ever for the first request of a connection, for the end of a
    head that has begun, for the application, and for a client that does not read. It takes as many
    connections as come.
    """

    seconds = REQUEST_SECONDS
    answer_seconds = ANSWER_SECONDS
    most_connections = most_connections()
    most_of_address = 200
    _head: asyncio.TimerHandle | None = None
    _answer: asyncio.TimerHandle | None = None
    _unread = 0  # bytes that the client had not read when the time of the answer was last over

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base class
        """Wait for the first request, unless there are too many connections."""
        super().connection_made(transport)
        own = counted(self.client[0]) if self.client else None
        of_address = 0
        if own is not None:  # WebSockets included
            clients = (getattr(connection, "client", None) for connection in self.connections)
            of_address = sum(client is not None and counted(client[0]) == own for client in clients)
        if len(self.connections) > self.most_connections or of_address > self.most_of_address:
            refuse(transport, HTTPStatus.SERVICE_UNAVAILABLE, "too many connections are open")
        else:
            self._head = self.loop.call_later(self.seconds, self._too_slow)

    def data_received(self, data: bytes) -> None:
        """Read on; the time begins with the first byte of a head and ends with its last one."""
        if self.conn.their_state is h11.IDLE and self._head is None:
            self._head = self.loop.call_later(self.seconds, self._too_slow)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget_head()

    def handle_events(self) -> None:
        """Read requests; each can close its connection."""
        super().handle_events()
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is not None and ABORT not in cycle.scope["state"]:
            cycle.scope["state"][ABORT] = self.transport.abort
            self._unread = 0
            self._wait_for_answer()

    def _wait_for_answer(self) -> None:
        if self._answer is not None:
            self._answer.cancel()
        self._answer = self.loop.call_later(self.answer_seconds, self._check_answer)

    def _check_answer(self) -> None:
        """Close the connection if its answer has not begun, or if the client does not read it."""
        unread = self.transport.get_write_buffer_size()
        if not self.cycle.response_started:
            reason = f"the answer took longer than {self.answer_seconds:g} seconds"
            refuse(self.transport, HTTPStatus.SERVICE_UNAVAILABLE, reason)
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        elif unread and unread == self._unread:
            self.transport.abort()
        elif unread or not self.cycle.response_complete:
            self._unread = unread
            self._wait_for_answer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._forget_head()
        if self._answer is not None:
            self._answer.cancel()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Answer the request in flight, and close the connection because the service ends."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is None or cycle.response_complete:
            self.loop.call_later(LONGEST_SHUTDOWN, self.transport.abort)
        super().shutdown()

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        """Close the connection; answer first if a request has begun."""
        if self.conn.trailing_data[0]:
            reason = f"the request's head did not arrive within {self.seconds:g} seconds"
            refuse(self.transport, HTTPStatus.REQUEST_TIMEOUT, reason)
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not HTTP in the form of every other failure."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is None or cycle.response_complete or not cycle.response_started:
            refuse(self.transport, HTTPStatus.BAD_REQUEST, msg)
        self.transport.close()


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The web server's own protocol, changed where clients are odd.

    The web server itself waits for ever for a client that does not read, before it sends the close
    frame and after it, and for more of a handshake that its library cannot read. It gives no reason
    when it ends, and logs an error for a refused handshake and for text that is not UTF-8.
    """

    def handle_events(self) -> None:
        """Read on; the first call has the whole handshake."""
        super().handle_events()
        if self.handshake_initiated or self.transport.is_closing():
            return
        error = self.conn.handshake_exc
        if isinstance(error, SecurityError) or isinstance(error and error.__cause__, SecurityError):
            status, reason = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "its head is too large"
        else:
            status, reason = HTTPStatus.BAD_REQUEST, "it must be a GET without a body"
        refuse(self.transport, status, f"the request is not a valid WebSocket handshake: {reason}")

    def handle_connect(self, event: Request) -> None:
        """Answer a handshake, and log it as the web server logs every other request."""
        client = ":".join(map(str, self.client or ()))
        logging.getLogger("uvicorn.access").info('%s - "WebSocket %s"', client, event.path)
        super().handle_connect(event)

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message; a close frame is sent though the client does not read."""
        if message["type"] == "websocket.close":
            self.writable.set()
            self.loop.call_later(LONGEST_CLOSE, self.transport.abort)
        await super().send(message)
        if message["type"] == "websocket.http.response.body":
            self.handshake_complete = True

    def shutdown(self) -> None:
        """Close the connection because the service ends."""
        if self.handshake_complete and not self.close_sent:
            self._fail(*_RESTART)
        self.loop.call_later(LONGEST_SHUTDOWN, self.transport.abort)
        super().shutdown()

    def send_receive_event_to_app(self) -> None:
        """Pass a message on, or close the connection if it is not text."""
        if self.curr_msg_data_type == "text":
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self._fail(1007, "a text frame is not UTF-8")
                self.transport.close()
                return
        super().send_receive_event_to_app()

    def _fail(self, code: int, reason: str) -> None:
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
