"""The endpoints for what watches the service: does it answer, and does its database."""

from __future__ import annotations

from fastapi import APIRouter, Response
from sqlalchemy import text

from commandsync.server.endpoint import Answers, Db  # noqa: TC001 - the framework reads them

router = APIRouter(include_in_schema=False)  # of this service, and not of its interface


@router.get("/healthz")
async def alive(answer: Answers) -> Response:
    """Return that the process answers."""
    return answer("The service runs.")


@router.get("/readyz")
def ready(database: Db, answer: Answers) -> Response:
    """Return that the database answers a query; 503 otherwise, as for every endpoint."""
    with database.reading() as connection:
        connection.execute(text("SELECT 1"))
    return answer("The service is ready.")
