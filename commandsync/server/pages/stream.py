"""The stream of a page that is open: server-sent events with what is new."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from commandsync.server.endpoint import first_of
from commandsync.server.middleware import HEAD_ONLY
from commandsync.server.protocol import AT_SHUTDOWN

KEEP_ALIVE = 15.0
"""Seconds without news after which a page is sent a comment; proxies close silent connections."""


@dataclass(slots=True, eq=False, kw_only=True)
class News:
    """What open pages are told."""

    state: Mapping[str, object]  # what they are told now
    # Set, and replaced, when pages are to look at the state again.
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, state: Mapping[str, object]) -> None:
        """Let every page look for news: this state, or the same as before."""
        self.state = state
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class NewsStream(StreamingResponse):
    """The state of a page as an event, now and at every change, until the page is closed."""

    def __init__(self, watching: AbstractAsyncContextManager[News]) -> None:
        super().__init__((), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._watching = watching

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        ending = asyncio.Event()
        scope["state"][AT_SHUTDOWN] = ending.set
        if HEAD_ONLY in scope:
            ending.set()
        async with self._watching as news:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            await first_of(_send_states(news, send), _until_closed(receive), ending.wait())
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _send_states(news: News, send: Send) -> None:
    sent = b""
    while True:
        changed = news.changed
        event = f"data: {json.dumps(news.state, separators=(',', ':'))}\n\n".encode()
        body = b":\n\n" if event == sent else event
        await send({"type": "http.response.body", "body": body, "more_body": True})
        sent = event
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_ALIVE):
                await changed.wait()


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
