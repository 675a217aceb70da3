"""The path of a request to an endpoint: the middleware, and the parts that endpoints share.

A request for an unknown host is refused, and so is a body that is too large or too slow, before the
application sees it. HEAD is answered as GET. Everything beside the interface gets the headers that
protect pages, and is compressed.

An endpoint declares the database, the time, the bot of the caller, the query of the list of bots
and the maker of its answer as dependencies. If it raises an error, or the framework does, a handler
of this module answers with the one envelope of refusals and its status code.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Collection, Coroutine
from datetime import datetime
from http import HTTPStatus
from ipaddress import ip_address
from sqlite3 import SQLITE_ERROR, SQLITE_FULL, SQLITE_INTERRUPT
from time import perf_counter
from typing import Annotated, Any, Literal, NoReturn
from urllib.parse import unquote

from fastapi import Depends, FastAPI, Path, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader
from pydantic import BeforeValidator
from sqlalchemy import exc
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match, Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commandsync.api.arguments import API_VERSION
from commandsync.server import protocol, storage
from commandsync.server.bodies import describe
from commandsync.server.database import Database
from commandsync.server.protocol import BadTokenError
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

HEADERS = {
    "Cache-Control": "private, no-cache",  # a page shows when its reader may vote
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # `no-referrer` would hide the page from the service too: the origin of its forms would be null.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of every answer beside the interface: pages, files, refusals."""

_INTERFACE = f"/v{API_VERSION}/"
_FRAMING = {b"content-length", b"transfer-encoding"}  # headers that announce a body
_DISCARDED = 64  # times the limit: read and discarded, so that the sender reads the answer
_ABSOLUTE = re.compile(rb"(?i:https?|wss?)://([^/]*)")
_HOST = re.compile(r"(\[[^\]]*\]|[^:@]*)(?::\d*)?")


def addressed(app: ASGIApp, *, names: Collection[str]) -> ASGIApp:
    """Answer 421 to a host that is not an IP address, `localhost` or one of these names.

    Another site could lead a browser here by a name of its own (DNS rebinding). A request with a
    whole URL is answered as one for its path.
    """
    allowed = {"localhost", *(name.lower() for name in names)}

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            if url := _ABSOLUTE.match(scope["raw_path"]):
                path = scope["raw_path"][url.end() :] or b"/"
                others = (pair for pair in scope["headers"] if pair[0] != b"host")
                scope = {
                    **scope,
                    "path": unquote(path.decode("ascii")),
                    "raw_path": path,
                    "headers": [(b"host", url[1]), *others],
                }
            host = dict(scope["headers"]).get(b"host", b"localhost").decode("latin-1")
            if not _is_allowed(host, allowed):
                reason = f"the host {host} is not allowed; serve --host-name allows another name"
                response = refused_answer(HTTPStatus.MISDIRECTED_REQUEST, reason)
                await response(scope, receive, send)
                return
        await app(scope, receive, send)

    return answer


def _is_allowed(host: str, names: Collection[str]) -> bool:
    match = _HOST.fullmatch(host)
    name = match[1].lower().removesuffix(".") if match else ""
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return name in names
    return True


def head_as_get(app: ASGIApp) -> ASGIApp:
    """Answer HEAD as GET: the headers are the same, and the server leaves the body out."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") == "HEAD":
            scope = {**scope, "method": "GET"}
        await app(scope, receive, send)

    return answer


def page_headers(app: ASGIApp) -> ASGIApp:
    """Add `HEADERS` to every answer to a path that is not of the interface, and compress it.

    No page contains a secret, so that its size reveals nothing.
    """
    # Of 9 levels: the time doubles with the next ones, and the size stays.
    compressed = GZipMiddleware(app, minimum_size=1_000, compresslevel=4)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        is_page = scope["type"] == "http" and not scope["path"].startswith(_INTERFACE)
        if is_page:
            await compressed(scope, receive, send_protected)
        else:
            await app(scope, receive, send)

    return answer


def body_limit(app: ASGIApp, *, size: int, seconds: float) -> ASGIApp:
    """Answer 413 to bodies over `size` bytes, and 408 to bodies that take longer than `seconds`.

    A body whose length is given twice is answered 400.

    An answer begins after the body is read.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        framing = _FRAMING & {name for name, _ in scope.get("headers", ())}
        if scope["type"] != "http" or not framing:
            await app(scope, receive, send)
            return
        if framing == _FRAMING:  # a proxy in front could read another body than this service
            reason = "a request has either Content-Length or Transfer-Encoding"
            await _refuse(HTTPStatus.BAD_REQUEST, reason)(scope, receive, send)
            return
        try:
            async with asyncio.timeout(seconds):
                body = await _body(receive, size)
        except TimeoutError:
            reason = f"the body did not arrive within {seconds:g} seconds"
            await _refuse(HTTPStatus.REQUEST_TIMEOUT, reason)(scope, receive, send)
            return
        if body is None:
            return  # the client has disconnected
        if len(body) > size:
            reason = f"the body is larger than {size} bytes"
            await _refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await app(scope, replay, send)

    return answer


async def _body(receive: Receive, limit: int) -> bytes | None:
    """Read a body; over the limit only its size matters. None when the client disconnects."""
    kept, size = bytearray(), 0
    while size <= limit * _DISCARDED:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        chunk = message.get("body", b"")
        size += len(chunk)
        kept += chunk[: limit + 1 - len(kept)]
        if not message.get("more_body", False):
            break
    return bytes(kept)


def _refuse(status: int, reason: str) -> ASGIApp:
    """Return the answer; the rest of the body is not read, so the connection cannot be kept."""
    response = refused_answer(status, reason)
    response.headers["Connection"] = "close"
    return response


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


def refused_answer(status: int, reason: str, seconds: int | None = None) -> Response:
    """Return a refusal as the interface has it; `seconds` is when to come back."""
    response = JSONResponse({"error": reason}, status)
    if seconds is not None:
        response.headers["Retry-After"] = str(seconds)
    return response


def passing_time(started: float) -> str:
    """Return the time since a reading of the clock `perf_counter`, as on the wire."""
    return f"{(perf_counter() - started) * 1000:.2f}ms"


async def _answering() -> Callable[..., Response]:
    """Return the maker of an endpoint's answer: of a message, or of `data` after a read."""
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
    owner = protocol.owner_of_header(authorization, secret=database.secret)
    with database.reading() as connection:
        key = storage.token_key_of(connection, bot)
    if owner.bot != bot:
        raise AnotherBotError("the token belongs to another bot")
    protocol.check(owner, key)
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
    for unavailable in (exc.OperationalError, exc.InterfaceError, exc.TimeoutError):
        app.add_exception_handler(unavailable, _unavailable)
    app.add_exception_handler(Exception, _internal)


async def _refused(_request: Request, error: Exception) -> Response:
    status = _STATUSES[type(error)]
    reason = describe(error.errors()) if isinstance(error, RequestValidationError) else str(error)
    response = refused_answer(status, reason, getattr(error, "seconds", None))
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
    response = refused_answer(error.status_code, words)
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
        return refused_answer(HTTPStatus.GONE, f"version {number} is discontinued; {use}")
    words = f"version {number} does not exist; the only available version is {API_VERSION}: {use}"
    if number == API_VERSION:
        words = f"the path does not exist; the interface begins with /v{API_VERSION}/"
    return refused_answer(HTTPStatus.NOT_FOUND, words)


async def _unavailable(_request: Request, error: Exception) -> Response:
    """Log one line for each request: a database that does not answer fails all of them."""
    cause = getattr(error, "orig", None)
    code = getattr(cause, "sqlite_errorcode", getattr(cause, "sqlstate", None))
    if code == SQLITE_ERROR:
        raise error  # SQLite has answered: the statement is wrong
    if code in _SLOW:
        words = f"searching and sorting the bots took longer than {LONGEST_QUERY:g} seconds"
        return refused_answer(503, f"{words}; try again later, or restrict the list", 1)
    reason = " ".join(str(cause or error).split())
    _log.error("the database does not answer: %s", reason)
    if code in _FULL:
        return refused_answer(503, "the disk of the database is full: nothing was written", 60)
    return refused_answer(503, "the database does not answer; try again later", 1)


async def _internal(_request: Request, _error: Exception) -> Response:
    """Keep the cause out of the answer: the framework writes it to the log."""
    return refused_answer(500, "internal error; see the log of the service")
