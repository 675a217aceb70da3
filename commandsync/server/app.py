"""The application: endpoints, error answers, body limit, database."""

from __future__ import annotations

import json
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI

from commandsync.api.address import API_VERSION
from commandsync.server import health, openapi, refusals
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.bodylimit import BodyLimit
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.database import Database, opened
from commandsync.server.lag import late
from commandsync.server.methods import HeadAsGet
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.routes import router

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def create_app(database: str | Database, conditions: Conditions = NORMAL) -> FastAPI:
    """Return the service as an ASGI application.

    An open database is closed by its caller; a file path or `:memory:` is opened when the
    application starts up, and closed when it ends. In memory there can be no lag.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as stack:
            handle = database
            if not isinstance(handle, Database):
                handle = stack.enter_context(opened(handle))
            app.state.database = handle
            app.state.listing = stack.enter_context(late(handle, conditions.lag))
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
        lifespan=lifespan,
    )
    app.include_router(router, prefix=f"/v{API_VERSION}")
    app.include_router(health.router)
    app.add_middleware(BodyLimit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    app.add_middleware(HeadAsGet)
    conditions.install(app)
    refusals.install(app)
    openapi.install(app)
    return app


def openapi_text() -> str:
    """Return the OpenAPI document, as in schemas/openapi.json."""
    document = create_app(":memory:").openapi()
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
