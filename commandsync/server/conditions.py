"""The conditions of a bad day, on request: latency, a rate limit, failures.

They apply to the paths of the interface and to nothing beside it, such as checks of health. For
tests, a `Recorder` is an application around another one: it records requests, and answers the next
ones in another way where a test asks for that.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from random import Random, SystemRandom
from time import time
from typing import Any

from limits import RateLimitItem, RateLimitItemPerSecond, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.server.endpoint import refused_answer
from commandsync.server.protocol import ABORT, without_token

_MOST_SEEDS = 2**32

Refuse = Callable[[int, str, int | None], Response]
"""Makes a refusal of its status, its reason, and the seconds until the client may come back."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The faults of a service; none by default."""

    latency: float = 0  # milliseconds that every answer takes at least
    # Requests of one client, known by its valid token or its address, in a period: `30/minute`.
    rate_limit: str | None = None
    # The share of requests that are answered 500 or 503: half before anything is done, half after.
    fail: float = 0
    # Makes the same failures again for the same requests in the same order; a new one by default.
    chaos_seed: int = field(default_factory=lambda: SystemRandom().randrange(_MOST_SEEDS))

    def described(self) -> list[str]:
        """Return a line for each condition."""
        lines = {
            f"latency {self.latency:g} ms": self.latency,
            f"rate limit {self.rate_limit}": self.rate_limit,
            f"failures {self.fail:.1%}, chaos seed {self.chaos_seed}": self.fail,
        }
        return [line for line, given in lines.items() if given]

    def install(
        self,
        app: Starlette,
        *,
        client: Callable[[Scope], str | None],
        prefix: str = "/v",
        refuse: Refuse = refused_answer,
        block: int = 0,
    ) -> None:
        """Give an application these conditions.

        The paths of its interface begin with `prefix`. A `client` over the rate limit is refused
        for `block` seconds, or for 0 until the limit allows its next request; all unknown
        clients count as one.
        """
        if self.fail:
            app.add_middleware(
                _failures, prefix=prefix, refuse=refuse, rate=self.fail, seed=self.chaos_seed
            )
        if self.rate_limit:
            app.add_middleware(
                rate_limit,
                prefix=prefix,
                refuse=refuse,
                limit=parse_rate_limit(self.rate_limit),
                block=block,
                client=lambda scope: client(scope) or "anybody",
            )
        if self.latency:
            app.add_middleware(_latency, prefix=prefix, seconds=self.latency / 1_000)


NORMAL = Conditions()


def parse_rate_limit(text: str) -> RateLimitItem:
    """Read a rate limit such as `30/minute` or `100/5 minutes`; raises `ValueError`."""
    wrong = f"{text!r} is not a valid rate limit: give it as 30/minute"
    try:
        (limit,) = parse_many(text)
    except ValueError as error:
        raise ValueError(wrong) from error
    if limit.amount < 1:
        raise ValueError(wrong)
    return limit


def _concerns(scope: Scope, prefix: str) -> bool:
    return scope["type"] == "http" and str(scope["path"]).startswith(prefix)


def _latency(app: ASGIApp, *, prefix: str, seconds: float) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if _concerns(scope, prefix):
            await asyncio.sleep(seconds)
        await app(scope, receive, send)

    return answer


def rate_limit(
    app: ASGIApp,
    *,
    prefix: str,
    refuse: Refuse,
    limit: RateLimitItem,
    client: Callable[[Scope], str | None],
    block: int = 0,
) -> ASGIApp:
    """Refuse more requests of a `client` than a limit allows; None has no limit."""
    limiter = MovingWindowRateLimiter(MemoryStorage())
    blocked = RateLimitItemPerSecond(1, block, namespace="BLOCKED") if block else None

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        # A limit counts requests, and handshakes of WebSockets.
        is_counted = scope["type"] != "lifespan" and str(scope["path"]).startswith(prefix)
        key = client(scope) if is_counted else None
        is_free = key is None or blocked is None or limiter.test(blocked, key)
        if key is None or (is_free and limiter.hit(limit, key)):
            await app(scope, receive, send)
            return
        if blocked is not None:
            limiter.hit(blocked, key)
        reset, _ = limiter.get_window_stats(blocked or limit, key)
        seconds = max(1, ceil(reset - time()))
        await refuse(429, f"too many requests; wait {seconds} s", seconds)(scope, receive, send)

    return answer


def _failures(app: ASGIApp, *, prefix: str, refuse: Refuse, rate: float, seed: int) -> ASGIApp:
    random = Random(seed)  # noqa: S311 - it has to be repeatable

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        chosen = app
        if _concerns(scope, prefix):
            # Three numbers for every request, so that the numbers of others do not change them.
            failure, moment, second = (random.random() for _ in range(3))
            if failure < rate:
                status = 503 if second < 1 / 2 else 500
                chosen = answer_instead(app, failed(refuse, status), after=moment < 1 / 2)
        await chosen(scope, receive, send)

    return answer


def failed(refuse: Refuse, status: int, seconds: int | None = None) -> Response:
    """Return the answer of a failure that was asked for."""
    return refuse(status, f"failed on request, with {status}", seconds)


def answer_instead(app: ASGIApp, response: ASGIApp, *, after: bool) -> ASGIApp:
    """Return an application that answers in its own way, in place of another one or `after` it."""

    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        if after:
            await app(scope, receive, _discard)
        await response(scope, receive, send)

    return failing


async def _discard(_message: Message) -> None:
    pass


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it came, without its token."""

    method: str
    path: str  # the path and the query
    body: Any  # the decoded JSON; the bytes if it is something else, and None if there is none


class Recorder:
    """Answers as an application does; may be asked from any thread."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.requests: list[RecordedRequest] = []
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
        content = b"".join(message.get("body", b"") for message in messages)
        try:
            body = json.loads(content)
        except ValueError:
            body = content or None
        query = scope["query_string"].decode("latin-1")
        path = without_token(f"{scope['path']}?{query}" if query else scope["path"])
        self.requests.append(RecordedRequest(scope["method"], path, body))

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
