"""The conditions of a bad day, on request: latency, a rate limit, failures.

They apply to the paths of the interface and to nothing beside it, such as checks of health.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from random import Random, SystemRandom
from time import time

from limits import RateLimitItem, RateLimitItemPerSecond, parse_many
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.server.endpoint import refusal

_MOST_SEEDS = 2**32
_STATUSES = (500, 503)

Refuse = Callable[[int, str, int | None], Response]
"""Makes a refusal of its status, its reason, and the seconds until the client may come back."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is wrong with the service; nothing by default."""

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
        refuse: Refuse = refusal,
        block: int = 0,
    ) -> None:
        """Give an application these conditions.

        The paths of its interface begin with `prefix`. A `client` over the rate limit is refused
        for `block` seconds, or for 0 until the limit allows its next request; those of whom nothing
        is known count as one.
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
        key = client(scope) if _concerns(scope, prefix) else None
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
            # Three numbers for every request, so that each has its own whatever became of others.
            failure, moment, second = (random.random() for _ in range(3))
            if failure < rate:
                status = _STATUSES[second < 1 / 2]
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
