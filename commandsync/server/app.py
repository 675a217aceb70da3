"""The application: endpoints, error answers, body limit, database."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from commandsync.api.address import API_VERSION
from commandsync.server import gateway, health, refusals, reminders, votes
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.bot_list import router as bot_list
from commandsync.server.broadcast import delivering
from commandsync.server.database import Database, opened
from commandsync.server.endpoint import json_response
from commandsync.server.routes import router
from commandsync.server.vote_routes import router as vote_router

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import timedelta

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer


def create_app(
    database: str | Database,
    *,
    vote_interval: timedelta = votes.INTERVAL,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> FastAPI:
    """Return the service as an ASGI application.

    Args:
        database: An open database, which its caller closes; or a file path or `:memory:`, which is
            opened when the application starts up, and closed when it ends.
        vote_interval: The time between two votes of a user for a bot.
        now: The clock of votes.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        own = nullcontext(database) if isinstance(database, Database) else opened(database)
        with own as handle:
            app.state.database = handle
            async with (
                reminders.sending(handle, interval=vote_interval, now=now),
                delivering(handle) as app.state.broadcast,
            ):
                yield

    app = FastAPI(
        title="Bot listing service",
        version=str(API_VERSION),
        description="The bot listing service of commandsync. Reads need no token; writes need the "
        "bot's own. Every answer is JSON in UTF-8: `success`, `message` and `data`, or `error`.",
        openapi_url=f"/v{API_VERSION}/openapi.json",
        docs_url=None,  # the pages load scripts from another host
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.now, app.state.vote_interval = now, vote_interval
    for routes in (bot_list, router, vote_router, gateway.router):
        app.include_router(routes, prefix=f"/v{API_VERSION}")
    app.include_router(health.router)
    app.add_middleware(SizeLimit, limit=LARGEST_BODY)
    refusals.install(app)
    _correct_description(app)
    return app


def openapi_text() -> str:
    """Return the OpenAPI document, as in schemas/openapi.json."""
    document = create_app(":memory:").openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _correct_description(app: FastAPI) -> None:
    """Remove the framework's own error format from the document: it is never sent."""
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        document = generate()
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]  # as the framework's manual has it


class SizeLimit:
    """Refuses bodies over a limit, in bytes; an answer begins after the body is read."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._body(receive)
        if body is None:
            return  # the client has disconnected
        if len(body) > self._limit:
            refusal = {"error": f"the body is larger than {self._limit} bytes"}
            response = json_response(refusal, status=413)
            response.headers["Connection"] = "close"
            await response(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    async def _body(self, receive: Receive) -> bytes | None:
        """Read the body; over the limit only its size matters. None when the client disconnects."""
        kept, size = bytearray(), 0
        while size <= self._limit * _DISCARDED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            size += len(chunk)
            kept += chunk[: self._limit + 1 - len(kept)]
            if not message.get("more_body", False):
                break
        return bytes(kept)
