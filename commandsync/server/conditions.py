"""The conditions of a bad day, on request: latency, a rate limit, failures, late reads.

They apply to the paths of the interface and to nothing beside it, such as checks of health.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from math import ceil
from random import Random, SystemRandom
from time import time
from typing import TYPE_CHECKING

from limits import parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from commandsync.server.endpoint import json_response
from commandsync.server.failures import answer_instead

if TYPE_CHECKING:
    from fastapi import FastAPI
    from limits import RateLimitItem
    from starlette.types import ASGIApp, Receive, Scope, Send

_MOST_SEEDS = 2**32
_STATUSES = (500, 503)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is wrong with the service; nothing by default.

    Attributes:
        latency: Milliseconds that every answer takes at least.
        rate_limit: Requests of one client in a period, such as `30/minute`; the client is known by
            its token, or without one by its address.
        fail: The share of requests that are answered 500 or 503, from 0 to 1: half of them before
            anything is done, half after it.
        lag: Seconds until reads show a write.
        chaos_seed: Makes the same failures again for the same requests in the same order; by
            default a new one, which can be shown and given again.
    """

    latency: float = 0
    rate_limit: str | None = None
    fail: float = 0
    lag: float = 0
    chaos_seed: int = field(default_factory=lambda: SystemRandom().randrange(_MOST_SEEDS))

    def described(self) -> list[str]:
        """Return a line for each condition."""
        lines = []
        if self.latency:
            lines.append(f"latency {self.latency:g} ms")
        if self.rate_limit:
            lines.append(f"rate limit {self.rate_limit}")
        if self.fail:
            lines.append(f"failures {self.fail:.1%}, chaos seed {self.chaos_seed}")
        if self.lag:
            lines.append(f"lag {self.lag:g} s")
        return lines

    def install(self, app: FastAPI) -> None:
        """Give an application these conditions, except for the lag, which its reads have."""
        if self.fail:
            app.add_middleware(_Failures, rate=self.fail, seed=self.chaos_seed)
        if self.rate_limit:
            app.add_middleware(_RateLimit, limit=parse_rate_limit(self.rate_limit))
        if self.latency:
            app.add_middleware(_Latency, seconds=self.latency / 1_000)


NORMAL = Conditions()


def parse_rate_limit(text: str) -> RateLimitItem:
    """Read a rate limit such as `30/minute` or `100/5 minutes`.

    Raises:
        ValueError: It is not one.
    """
    wrong = f"{text!r} is not a valid rate limit: give it as 30/minute"
    try:
        (limit,) = parse_many(text)
    except ValueError as error:
        raise ValueError(wrong) from error
    if limit.amount < 1:
        raise ValueError(wrong)
    return limit


def _concerns(scope: Scope) -> bool:
    return scope["type"] == "http" and str(scope["path"]).startswith("/v")


class _Latency:
    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _concerns(scope):
            await asyncio.sleep(self._seconds)
        await self._app(scope, receive, send)


class _RateLimit:
    def __init__(self, app: ASGIApp, *, limit: RateLimitItem) -> None:
        self._app, self._limit = app, limit
        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = _client(scope) if _concerns(scope) else None
        if client is None or self._limiter.hit(self._limit, client):
            await self._app(scope, receive, send)
            return
        reset, _ = self._limiter.get_window_stats(self._limit, client)
        seconds = max(1, ceil(reset - time()))
        response = json_response({"error": f"too many requests; wait {seconds} s"}, 429)
        response.headers["Retry-After"] = str(seconds)
        await response(scope, receive, send)


def _client(scope: Scope) -> str:
    token = dict(scope["headers"]).get(b"authorization")
    address = scope["client"]
    return token.decode("latin-1") if token else str(address and address[0])


class _Failures:
    def __init__(self, app: ASGIApp, *, rate: float, seed: int) -> None:
        self._app, self._rate = app, rate
        self._random = Random(seed)  # noqa: S311 - it has to be repeatable

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if _concerns(scope):
            # Three numbers for every request, so that each has its own whatever became of others.
            failure, moment, status = (self._random.random() for _ in range(3))
            if failure < self._rate:
                app = answer_instead(app, _STATUSES[status < 1 / 2], after=moment < 1 / 2)
        await app(scope, receive, send)
