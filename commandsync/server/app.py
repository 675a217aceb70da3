"""The application: endpoints, error answers, body limit, database."""

import json
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

from fastapi import FastAPI
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic.alias_generators import to_camel

from commandsync.api.arguments import API_VERSION
from commandsync.server import gateway, openapi, refusals, reminders, votes
from commandsync.server.addresses import addressed, caller_of
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.bot_list import router as bot_list
from commandsync.server.broadcast import delivering
from commandsync.server.conditions import NORMAL, Conditions, parse_rate_limit, rate_limit
from commandsync.server.database import Database, opened
from commandsync.server.endpoint import refusal
from commandsync.server.middleware import body_limit, head_as_get, page_headers
from commandsync.server.pages import refusalpage, vote
from commandsync.server.pages.routes import files
from commandsync.server.pages.routes import router as page_router
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.routes import health, router
from commandsync.server.vote_routes import router as vote_router

MOST_REQUESTS = "1200/minute"
"""Requests that each process answers for one bot with its token, or for one other address."""


def create_app(
    database: Database,
    *,
    conditions: Conditions = NORMAL,
    vote_interval: timedelta = votes.INTERVAL,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    names: Collection[str] = (),
) -> FastAPI:
    """Return the service as an ASGI application.

    Args:
        database: An open database, which its caller closes.
        conditions: What is wrong with the service.
        vote_interval: The time between two votes of a user for a bot.
        now: The clock of votes.
        names: The host names that requests may use beside `localhost`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.database = database
        async with (
            delivering(database) as broadcast,
            reminders.sending(database, broadcast, interval=vote_interval, now=now),
        ):
            app.state.broadcast = broadcast
            yield

    app = FastAPI(
        title="Bot listing service",
        version=str(API_VERSION),
        description="The bot listing service of commandsync. Reads need no token; writes need the "
        "bot's own. Every answer is JSON in UTF-8: `success`, `message` and `data`, or `error`. "
        "HEAD is answered wherever GET is; another method is answered 405, with `Allow`.",
        openapi_url=f"/v{API_VERSION}/openapi.json",
        docs_url=None,  # the pages load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: to_camel(route.name),
        lifespan=lifespan,
    )
    app.state.now, app.state.vote_interval = now, vote_interval
    app.state.guests = MovingWindowRateLimiter(MemoryStorage())
    for routes in (bot_list, router, vote_router, gateway.router):
        app.include_router(routes, prefix=f"/v{API_VERSION}")
    for routes in (health, page_router, files, vote.router):
        app.include_router(routes)
    app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    app.add_middleware(head_as_get)
    app.add_middleware(page_headers)
    if conditions.rate_limit is None:
        limit = parse_rate_limit(MOST_REQUESTS)
        app.add_middleware(rate_limit, prefix="/", refuse=refusal, limit=limit, client=caller_of)
    conditions.install(app, client=caller_of)
    app.add_middleware(addressed, names=names)
    refusals.install(app)
    refusalpage.install(app)
    openapi.install(app)
    return app


def openapi_text() -> str:
    """Return the OpenAPI document, as in schemas/openapi.json."""
    with opened(":memory:") as database:
        document = create_app(database).openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
