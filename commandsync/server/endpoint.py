"""What every endpoint asks for: the database, the caller's right to write, and how to answer."""

import json
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated, Any

from fastapi import Depends, Path, Request, Response, Security
from fastapi.security import APIKeyHeader

from commandsync.server import listing, tokens
from commandsync.server.database import Database


class AnotherBotError(Exception):
    """The token is good, and another bot's."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Writes an endpoint's answer, and how long it took.

    Attributes:
        started: When the request came, by `perf_counter`.
    """

    started: float

    def done(self, message: str) -> Response:
        """Answer a write."""
        return self._envelope({"success": True, "message": message})

    def found(self, message: str, data: object) -> Response:
        """Answer a read."""
        return self._envelope({"success": True, "message": message, "data": data})

    def _envelope(self, content: dict[str, Any]) -> Response:
        passed = (perf_counter() - self.started) * 1000
        return json_response({**content, "passingTime": f"{passed:.2f}ms"})


def json_response(content: object, status: int = 200) -> Response:
    """Return JSON as UTF-8; what is listed is text already, so that no model reads it again."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode(), status_code=status, media_type="application/json")


async def _answering() -> Answering:
    return Answering(perf_counter())


async def _database(request: Request) -> Database:
    database = request.app.state.database
    assert isinstance(database, Database)  # noqa: S101 - the app's start put it there
    return database


Db = Annotated[Database, Depends(_database)]
Answers = Annotated[Answering, Depends(_answering)]
BotId = Annotated[str, Path(description="the bot's id", examples=["779641401482805289"])]
RecordId = Annotated[str, Path(description="the record's id, as the list shows it")]

_authorization = APIKeyHeader(
    name="Authorization",
    scheme_name="BotToken",
    description="`Bot <token>`, with the token of the very bot",
    auto_error=False,
)


def _own_bot(
    bot: BotId, database: Db, authorization: Annotated[str | None, Security(_authorization)]
) -> str:
    """Return the bot of the path when the caller may write to it."""
    caller = tokens.bot_of(authorization, secret=database.secret)
    with database.reading() as connection:
        listing.check_bot(connection, bot)
    if caller != bot:
        raise AnotherBotError("the token is another bot's")
    return bot


OwnBot = Annotated[str, Depends(_own_bot)]
