"""The protection of the pages: headers that a browser obeys, and where a form may be sent from.

A page loads nothing from another host and runs no script but the service's own files, whatever the
texts in it are. A vote counts only if a page of the service itself sends it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from commandsync.api.address import API_VERSION

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

_INTERFACE = f"/v{API_VERSION}/"


class PageHeaders:
    """Adds `HEADERS` to every answer to a path that is not of the interface."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer with the headers."""

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        is_page = scope["type"] == "http" and not scope["path"].startswith(_INTERFACE)
        await self._app(scope, receive, send_protected if is_page else send)


def is_from_own_page(headers: Headers) -> bool:
    """Return whether a browser says that a page of this service sends a request.

    `Sec-Fetch-Site` decides. A browser leaves it out on plain http to another machine, and an old
    one always: there the origin must be the host that is asked.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    host = headers.get("host")
    return bool(host) and headers.get("origin") in {f"http://{host}", f"https://{host}"}
