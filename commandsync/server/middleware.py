"""The middleware that every request passes: host, body, HEAD, and the headers of pages.

A request for an unknown host is refused, and so is a body that is too large or too slow, before the
application sees it. HEAD is answered as GET. Everything beside the interface gets the headers that
protect pages, and is compressed.
"""

import asyncio
import re
from collections.abc import Collection
from http import HTTPStatus
from ipaddress import ip_address
from urllib.parse import unquote

from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.api.arguments import API_VERSION
from commandsync.server.endpoint import refusal

HEADERS = {
    "Cache-Control": "private, no-cache",  # a page shows when its reader may vote
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

_INTERFACE = f"/v{API_VERSION}/"
_FRAMING = {b"content-length", b"transfer-encoding"}  # what announces a body
_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer
_ABSOLUTE = re.compile(rb"(?i:https?|wss?)://([^/]*)")
_HOST = re.compile(r"(\[[^\]]*\]|[^:@]*)(?::\d*)?")


def addressed(app: ASGIApp, *, names: Collection[str]) -> ASGIApp:
    """Answer 421 to a host that is not an IP address, `localhost` or one of these names.

    Another site could lead a browser here by a name of its own (DNS rebinding). A request with a
    whole URL is answered as one for its path.
    """
    allowed = {"localhost", *(name.lower() for name in names)}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            scope = _with_path(scope)
            host = dict(scope["headers"]).get(b"host", b"localhost").decode("latin-1")
            if not _is_allowed(host, allowed):
                reason = f"the host {host} is not allowed; serve --host-name allows another name"
                response = refusal(HTTPStatus.MISDIRECTED_REQUEST, reason)
                await response(scope, receive, send)
                return
        await app(scope, receive, send)

    return answer


def _with_path(scope: Scope) -> Scope:
    url = _ABSOLUTE.match(scope["raw_path"])
    if url is None:
        return scope
    path = scope["raw_path"][url.end() :] or b"/"
    headers = [(b"host", url[1]), *(pair for pair in scope["headers"] if pair[0] != b"host")]
    return {**scope, "path": unquote(path.decode("ascii")), "raw_path": path, "headers": headers}


def _is_allowed(host: str, names: Collection[str]) -> bool:
    match = _HOST.fullmatch(host)
    name = match[1].lower().removesuffix(".") if match else ""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return name in names
    return True


def head_as_get(app: ASGIApp) -> ASGIApp:
    """Answer HEAD as GET: the headers are the same, and the server leaves the body out."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
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
