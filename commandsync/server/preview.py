"""The web server of a preview: one page on loopback, and the stream that tells of the next one."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from time import time

from fastapi import FastAPI, Response
from starlette.middleware.trustedhost import TrustedHostMiddleware

from commandsync.pages.assets import previewed
from commandsync.pages.botpage import BotPage, render_bot
from commandsync.server.endpoint import page_answer
from commandsync.server.middleware import head_as_get, page_headers
from commandsync.server.pages.routes import files
from commandsync.server.pages.stream import News, NewsStream
from commandsync.server.runner import running_application

_HOSTS = ["127.0.0.1", "localhost"]
"""What browsers call loopback: the page of another host could read the preview by a name of its own
that leads here (DNS rebinding)."""


class PreviewServer:
    """Serves one page, which is replaced by the next one."""

    url: str  # the address of the page, once it is served

    def __init__(self, page: BotPage, *, version: int) -> None:
        self._page = page
        self._version = version
        self.app = FastAPI(openapi_url=None, redirect_slashes=False, lifespan=self._lifespan)
        self.app.add_api_route("/", self._answer)
        self.app.add_api_route("/live", self._open_live)
        self.app.include_router(files)
        self.app.add_middleware(head_as_get)
        self.app.add_middleware(page_headers)
        self.app.add_middleware(TrustedHostMiddleware, allowed_hosts=_HOSTS, www_redirect=False)

    def show(self, page: BotPage) -> None:
        """Show another page at once; may be called in any thread while the page is served."""
        self._page = page
        self._version += 1
        self._loop.call_soon_threadsafe(self._news.tell, {"version": self._version})

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self._news = News(state={"version": self._version})
        yield

    async def _answer(self) -> Response:
        version = self._version  # before the page: it must not be that of a later one
        return page_answer(render_bot(self._page, assets=previewed(), version=version))

    async def _open_live(self) -> Response:
        return NewsStream(nullcontext(self._news))


@contextmanager
def preview_server(page: BotPage, *, port: int = 0) -> Iterator[PreviewServer]:
    """Serve a page on loopback while the block lasts; port 0 picks one. Raises `UsageError`."""
    version = round(time() * 1_000)  # after a restart, an open page has another one
    server = PreviewServer(page, version=version)
    with running_application(server.app, port=port) as server.url:
        yield server
