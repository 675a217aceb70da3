"""An application around another one, for tests: it records requests, and fails some on request."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Condition
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.server.conditions import Refuse, answer_instead, failed
from commandsync.server.endpoint import refusal
from commandsync.server.protocol import ABORT
from commandsync.server.tokens import without_token


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came, without its token."""

    method: str
    path: str  # the path and the query
    body: Any  # the decoded JSON; the bytes if it is something else, and None if there is none


class Recorder:
    """Answers as an application does; may be asked from any thread.

    `refuse` makes its refusals.
    """

    def __init__(self, app: ASGIApp, refuse: Refuse = refusal) -> None:
        self._app = app
        self._refuse = refuse
        self._requests: list[Request] = []
        self._faults: deque[Callable[[ASGIApp], ASGIApp]] = deque()
        self._connected: Counter[str] = Counter()
        self._change = Condition()
        self._loop: asyncio.AbstractEventLoop | None = None  # where connections are served

    @property
    def requests(self) -> list[Request]:
        """The requests so far, the oldest first."""
        return [*self._requests]

    def fail_next(
        self, status: int, *, times: int, after: bool, seconds: int | None = None
    ) -> None:
        """Answer the next requests with a status, before or after their work is done.

        `seconds` is how long the client is told to wait.
        """
        self.answer_next(failed(self._refuse, status, seconds), times=times, after=after)

    def answer_next(self, response: ASGIApp, *, times: int = 1, after: bool) -> None:
        """Answer the next requests in another way, before or after their work is done."""
        self._faults += [partial(answer_instead, response=response, after=after)] * times

    def is_connected(self, bot: str) -> bool:
        """Whether a client of the gateway has received `ready`, and has not left."""
        return self._connected[bot] > 0

    def wait_until_connected(self, bot: str, timeout: float) -> bool:
        """Wait until a client is connected; False if it takes longer.

        A client that has left before the call does not count: the loop reads that first.
        """
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(_passes(), self._loop).result()
        with self._change:
            return self._change.wait_for(lambda: self.is_connected(bot), timeout)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or fail it."""
        match scope["type"]:
            case "http":
                await self._answer(scope, receive, send)
            case "websocket":
                await self._connect(scope, receive, send)
            case _:
                await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        messages = deque([await receive()])
        while messages[-1].get("more_body", False):
            messages.append(await receive())
        self._requests.append(_recorded(scope, messages))

        async def replay() -> Message:
            return messages.popleft() if messages else await receive()

        app = self._app
        if self._faults:
            app = self._faults.popleft()(app)
        await app(scope, replay, send)

    async def _connect(self, scope: Scope, receive: Receive, send: Send) -> None:
        bots: list[str] = []
        self._loop = asyncio.get_running_loop()

        def leave() -> None:
            while bots:
                self._count(bots.pop(), -1)

        async def hear() -> Message:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                leave()
            return message

        async def note(message: Message) -> None:
            await send(message)
            if not bots and (bot := _ready(message)):
                bots.append(bot)
                self._count(bot, 1)

        try:
            await self._app(scope, hear, note)
        finally:
            leave()

    def _count(self, bot: str, change: int) -> None:
        with self._change:
            self._connected[bot] += change
            self._change.notify_all()


def reply(content: bytes = b"", *, status: int, **headers: str) -> ASGIApp:
    """Return an answer with these bytes."""
    return Response(content, status, headers)


async def lose_answer(scope: Scope, receive: Receive, _send: Send) -> None:
    """Close the connection without an answer."""
    scope["state"][ABORT]()
    while (await receive())["type"] != "http.disconnect":
        pass  # the server waits for an answer until then


async def _passes() -> None:
    """Let the loop read what has arrived, and pass it on: that takes two passes, or three."""
    for _ in range(5):
        await asyncio.sleep(0)


def _recorded(scope: Scope, messages: deque[Message]) -> Request:
    content = b"".join(message.get("body", b"") for message in messages)
    query = scope["query_string"].decode("latin-1")
    path = f"{scope['path']}?{query}" if query else scope["path"]
    try:
        body = json.loads(content)
    except ValueError:
        body = content or None
    return Request(scope["method"], without_token(path), body)


def _ready(message: Message) -> str:
    """Return the id of the bot that a frame welcomes; empty for another frame."""
    frame = message.get("text") or ""
    if not frame.startswith('42["message"'):
        return ""
    event = json.loads(json.loads(frame[2:])[1])
    bot: str = event["data"]["id"] if event["event"] == "ready" else ""
    return bot
