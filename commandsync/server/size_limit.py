"""The limit on request bodies: each is read whole, up to the limit, before the application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commandsync.server.endpoint import json_response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer


class SizeLimit:
    """Refuses bodies over a limit, in bytes; an answer begins after the body is read."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._body(receive)
        if body is None:
            return  # the client has disconnected
        if len(body) > self._limit:
            refusal = {"error": f"the body is larger than {self._limit} bytes"}
            response = json_response(refusal, status=413)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """Read the body; over the limit only its size matters. None when the client disconnects."""
        kept, size = bytearray(), 0
        while size <= self._limit * _DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            kept += chunk[: self._limit + 1 - len(kept)]
            if not message.get("more_body", False):
                break
        return bytes(kept)
