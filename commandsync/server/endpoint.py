"""The parts that endpoints share: what they depend on, their answers, and their refusals.

An endpoint declares the database, the time, the bot of the caller, the query of the list of bots
and the maker of its answer as dependencies. If it raises an error, or the framework does, a handler
of this module answers with the one envelope of refusals and its status code.
"""

import json
import logging
import re
from collections.abc import Callable, Coroutine
from datetime import datetime
from http import HTTPStatus
from sqlite3 import SQLITE_ERROR, SQLITE_FULL, SQLITE_INTERRUPT
from time import perf_counter
from typing import Annotated, Any, Literal, NoReturn

from fastapi import Depends, FastAPI, Path, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader
from pydantic import BeforeValidator
from sqlalchemy.exc import InterfaceError, OperationalError, TimeoutError  # noqa: A004 - the pool's
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from commandsync.api.arguments import API_VERSION
from commandsync.server import caller, storage
from commandsync.server.bodies import describe
from commandsync.server.caller import BadTokenError
from commandsync.server.database import Database
from commandsync.server.search import (
    FARTHEST,
    LONGEST_QUERY,
    SORT_PATTERN,
    BadQueryError,
    Wanted,
    separated,
)
from commandsync.server.storage import UnknownError
from commandsync.server.tables import SORTED
from commandsync.server.votes import TooEarlyError

_DISCONTINUED = 0
"""The version of the interface that there was before."""
_FULL = {SQLITE_FULL, "53100"}  # the second is PostgreSQL's
_SLOW = {SQLITE_INTERRUPT, "57014"}
_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
_log = logging.getLogger(__name__)


class AnotherBotError(Exception):
    """The token is valid, and belongs to another bot."""


def page_answer(text: str, status: int = 200) -> Response:
    """Return a page as an answer."""
    return Response(text, status, media_type="text/html")


def refusal(status: int, reason: str, seconds: int | None = None) -> Response:
    """Return a refusal as the interface has it; `seconds` is when to come back."""
    response = JSONResponse({"error": reason}, status)
    if seconds is not None:
        response.headers["Retry-After"] = str(seconds)
    return response


def passing_time(started: float) -> str:
    """Return the time since a reading of the clock `perf_counter`, as on the wire."""
    return f"{(perf_counter() - started) * 1000:.2f}ms"


async def _answering() -> Callable[..., Response]:
    """Return what makes the answer of an endpoint: of a message, of `data` after a read."""
    started = perf_counter()

    def answer(message: str, **data: object) -> Response:
        passed = {"passingTime": passing_time(started)}
        # Listed records are JSON types already, so no model validates them.
        return JSONResponse({"success": True, "message": message, **data, **passed})

    return answer


class StrictRoute(APIRoute):
    """A route whose body is JSON in the strict sense.

    Python also reads `NaN` and infinities, and of a key that an object has twice the last value:
    another program, such as a proxy, could read another body.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the framework, with another reader of the body."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly


class _StrictRequest(Request):
    async def json(self) -> Any:  # noqa: ANN401 - any JSON
        def refuse(reason: str) -> NoReturn:
            raise json.JSONDecodeError(reason, "", 0)

        def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                keys = [key for key, _ in pairs]
                refuse(f"duplicate key {next(k for k in keys if keys.count(k) > 1)!r}")
            return found

        return json.loads(
            await self.body(),
            parse_constant=lambda name: refuse(f"{name} is not a JSON value"),
            object_pairs_hook=unique,
        )


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

_Q = (
    "the text to search in names, overviews, descriptions and tags: its words in any order, or "
    "parts of words, in descriptions their beginnings, without regard to case and accents; "
    "punctuation and the ends of numbers separate words"
)
_SORT = (
    f"the field to sort by: {', '.join(f'`{path}`' for path in SORTED)}, with or "
    "without the path before the name; with a `-` in front in descending order. Texts are compared "
    "by their first 100 characters"
)
_IDS = "only bots with these ids, separated by commas"
_CERTIFIED = "only bots with a certificate above 0, or only others"
_TAGS = "only bots with all of these tags, at most 50, separated by commas"


def empty_as(default: int | None) -> BeforeValidator:
    """Read an empty parameter as an absent one."""
    return BeforeValidator(lambda value: default if value == "" else value)


PageNumber = Annotated[
    int, Query(ge=1, le=FARTHEST, description="the page, from 1", examples=[1]), empty_as(1)
]
_Limit = Annotated[
    int, Query(ge=1, le=100, description="the bots of a page", examples=[12]), empty_as(12)
]
_Sort = Query(
    description=_SORT,
    examples=["-totalVotes"],
    json_schema_extra={"pattern": SORT_PATTERN},  # the refusal names the fields
)
_Certified = Annotated[
    Literal["true", "false"] | None,
    Query(description=_CERTIFIED, examples=["true"]),
    empty_as(None),
]


def wanted_of(  # noqa: PLR0913 - the interface's own parameters
    *,
    limit: _Limit = 12,
    page: PageNumber = 1,
    q: Annotated[str, Query(description=_Q, examples=["music"])] = "",
    sort: Annotated[str, _Sort] = "",
    ids: Annotated[str, Query(description=_IDS, examples=["779641401482805289"])] = "",
    certified: _Certified = None,
    tags: Annotated[str, Query(description=_TAGS, examples=["music,fun"])] = "",
) -> Wanted:
    """Return the query of a list of bots, of the interface or of its page."""
    return Wanted(
        page=page,
        limit=limit,
        q=q,
        sort=sort,
        ids=separated(ids) if ids else None,
        certified=None if certified is None else certified == "true",
        tags=separated(tags),
    )


ListQuery = Annotated[Wanted, Depends(wanted_of)]

_authorization = APIKeyHeader(
    name="Authorization",
    scheme_name="BotToken",
    description="`Bot <token>`, with the bot's own token",
    auto_error=False,
)


def _own_bot(
    bot: BotId, database: Db, authorization: Annotated[str | None, Security(_authorization)]
) -> str:
    owner = caller.owner_of_header(authorization, secret=database.secret)
    with database.reading() as connection:
        key = storage.token_key_of(connection, bot)
    if owner.bot != bot:
        raise AnotherBotError("the token belongs to another bot")
    caller.check(owner, key)
    return bot


OwnBot = Annotated[str, Depends(_own_bot)]


_STATUSES = {
    RequestValidationError: HTTPStatus.BAD_REQUEST,
    BadQueryError: HTTPStatus.BAD_REQUEST,
    BadTokenError: HTTPStatus.UNAUTHORIZED,
    AnotherBotError: HTTPStatus.FORBIDDEN,
    UnknownError: HTTPStatus.NOT_FOUND,
    TooEarlyError: HTTPStatus.CONFLICT,
}


def install_refusals(app: FastAPI) -> None:
    """Give an application the handlers of this module."""
    for error in _STATUSES:
        app.add_exception_handler(error, _refused)
    app.add_exception_handler(HTTPException, _of_framework)
    for unavailable in (OperationalError, InterfaceError, TimeoutError):
        app.add_exception_handler(unavailable, _unavailable)
    app.add_exception_handler(Exception, _internal)


async def _refused(_request: Request, error: Exception) -> Response:
    status = _STATUSES[type(error)]
    reason = describe(error.errors()) if isinstance(error, RequestValidationError) else str(error)
    response = refusal(status, reason, getattr(error, "seconds", None))
    if status is HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bot"
    return response


async def _of_framework(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - its handler
    headers = dict(error.headers or {})
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return _unknown_path(request.url.path)
        case HTTPStatus.METHOD_NOT_ALLOWED:
            headers["Allow"] = _allowed(request) or headers["Allow"]
            words = f"the path supports only {headers['Allow']}"
        case HTTPStatus.BAD_REQUEST:
            words = "the body is not valid JSON in UTF-8, or nested too deeply"
        case _:
            words = error.detail
    response = refusal(error.status_code, words)
    response.headers.update(headers)
    return response


def _allowed(request: Request) -> str:
    """Return the value of `Allow` for a path; the framework's own is about one endpoint only."""
    methods = [
        method
        for method in _METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL
            for route in request.app.routes
            if not isinstance(route, Mount)  # which takes every method at first
        )
    ]
    if methods[:1] == ["GET"]:
        methods.insert(1, "HEAD")
    return ", ".join(methods)


def _unknown_path(path: str) -> Response:
    """Return the answer to a path that is not known; versions as in the service interface."""
    version = re.match(r"/v(\d{1,9})(?:/|$)", path, re.ASCII)
    number = API_VERSION if version is None else int(version[1])
    use = f"use /v{API_VERSION}"
    if number == _DISCONTINUED:
        return refusal(HTTPStatus.GONE, f"version {number} is discontinued; {use}")
    words = f"version {number} does not exist; the only available version is {API_VERSION}: {use}"
    if number == API_VERSION:
        words = f"the path does not exist; the interface begins with /v{API_VERSION}/"
    return refusal(HTTPStatus.NOT_FOUND, words)


async def _unavailable(_request: Request, error: Exception) -> Response:
    """Log one line for each request: a database that does not answer fails all of them."""
    cause = getattr(error, "orig", None)
    code = getattr(cause, "sqlite_errorcode", getattr(cause, "sqlstate", None))
    if code == SQLITE_ERROR:
        raise error  # SQLite has answered: the statement is wrong
    if code in _SLOW:
        words = f"searching and sorting the bots took longer than {LONGEST_QUERY:g} seconds"
        return refusal(503, f"{words}; try again later, or restrict the list", 1)
    reason = " ".join(str(cause or error).split())
    _log.error("the database does not answer: %s", reason)
    if code in _FULL:
        return refusal(503, "the disk of the database is full: nothing was written", 60)
    return refusal(503, "the database does not answer; try again later", 1)


async def _internal(_request: Request, _error: Exception) -> Response:
    """Keep the cause out of the answer: the framework writes it to the log."""
    return refusal(500, "internal error; see the log of the service")
