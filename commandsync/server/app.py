"""The application: its routes, limits, background tasks, and its OpenAPI document.

`create_app` puts the endpoints together and wraps them into the middleware that every request
passes. While it runs, a `Broadcast` delivers events and reminders. Its OpenAPI document is what the
framework generates; every field of it has an example or a default.
"""

import json
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import FastAPI
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic.alias_generators import to_camel
from starlette.staticfiles import StaticFiles

from commandsync.api.arguments import API_VERSION
from commandsync.pages.templates import STATIC
from commandsync.server import endpoint, gateway, vote_page, votes
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.broadcast import delivering
from commandsync.server.caller import caller_of
from commandsync.server.conditions import NORMAL, Conditions, parse_rate_limit, rate_limit
from commandsync.server.database import Database, opened
from commandsync.server.endpoint import refusal
from commandsync.server.middleware import addressed, body_limit, head_as_get, page_headers
from commandsync.server.page_routes import router as page_router
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.routes import health, router

_NEVER_SENT = ("HTTPValidationError", "ValidationError")  # the framework's own error format

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
        async with delivering(
            database, lambda bots: votes.send_due(database, bots, now())
        ) as app.state.broadcast:
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
    app.state.now, app.state.vote_interval, app.state.check = now, vote_interval, None
    app.state.guests = MovingWindowRateLimiter(MemoryStorage())
    for routes in (router, gateway.router):
        app.include_router(routes, prefix=f"/v{API_VERSION}")
    for routes in (health, page_router, vote_page.router):
        app.include_router(routes)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    app.add_middleware(head_as_get)
    app.add_middleware(page_headers)
    if conditions.rate_limit is None:
        limit = parse_rate_limit(MOST_REQUESTS)
        app.add_middleware(rate_limit, prefix="/", refuse=refusal, limit=limit, client=caller_of)
    conditions.install(app, client=caller_of)
    app.add_middleware(addressed, names=names)
    endpoint.install_refusals(app)
    vote_page.install_refusals(app)
    complete_openapi(app)
    for route in app.routes:
        # Prepares the endpoints of a router now. The framework would do it at the first request,
        # and two services of one process that do it at once disturb each other.
        route.matches({"type": "http", "method": "GET", "path": "", "headers": []})
    return app


def openapi_text() -> str:
    """Return the OpenAPI document, as in schemas/openapi.json."""
    with opened(":memory:") as database:
        document = create_app(database).openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def complete_openapi(app: FastAPI) -> None:
    """Leave the framework's own error, which is never sent, out of an application's document."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()  # the same object each time
        for name in _NEVER_SENT:
            document["components"]["schemas"].pop(name, None)
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as the framework's manual has it
