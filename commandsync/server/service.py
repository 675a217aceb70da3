"""The service as an application, and on a port: the listing service, or a simulated one.

`create_app` puts the endpoints together and wraps them into the middleware that every request
passes. While it runs, a `Broadcast` delivers events and reminders. The framework generates its
OpenAPI document; every field of it has an example or a default.

`SimulatedService` carries a simulation, which knows no server: it reads a request, lets the
simulation respond, and keeps the next state in memory, under the conditions of a bad day. `/`,
which no service has, shows the lists: a browser gets a page, a program JSON.

`serve` answers in the foreground until a signal, and `running` in a thread for a while.
"""

import asyncio
import json
import logging
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPMethod
from pathlib import Path
from secrets import token_hex
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from pydantic.alias_generators import to_camel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from commandsync.api.arguments import API_VERSION
from commandsync.errors import UsageError
from commandsync.pages.templates import STATIC, commands_page
from commandsync.records.texts import CommandText
from commandsync.server import administration, endpoint, gateway, page_routes, protocol, votes
from commandsync.server.administration import SeededBot
from commandsync.server.bodies import LARGEST_BODY
from commandsync.server.conditions import NORMAL, Conditions, parse_rate_limit, rate_limit
from commandsync.server.database import Database, opened, reserved
from commandsync.server.routes import health, router
from commandsync.simulation import exchange
from commandsync.simulation.registry import simulate

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
    app.add_middleware(endpoint.body_limit, size=LARGEST_BODY, seconds=protocol.REQUEST_SECONDS)
    app.add_middleware(endpoint.head_as_get)
    app.add_middleware(endpoint.page_headers)
    if conditions.rate_limit is None:
        limit = parse_rate_limit(MOST_REQUESTS)
        app.add_middleware(
            rate_limit,
            prefix="/",
            refuse=endpoint.refused_answer,
            limit=limit,
            client=protocol.caller_of,
        )
    conditions.install(app, client=protocol.caller_of)
    app.add_middleware(endpoint.addressed, names=names)
    endpoint.install_refusals(app)
    page_routes.install_refusals(app)
    _complete_openapi(app)
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


def _complete_openapi(app: FastAPI) -> None:
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
        self.app.add_middleware(
            endpoint.body_limit, size=LARGEST_BODY, seconds=protocol.REQUEST_SECONDS
        )
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
            return Response(_lists_page(name, state), media_type="text/html")
        shown = {"lists": state.lists, "announcements": state.announcements}
        return JSONResponse({"simulated": name, **shown})


def _sent(response: exchange.Response) -> Response:
    media_type = response.media_type
    if isinstance(response.content, str):
        media_type = "text/plain" if response.content else ""
    headers = dict(response.headers)
    return Response(response.body, response.status, headers, media_type=media_type or None)


def _lists_page(name: str, state: exchange.ServiceState) -> str:
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


_LOOPBACK = "127.0.0.1"
_GRACE = 5  # seconds for requests in flight when the service ends


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that accepts connections: its base URL, without `/v1`, and its bots.

    The bots are from the seed, or without a seed the first ones of the database.
    """

    url: str
    bots: tuple[SeededBot, ...] = ()


def serve(  # noqa: PLR0913 - the options of the command
    *,
    host: str,
    port: int,
    database: str,
    on_ready: Callable[[str, Sequence[SeededBot]], None],
    seed: Path | None = None,
    vote_interval: timedelta = votes.INTERVAL,
    conditions: Conditions = NORMAL,
    access_log: bool = False,
    names: Collection[str] = (),
) -> None:
    """Run the service until SIGINT or SIGTERM; requests in flight are answered first.

    Args:
        host: The name or address to listen on.
        port: The port; 0 picks a free one.
        database: A file path, or `:memory:`. A missing file is created.
        seed: A JSON file of bots to create if they do not exist yet.
        vote_interval: The time between two votes of a user for a bot.
        conditions: The faults of the service.
        on_ready: Called once when connections are accepted, with the attributes of a
            `RunningService`; it may make requests. Its exception stops the service and is raised
            here.
        access_log: Log every request, through the logger `uvicorn.access`.
        names: The host names that requests may use, beside `localhost` and the host.

    Raises:
        UsageError: The address cannot be listened on.
        FileError: The database or the seed file cannot be used, or another service uses the
            database.
    """
    application = partial(
        create_app, vote_interval=vote_interval, conditions=conditions, names=(host, *names)
    )
    with (
        listening(host, port) as listener,
        reserved(database) as removal,
        _prepared(database, application, seed) as (app, bots),
    ):
        removal.pop_all()
        server = _Server(app, listener, host=host, access_log=access_log)
        _run_until_signalled(server, partial(on_ready, server.url, bots))


@contextmanager
def running(
    database: str = ":memory:",
    *,
    seed: Path | None = None,
    port: int = 0,
    application: Callable[[Database], ASGIApp] = create_app,
) -> Iterator[RunningService]:
    """Run the service in a thread on loopback for as long as the block lasts; see `serve`.

    `application` makes the application that answers the requests.
    """
    with (
        listening(_LOOPBACK, port) as listener,
        _prepared(database, application, seed) as (app, bots),
        _in_thread(_Server(app, listener)) as url,
    ):
        yield RunningService(url, bots)


@contextmanager
def running_application(application: ASGIApp, *, port: int = 0) -> Iterator[str]:
    """Run an application on loopback while the block lasts; yield its URL. Raises `UsageError`."""
    with (
        listening(_LOOPBACK, port) as listener,
        _in_thread(_Server(application, listener)) as url,
    ):
        yield url


def serve_application(
    application: ASGIApp, *, port: int, on_ready: Callable[[str], None], access_log: bool = False
) -> None:
    """Run an application on loopback until SIGINT or SIGTERM; see `serve`.

    `on_ready` gets its URL.
    """
    with listening(_LOOPBACK, port) as listener:
        server = _Server(application, listener, access_log=access_log)
        _run_until_signalled(server, partial(on_ready, server.url))


@contextmanager
def _prepared(
    database: str, application: Callable[[Database], ASGIApp], seed: Path | None
) -> Iterator[tuple[ASGIApp, tuple[SeededBot, ...]]]:
    """Do everything that can fail before the first request is answered."""
    with ExitStack() as stack:
        with administration.without_collection():
            planned = None if seed is None else administration.read_seed(seed)
            handle = stack.enter_context(opened(database))
            if planned is None:
                bots = administration.first_bots(handle)
            else:
                bots = administration.create_bots(planned, handle)
            del planned  # of many bots, most of the memory
        yield application(handle), bots


@contextmanager
def _in_thread(server: "_Server") -> Iterator[str]:
    accepting = threading.Event()

    def run() -> None:
        try:
            server.run_on_socket(accepting.set)
        finally:
            accepting.set()  # its waiter must not wait for ever

    thread = threading.Thread(target=run, name="commandsync-server")
    thread.start()
    try:
        accepting.wait()
        yield server.url
    finally:
        server.should_exit = True
        thread.join()


class _Server(uvicorn.Server):
    """A server on a bound socket; its caller handles signals."""

    def __init__(
        self,
        application: ASGIApp,
        listener: socket.socket,
        *,
        host: str = _LOOPBACK,
        access_log: bool = False,
    ) -> None:
        config = uvicorn.Config(
            application,
            http=protocol.TimedProtocol,
            loop="asyncio",
            ws=protocol.WebSocketProtocol,
            ws_max_size=gateway.LARGEST_FRAME,
            ws_ping_interval=None,  # a client may be silent for ever
            ws_per_message_deflate=False,  # events are small, and the memory is for each client
            lifespan="on",
            proxy_headers=False,
            log_config=None,
            log_level=logging.WARNING,
            access_log=access_log,
            timeout_graceful_shutdown=_GRACE,
            backlog=protocol.BACKLOG,
        )
        protocol.log_without_tokens()
        if access_log:
            logging.getLogger("uvicorn.access").setLevel(logging.INFO)
        super().__init__(config)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{listener.getsockname()[1]}"
        self._listener = listener
        self._failure: Exception | None = None

    def run_on_socket(self, when_ready: Callable[[], object]) -> None:
        """Run until `should_exit`; call `when_ready` at the beginning, and raise its error."""
        self._when_ready = when_ready
        self.run(sockets=[self._listener])
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: the framework would raise them again at the end."""
        yield

    async def main_loop(self) -> None:
        """Report that connections are accepted, and answer them until the end."""
        try:
            await asyncio.to_thread(self._when_ready)
        except Exception as error:  # noqa: BLE001 - raised again once the service has ended
            self._failure = error
        else:
            await super().main_loop()


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens; connections wait until the server accepts them."""
    with ExitStack() as stack:
        try:
            family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            # asyncio sends small answers at once (TCP_NODELAY) only on sockets that are declared as
            # TCP; without it every answer waits about 40 ms for the client's acknowledgement.
            listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
            stack.enter_context(closing(listener))
            if sys.platform != "win32":  # elsewhere the option lets two programs share a port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((address[0], port))  # the resolver takes the port 70000 for 4464
            # Until then, a second service could have the port too, and find out after its seed.
            listener.listen(protocol.BACKLOG)
        except (OSError, OverflowError, UnicodeError) as error:  # the last: no such name can be
            reason = getattr(error, "strerror", None) or str(error)
            raise UsageError(
                f"cannot listen on {host}, port {port}: {reason}",
                hint="give another port (0 picks a free one) or address",
            ) from error
        # The connections inherit it: a client of the gateway may be silent for ever, and one whose
        # machine is gone is silent too.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        yield listener


def _run_until_signalled(server: _Server, when_ready: Callable[[], None]) -> None:
    """Run a server until the first SIGINT or SIGTERM; a second one ends it at once."""
    log = logging.getLogger("uvicorn.error")

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.force_exit = server.should_exit
        # A request that a forced end cuts off is not an error, and would be logged as one.
        log.disabled = server.force_exit
        server.should_exit = True

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        server.run_on_socket(when_ready)
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
        log.disabled = False
