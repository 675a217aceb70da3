"""The application: endpoints, error answers, body limit, database."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from commandsync.api.address import API_VERSION
from commandsync.server import refusals
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.bodylimit import BodyLimit
from commandsync.server.database import Database, opened
from commandsync.server.methods import HeadAsGet
from commandsync.server.protocol import REQUEST_SECONDS
from commandsync.server.routes import router

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


def create_app(database: str | Database) -> FastAPI:
    """Return the service as an ASGI application.

    An open database is closed by its caller; a file path or `:memory:` is opened when the
    application starts up, and closed when it ends.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if isinstance(database, Database):
            app.state.database = database
            yield
        else:
            with opened(database) as app.state.database:
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
    app.include_router(router, prefix=f"/v{API_VERSION}")
    app.add_middleware(BodyLimit, size=LARGEST_BODY, seconds=REQUEST_SECONDS)
    app.add_middleware(HeadAsGet)
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
