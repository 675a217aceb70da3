"""The web server of a preview: one page on loopback, and the number of its version.

The page is drawn at each request, with its version. An open page asks for the next version again
and again: the answer waits for it a while, and so nothing is kept for a page that does not read.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, time

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.staticfiles import StaticFiles

from commandsync.pages.botpage import BotPage, render_bot
from commandsync.pages.templates import PREVIEWED, STATIC
from commandsync.server.endpoint import page_answer
from commandsync.server.middleware import head_as_get, page_headers
from commandsync.server.runner import running_application

_HOSTS = ["127.0.0.1", "localhost"]
"""What browsers call loopback: the page of another host could read the preview by a name of its own
that leads here (DNS rebinding)."""

LONGEST_WAIT = 0.5
"""Seconds until an open page is answered without a new version; the end of the server waits too."""

_LOOK = 0.02  # seconds between two looks at the version


class PreviewServer:
    """Serves one page, which is replaced by the next one."""

    url: str  # the address of the page, once it is served

    def __init__(self, page: BotPage, *, version: int) -> None:
        self._page = page
        self._version = version
        self.app = FastAPI(openapi_url=None, redirect_slashes=False)
        self.app.add_api_route("/", self._answer)
        self.app.add_api_route("/live", self._next_version)
        self.app.mount("/static", StaticFiles(directory=STATIC))
        self.app.add_middleware(head_as_get)
        self.app.add_middleware(page_headers)
        self.app.add_middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False)

    def show(self, page: BotPage) -> None:
        """Show another page; may be called in any thread."""
        self._page = page
        self._version += 1

    async def _answer(self) -> Response:
        version = self._version  # before the page: it must not be that of a later one
        return page_answer(render_bot(self._page, assets=PREVIEWED, version=version))

    async def _next_version(self, after: int = 0) -> Response:
        end = monotonic() + LONGEST_WAIT
        while self._version == after and monotonic() < end:  # noqa: ASYNC110 - any thread sets it
            await asyncio.sleep(_LOOK)
        return JSONResponse({"version": self._version})


@contextmanager
def preview_server(page: BotPage, *, port: int = 0) -> Iterator[PreviewServer]:
    """Serve a page on loopback while the block lasts; port 0 picks one. Raises `UsageError`."""
    version = round(time() * 1_000)  # after a restart, an open page has another one
    server = PreviewServer(page, version=version)
    with running_application(server.app, port=port) as server.url:
        yield server
