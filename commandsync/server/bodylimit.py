"""The limits on the body of a request: its size, and the time that it takes to arrive."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING

from commandsync.server.endpoint import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer


class BodyLimit:
    """Refuses bodies over `size` bytes, and those that take longer than `seconds` to arrive.

    An answer begins after the body is read.
    """

    def __init__(self, app: ASGIApp, *, size: int, seconds: float) -> None:
        self._app = app
        self._size = size
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or answer 408 or 413."""
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._body(receive)
        except TimeoutError:
            reason = f"the body did not arrive within {self._seconds:g} seconds"
            await _refuse(HTTPStatus.REQUEST_TIMEOUT, reason)(scope, receive, send)
            return
        if body is None:
            return  # the client has disconnected
        if len(body) > self._size:
            reason = f"the body is larger than {self._size} bytes"
            await _refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """Read the body; over the limit only its size matters. None when the client disconnects."""
        kept, size = bytearray(), 0
        while size <= self._size * _DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            kept += chunk[: self._size + 1 - len(kept)]
            if not message.get("more_body", False):
                break
        return bytes(kept)


def _has_body(scope: Scope) -> bool:
    """Return whether a body follows the head of a request: one of these headers says so."""
    return any(name in {b"content-length", b"transfer-encoding"} for name, _ in scope["headers"])


def _refuse(status: int, reason: str) -> ASGIApp:
    """Return the answer; the rest of the body is not read, so the connection cannot be kept."""
    response = json_response({"error": reason}, status)
    response.headers["Connection"] = "close"
    return response
