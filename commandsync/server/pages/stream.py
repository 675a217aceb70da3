"""The stream of a page that is open: server-sent events with the newest votes and version."""

from __future__ import annotations

import asyncio
import json
from asyncio import FIRST_COMPLETED
from contextlib import suppress
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Response
from fastapi.responses import StreamingResponse
from starlette.requests import Request  # noqa: TC002 - the framework reads it

from commandsync.server.methods import HEAD_ONLY
from commandsync.server.pages.live import version_of
from commandsync.server.protocol import AT_SHUTDOWN

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from commandsync.server.pages.live import Watched

router = APIRouter(include_in_schema=False)

KEEP_ALIVE = 15.0
"""Seconds without news after which a page is sent a comment; proxies close silent connections."""


@router.get("/bot/{bot}/live")
async def open_live(bot: str, request: Request) -> Response:
    """Return the stream of a bot's page."""
    return _Stream(request.app, bot)


class _Stream(StreamingResponse):
    """The state of a page as an event, now and at every change, until the page is closed."""

    def __init__(self, app: FastAPI, bot: str) -> None:
        super().__init__((), media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._app, self._bot = app, bot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        ending = asyncio.Event()
        scope["state"][AT_SHUTDOWN] = ending.set
        if HEAD_ONLY in scope:
            ending.set()
        async with self._app.state.live.watching(self._bot) as watched:
            start = {"status": self.status_code, "headers": self.raw_headers}
            await send({"type": "http.response.start", **start})
            tasks = [
                asyncio.create_task(work)
                for work in (
                    self._send_states(watched, send),
                    _until_closed(receive),
                    ending.wait(),
                )
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=FIRST_COMPLETED)
                done.pop().result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_states(self, watched: Watched, send: Send) -> None:
        sent = b""
        while True:
            changed = watched.changed
            state = _event({"version": version_of(self._app), "votes": watched.votes})
            news = b":\n\n" if state == sent else state
            await send({"type": "http.response.body", "body": news, "more_body": True})
            sent = state
            with suppress(TimeoutError):
                async with asyncio.timeout(KEEP_ALIVE):
                    await changed.wait()


async def _until_closed(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(content: object) -> bytes:
    return f"data: {json.dumps(content, separators=(',', ':'))}\n\n".encode()
