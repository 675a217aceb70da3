"""How connections speak HTTP: the head of a request has a time limit, and every refusal is JSON."""

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

REQUEST_SECONDS = 30.0
"""How long the head of a request may take to arrive, and how long its body."""

AT_SHUTDOWN = "commandsync.at_shutdown"
"""The name, in the state of a request, of what ends its answer: one that has no end of its own."""

ABORT = "commandsync.abort"
"""The name, in the state of a request, of what closes its connection at once."""

LONGEST_SHUTDOWN = 2.0
"""Seconds for a client to receive the end of such an answer when the service ends."""


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
    """HTTP/1.1 that closes connections whose sender is too slow.

    The web server itself waits for ever for the first request of a connection, and for the end of a
    head that has begun.
    """

    seconds = REQUEST_SECONDS
    _head: asyncio.TimerHandle | None = None
    _begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as the base class
        """Wait for the first request."""
        super().connection_made(transport)
        self._head = self.loop.call_later(self.seconds, self._too_slow)

    def data_received(self, data: bytes) -> None:
        """Read on; the time begins with the first byte of a head and ends with its last one."""
        if self.conn.their_state is h11.IDLE:
            self._begun = True
            if self._head is None:
                self._head = self.loop.call_later(self.seconds, self._too_slow)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget_head()

    def handle_events(self) -> None:
        """Read requests; each can close its connection."""
        super().handle_events()
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is not None:
            cycle.scope["state"].setdefault(ABORT, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._forget_head()
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Answer the request in flight, and close the connection because the service ends."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is not None and AT_SHUTDOWN in cycle.scope["state"]:
            cycle.scope["state"][AT_SHUTDOWN]()
            self.loop.call_later(LONGEST_SHUTDOWN, self.transport.abort)
        super().shutdown()

    def _forget_head(self) -> None:
        self._begun = False
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _too_slow(self) -> None:
        """Close the connection; answer first if a request has begun."""
        if self._begun:
            reason = f"the request's head did not arrive within {self.seconds:g} seconds"
            refuse(self.transport, HTTPStatus.REQUEST_TIMEOUT, reason)
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP as every other failure is answered."""
        cycle: RequestResponseCycle | None = self.cycle  # none before the first request
        if cycle is None or cycle.response_complete or not cycle.response_started:
            refuse(self.transport, HTTPStatus.BAD_REQUEST, msg)
        self.transport.close()
