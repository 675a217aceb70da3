"""The web server of a preview: one page on loopback, and the stream that tells of the next one.

The page is drawn at each request, with its version. The stream is one of server-sent events: the
version now and after each change. Only the newest one is kept, so that nothing waits for a page
that does not read.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from time import time

from fastapi import FastAPI, Response
from fastapi.responses import StreamingResponse
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import Receive, Scope, Send

from commandsync.pages.botpage import BotPage, render_bot
from commandsync.pages.templates import previewed
from commandsync.server.endpoint import first_of, page_answer
from commandsync.server.middleware import HEAD_ONLY, head_as_get, page_headers
from commandsync.server.page_routes import files
from commandsync.server.protocol import AT_SHUTDOWN
from commandsync.server.runner import running_application

_HOSTS = ["127.0.0.1", "localhost"]
"""What browsers call loopback: the page of another host could read the preview by a name of its own
that leads here (DNS rebinding)."""


KEEP_ALIVE = 15.0
"""Seconds without news after which a page is sent a comment; proxies close silent connections."""


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
        self._loop.call_soon_threadsafe(self._news.tell, self._version)

    @asynccontextmanager
    async def _lifespan(self, _app: FastAPI) -> AsyncIterator[None]:
        self._loop = asyncio.get_running_loop()
        self._news = News(version=self._version)
        yield

    async def _answer(self) -> Response:
        version = self._version  # before the page: it must not be that of a later one
        return page_answer(render_bot(self._page, assets=previewed(), version=version))

    async def _open_live(self) -> Response:
        return NewsStream(self._news)


@contextmanager
def preview_server(page: BotPage, *, port: int = 0) -> Iterator[PreviewServer]:
    """Serve a page on loopback while the block lasts; port 0 picks one. Raises `UsageError`."""
    version = round(time() * 1_000)  # after a restart, an open page has another one
    server = PreviewServer(page, version=version)
    with running_application(server.app, port=port) as server.url:
        yield server


@dataclass(slots=True, eq=False, kw_only=True)
class News:
    """The version of the page, for the streams of the pages that are open."""

    version: int
    changed: asyncio.Event = field(default_factory=asyncio.Event)  # set, and replaced, by `tell`

    def tell(self, version: int) -> None:
        """Let every stream send a version."""
        self.version = version
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class NewsStream(StreamingResponse):
    """The version of the page as an event, now and at every change, until the page is closed."""

    def __init__(self, news: News) -> None:
        super().__init__((), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._news = news

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        ending = asyncio.Event()
        scope["state"][AT_SHUTDOWN] = ending.set
        if HEAD_ONLY in scope:
            ending.set()
        start = {"status": self.status_code, "headers": self.raw_headers}
        await send({"type": "http.response.start", **start})
        await first_of(_send_versions(self._news, send), _until_closed(receive), ending.wait())
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_versions(news: News, send: Send) -> None:
    sent: int | None = None
    while True:
        changed, version = news.changed, news.version
        text = ":\n\n" if version == sent else f'data: {{"version":{version}}}\n\n'
        await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        sent = version
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_ALIVE):
                await changed.wait()


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
