"""The service on a port: in the foreground until a signal, or in a thread for a while."""

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from commandsync.errors import UsageError
from commandsync.server.administration import (
    SeededBot,
    create_bots,
    first_bots,
    read_seed,
    without_collection,
)
from commandsync.server.app import create_app
from commandsync.server.conditions import NORMAL, Conditions
from commandsync.server.database import Database, opened, reserved
from commandsync.server.gateway import LARGEST_FRAME
from commandsync.server.protocol import (
    BACKLOG,
    TimedProtocol,
    WebSocketProtocol,
    log_without_tokens,
)
from commandsync.server.votes import INTERVAL

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
    vote_interval: timedelta = INTERVAL,
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
        _listening(host, port) as listener,
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

    `application` makes what answers the requests.
    """
    with (
        _listening(_LOOPBACK, port) as listener,
        _prepared(database, application, seed) as (app, bots),
        _in_thread(_Server(app, listener)) as url,
    ):
        yield RunningService(url, bots)


@contextmanager
def running_application(application: ASGIApp, *, port: int = 0) -> Iterator[str]:
    """Run an application on loopback while the block lasts; yield its URL. Raises `UsageError`."""
    with (
        _listening(_LOOPBACK, port) as listener,
        _in_thread(_Server(application, listener)) as url,
    ):
        yield url


def serve_application(
    application: ASGIApp, *, port: int, on_ready: Callable[[str], None], access_log: bool = False
) -> None:
    """Run an application on loopback until SIGINT or SIGTERM; see `serve`.

    `on_ready` gets its URL.
    """
    with _listening(_LOOPBACK, port) as listener:
        server = _Server(application, listener, access_log=access_log)
        _run_until_signalled(server, partial(on_ready, server.url))


@contextmanager
def _prepared(
    database: str, application: Callable[[Database], ASGIApp], seed: Path | None
) -> Iterator[tuple[ASGIApp, tuple[SeededBot, ...]]]:
    """Do everything that can fail before the first request is answered."""
    with ExitStack() as stack:
        with without_collection():
            planned = None if seed is None else read_seed(seed)
            handle = stack.enter_context(opened(database))
            bots = first_bots(handle) if planned is None else create_bots(planned, handle)
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
            http=TimedProtocol,
            loop="asyncio",
            ws=WebSocketProtocol,
            ws_max_size=LARGEST_FRAME,
            ws_ping_interval=None,  # a client may be silent for ever
            ws_per_message_deflate=False,  # events are small, and the memory is for each client
            lifespan="on",
            proxy_headers=False,
            log_config=None,
            log_level=logging.WARNING,
            access_log=access_log,
            timeout_graceful_shutdown=_GRACE,
            backlog=BACKLOG,
        )
        log_without_tokens()
        if access_log:
            logging.getLogger("uvicorn.access").setLevel(logging.INFO)
        super().__init__(config)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{listener.getsockname()[1]}"
        self._listener = listener
        self._failure: Exception | None = None

    def run_on_socket(self, when_ready: Callable[[], object]) -> None:
        """Run until `should_exit`; call `when_ready` at the beginning, and raise what it raises."""
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
def _listening(host: str, port: int) -> Iterator[socket.socket]:
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
            listener.listen(BACKLOG)
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
        # What a forced end cuts off is not an error, and would be logged as one.
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
