"""What endpoints depend on: the database, the bot that the caller may write to, the answer."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from time import perf_counter
from typing import Annotated, Any

from fastapi import Depends, Path, Request, Response, Security
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader

from commandsync.server import storage, tokens
from commandsync.server.database import Database


class AnotherBotError(Exception):
    """The token is valid, and belongs to another bot."""


def page_answer(text: str, status: int = 200) -> Response:
    """Return a page as an answer, which a browser requests again each time."""
    headers = {"Cache-Control": "private, no-cache"}  # it shows when its reader may vote
    return Response(text, status, headers, media_type="text/html")


def refusal(status: int, reason: str, seconds: int | None = None) -> Response:
    """Return a refusal as the interface has it; `seconds` is when to come back."""
    response = JSONResponse({"error": reason}, status)
    if seconds is not None:
        response.headers["Retry-After"] = str(seconds)
    return response


def passing_time(started: float) -> str:
    """Return the time since a reading of the clock `perf_counter`, as on the wire."""
    return f"{(perf_counter() - started) * 1000:.2f}ms"


async def first_of(*work: Awaitable[Any]) -> Any:  # noqa: ANN401 - of any kind
    """Return the result of what ends first, and cancel the rest."""
    tasks = [asyncio.ensure_future(part) for part in work]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _answering() -> Callable[..., Response]:
    """Return what makes the answer of an endpoint: of a message, of `data` after a read."""
    started = perf_counter()

    def answer(message: str, **data: object) -> Response:
        passed = {"passingTime": passing_time(started)}
        # Listed records are JSON types already, so no model validates them.
        return JSONResponse({"success": True, "message": message, **data, **passed})

    return answer


async def _database(request: Request) -> Database:
    database: Database = request.app.state.database
    return database


async def _moment(request: Request) -> datetime:
    moment: datetime = request.app.state.now()
    return moment


Db = Annotated[Database, Depends(_database)]
Answers = Annotated[Callable[..., Response], Depends(_answering)]
Moment = Annotated[datetime, Depends(_moment)]
"""The time of the request, from the clock of the application."""

BotId = Annotated[str, Path(description="the bot's id", examples=["779641401482805289"])]

_authorization = APIKeyHeader(
    name="Authorization",
    scheme_name="BotToken",
    description="`Bot <token>`, with the bot's own token",
    auto_error=False,
)


def _own_bot(
    bot: BotId, database: Db, authorization: Annotated[str | None, Security(_authorization)]
) -> str:
    owner = tokens.owner_of_header(authorization, secret=database.secret)
    with database.reading() as connection:
        key = storage.token_key_of(connection, bot)
    if owner.bot != bot:
        raise AnotherBotError("the token belongs to another bot")
    tokens.check(owner, key)
    return bot


OwnBot = Annotated[str, Depends(_own_bot)]
