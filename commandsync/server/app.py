"""The applications: the listing service with its OpenAPI document, and a simulated service.

`create_app` puts the endpoints together and wraps them into the middleware that every request
passes. While it runs, a `Broadcast` delivers events and reminders. Its OpenAPI document is what the
framework generates; every field of it has an example or a default.

`SimulatedService` carries a simulation, which knows no server: it reads a request, lets the
simulation respond, and keeps the next state in memory, under the conditions of a bad day. `/`,
which no service has, shows the lists: a browser gets a page, a program JSON.
"""

import json
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http import HTTPMethod
from secrets import token_hex
from typing import Any

from fastapi import FastAPI
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic.alias_generators import to_camel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from commandsync.api.arguments import API_VERSION
from commandsync.pages.templates import STATIC, commands_page
from commandsync.records.texts import CommandText
from commandsync.server import endpoint, gateway, page_routes, votes
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.conditions import NORMAL, Conditions, parse_rate_limit, rate_limit
from commandsync.server.database import Database, opened
from commandsync.server.endpoint import (
    addressed,
    body_limit,
    head_as_get,
    page_headers,
    refused_answer,
)
from commandsync.server.protocol import REQUEST_SECONDS, caller_of
from commandsync.server.routes import health, router
from commandsync.simulation import exchange
from commandsync.simulation.registry import simulate


class SimulatedService:
    """A simulated service, ready to be served.

    Attributes:
        simulation: Its rules, its bot and its token.
        conditions: Its faults; with the documented rate limit, if no other one is given.
        state: The state that it shows now. It is a value: another thread may read it.
        app: The application that answers requests.
    """

    def __init__(
        self,
        service: exchange.DocumentedService,
        *,
        bot: str | None = None,
        conditions: Conditions = NORMAL,
        choices: Mapping[str, str | None],
    ) -> None:
        """Make a new token; raises `UsageError` as `simulate`."""
        self.simulation = simulate(service, secret=token_hex(16), bot=bot, choices=choices)
        limit = conditions.rate_limit or service.rate_limit
        self.conditions = replace(conditions, rate_limit=limit)
        self.state = service.start(self.simulation)
        methods = [method.value for method in HTTPMethod]
        routes = [Route("/", self._show), Route("/{path:path}", self._respond, methods=methods)]
        self.app = Starlette(routes=routes)
        self.app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
        self.conditions.install(
            self.app,
            client=lambda scope: (
                dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
            ),
            prefix=service.prefix,
            refuse=self.refuse,
            block=service.block,
        )

    def refuse(self, status: int, reason: str, seconds: int | None = None) -> Response:
        """Return a refusal as the service writes it; `seconds` is when to come back."""
        return _sent(self.simulation.refuse(status, reason, seconds))

    async def _respond(self, request: Request) -> Response:
        arrived = exchange.Request(
            method=request.method,
            path=request["path"],
            query=request.query_params,
            headers=request.headers,
            body=await request.body(),
        )
        # Nothing is awaited from here on: no other request sees the state in between.
        now = datetime.now(UTC)
        response, self.state = self.simulation.respond(arrived, self.state, now=now)
        return _sent(response)

    async def _show(self, request: Request) -> Response:
        name, state = self.simulation.service.name, self.state
        if "text/html" in request.headers.get("accept", ""):
            return Response(_page(name, state), media_type="text/html")
        shown = {"lists": state.lists, "announcements": state.announcements}
        return JSONResponse({"simulated": name, **shown})


def _sent(response: exchange.Response) -> Response:
    media_type = response.media_type
    if isinstance(response.content, str):
        media_type = "text/plain" if response.content else ""
    headers = dict(response.headers)
    return Response(response.body, response.status, headers, media_type=media_type or None)


def _page(name: str, state: exchange.ServiceState) -> str:
    """Return the HTML of the lists, each under its scope and language, and of announcements."""
    groups = {**state.lists}
    if state.announcements:
        groups["announcements"] = [*map(dict, state.announcements)]
    entries = [
        CommandText(
            name=str(entry.get("name") or entry.get("command") or entry.get("title") or ""),
            description=str(entry.get("description") or entry.get("content") or ""),
            syntax=str(entry.get("usage") or ""),
            category=key if len(groups) > 1 else "",
        )
        for key, entries in groups.items()
        for entry in entries
    ]
    return commands_page(entries, bot=f"{name}, simulated")


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
        conditions: The faults of the service.
        vote_interval: The time between two votes of a user for a bot.
        now: The clock of votes.
        names: The host names that requests may use beside `localhost`.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.database = database
        async with gateway.delivering(
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
    for routes in (health, page_routes.router):
        app.include_router(routes)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(body_limit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    app.add_middleware(head_as_get)
    app.add_middleware(page_headers)
    if conditions.rate_limit is None:
        limit = parse_rate_limit(MOST_REQUESTS)
        app.add_middleware(
            rate_limit, prefix="/", refuse=refused_answer, limit=limit, client=caller_of
        )
    conditions.install(app, client=caller_of)
    app.add_middleware(addressed, names=names)
    endpoint.install_refusals(app)
    page_routes.install_refusals(app)
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
