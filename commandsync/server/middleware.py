"""What every request passes: the limits on its body, HEAD as GET, and the headers of pages."""

import asyncio
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.api.arguments import API_VERSION
from commandsync.server.endpoint import refusal

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # `no-referrer` would hide the page from the service too: the origin of its forms would be null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of every answer beside the interface: pages, files, refusals."""

HEAD_ONLY = "commandsync.head_only"
"""The name, in the scope of a request, of whether only the head of its answer is sent."""

_INTERFACE = f"/v{API_VERSION}/"
_FRAMING = {b"content-length", b"transfer-encoding"}  # what announces a body
_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer


def head_as_get(app: ASGIApp) -> ASGIApp:
    """Answer HEAD as GET: the headers are the same, and the server leaves the body out."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET", HEAD_ONLY: True}
        await app(scope, receive, send)

    return answer


def page_headers(app: ASGIApp) -> ASGIApp:
    """Add `HEADERS` to every answer to a path that is not of the interface, and compress it.

    No page contains a secret, so that its size reveals nothing.
    """
    # Of 9 levels: the time doubles with the next ones, and the size stays.
    compressed = GZipMiddleware(app, minimum_size=1_000, compresslevel=4)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        is_page = scope["type"] == "http" and not scope["path"].startswith(_INTERFACE)
        if is_page:
            await compressed(scope, receive, send_protected)
        else:
            await app(scope, receive, send)

    return answer


def body_limit(app: ASGIApp, *, size: int, seconds: float) -> ASGIApp:
    """Answer 413 to bodies over `size` bytes, and 408 to those that take longer than `seconds`.

    A body whose length is given twice is answered 400.

    An answer begins after the body is read.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        framing = _FRAMING & {name for name, _ in scope.get("headers", ())}
        if scope["type"] != "http" or not framing:
            await app(scope, receive, send)
            return
        if framing == _FRAMING:  # a proxy in front could read another body than this service
            reason = "a request has either Content-Length or Transfer-Encoding"
            await _refuse(HTTPStatus.BAD_REQUEST, reason)(scope, receive, send)
            return
        try:
            async with asyncio.timeout(seconds):
                body = await _body(receive, size)
        except TimeoutError:
            reason = f"the body did not arrive within {seconds:g} seconds"
            await _refuse(HTTPStatus.REQUEST_TIMEOUT, reason)(scope, receive, send)
            return
        if body is None:
            return  # the client has disconnected
        if len(body) > size:
            reason = f"the body is larger than {size} bytes"
            await _refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await app(scope, replay, send)

    return answer


async def _body(receive: Receive, limit: int) -> bytes | None:
    """Read a body; over the limit only its size matters. None when the client disconnects."""
    kept, size = bytearray(), 0
    while size <= limit * _DISCARDED:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        kept += chunk[: limit + 1 - len(kept)]
        if not message.get("more_body", False):
            break
    return bytes(kept)


def _refuse(status: int, reason: str) -> ASGIApp:
    """Return the answer; the rest of the body is not read, so the connection cannot be kept."""
    response = refusal(status, reason)
    response.headers["Connection"] = "close"
    return response
