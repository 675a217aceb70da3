"""An application around another one, for tests: it records requests, and fails some on request."""

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.server.conditions import answer_instead
from commandsync.server.protocol import ABORT
from commandsync.server.tokens import without_token


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came, without its token."""

    method: str
    path: str  # the path and the query
    body: Any  # the decoded JSON; the bytes if it is something else, and None if there is none


class Recorder:
    """Answers as an application does; may be asked from any thread."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.requests: list[Request] = []
        """The requests so far, the oldest first."""
        self._faults: deque[Callable[[ASGIApp], ASGIApp]] = deque()

    def answer_next(self, response: ASGIApp, *, times: int = 1, after: bool) -> None:
        """Answer the next requests in another way, before or after their work is done."""
        self._faults += [partial(answer_instead, response=response, after=after)] * times

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or fail it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        messages = deque([await receive()])
        while messages[-1].get("more_body", False):
            messages.append(await receive())
        self.requests.append(_recorded(scope, messages))

        async def replay() -> Message:
            return messages.popleft() if messages else await receive()

        app = self._app
        if self._faults:
            app = self._faults.popleft()(app)
        await app(scope, replay, send)


def reply(content: bytes = b"", *, status: int, **headers: str) -> ASGIApp:
    """Return an answer with these bytes."""
    return Response(content, status, headers)


async def lose_answer(scope: Scope, receive: Receive, _send: Send) -> None:
    """Close the connection without an answer."""
    scope["state"][ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass  # the server waits for an answer until then


def _recorded(scope: Scope, messages: deque[Message]) -> Request:
    content = b"".join(message.get("body", b"") for message in messages)
    query = scope["query_string"].decode("latin-1")
    path = f"{scope['path']}?{query}" if query else scope["path"]
    try:
        body = json.loads(content)
    except ValueError:
        body = content or None
    return Request(scope["method"], without_token(path), body)
