"""Both clients with one interface: each call is made on the one and awaited on the other.

The asynchronous connection gets the interface of the blocking one in the same way: its calls run in
a thread. Events come from the stand-in for a gateway or from a real service.
Both connections are made to a raw server, in an environment without proxies and certificates.
"""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self, TypeVar, Unpack

import pytest

from commandsync import AsyncClient, Client, Event, Vote
from commandsync.api.arguments import Address, parse_address
from commandsync.api.credentials import Token
from commandsync.api.operations import Operation
from commandsync.api.policy import Health
from commandsync.client.connection import AsyncConnection, Connection
from commandsync.client.events import AsyncReader, Buffer
from commandsync.client.stream import AsyncStream
from commandsync.client.subscription import SubscriptionStep
from commandsync.library import Options
from commandsync.manifest import Manifest
from commandsync.sync import Result, run, run_async
from tests.support.bots import Bot
from tests.support.gateway import Gateway, Guest, vote
from tests.support.rawserver import RawServer

T = TypeVar("T")


class LoopThread:
    """An event loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], longest: float = 30) -> T:
        """Carry a coroutine out and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(longest)

    def close(self) -> None:
        """Stop the loop."""
        self.run(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


class Blocked:
    """An `AsyncConnection` with the interface of `Connection`."""

    def __init__(self, address: Address, token: Token | None, **settings: Any) -> None:  # noqa: ANN401 - passed on
        self._thread = LoopThread()
        self.connection = AsyncConnection(address, token, **settings)
        self._closed = False

    def call(self, operation: Operation[T], *, health: Health | None = None) -> T:
        return self._thread.run(self.connection.call(operation, health=health))

    def stop(self) -> None:
        self._thread.loop.call_soon_threadsafe(self.connection.stop)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.run(self.connection.close())

    def end(self) -> None:
        """Close, and end the thread."""
        self.close()
        self._thread.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


LONGEST = 30  # seconds that a test waits before it gives up
TOKEN = "marked-token-7f3a9c1e"


class _Hasty:
    """What does not wait between its tries, and counts the seconds it would have."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **kwargs)
        self.waited: list[float] = []
        self._jitter = lambda: 0.5

        async def sleep(seconds: float) -> None:
            self.waited.append(seconds)
            await asyncio.sleep(0)

        self._sleep = sleep


class HastyClient(_Hasty, Client):
    """A client that does not wait."""


class HastyAsyncClient(_Hasty, AsyncClient):
    """As `HastyClient`."""


class Either:
    """A client of either kind."""

    def __init__(
        self, client: HastyClient | HastyAsyncClient, thread: LoopThread | None = None
    ) -> None:
        self.client = client
        self._thread = thread or LoopThread()
        self._events: SimpleQueue[Event | BaseException | None] = SimpleQueue()
        self._listening: threading.Thread | None = None

    @property
    def waited(self) -> list[float]:
        """The seconds that the client would have waited between its tries."""
        return self.client.waited

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - the client's methods
        method = getattr(self.client, name)

        def call(*args: object, **kwargs: object) -> object:
            result = method(*args, **kwargs)
            if inspect.isasyncgen(result):
                return self._thread.run(_all(result))
            if inspect.isgenerator(result):
                return list(result)
            return self._thread.run(result) if inspect.iscoroutine(result) else result

        return call

    def with_options(self, **options: Any) -> "Either":  # noqa: ANN401 - passed on
        """Return the client with other limits."""
        return Either(self.client.with_options(**options), self._thread)

    def run(self, manifest: Path | Manifest, **options: Unpack[Options]) -> Result:
        """Apply a manifest through the client."""
        if isinstance(self.client, AsyncClient):
            return self._thread.run(run_async(self.client, manifest, **options))
        return run(self.client, manifest, **options)

    def listen(self) -> "Either":
        """Begin to listen."""

        def run() -> None:
            try:
                if isinstance(self.client, AsyncClient):
                    self._thread.run(self._collect(self.client), LONGEST)
                else:
                    for event in self.client.events():
                        self._events.put(event)
            except BaseException as error:  # noqa: BLE001 - handed to the test
                self._events.put(error)
            else:
                self._events.put(None)

        self._listening = threading.Thread(target=run, daemon=True)
        self._listening.start()
        return self

    def pulled(self) -> Callable[[], Event | None]:
        """Begin a stream that is read only by calling what is returned; None is its end."""
        if isinstance(self.client, AsyncClient):
            coming = self.client.events()
            return lambda: self._thread.run(_next(coming), LONGEST)
        events = self.client.events()
        return lambda: begun(next, events, None).result(LONGEST)

    def take(self, count: int) -> list[Event]:
        """Return the next events."""
        taken: list[Event] = []
        for _ in range(count):
            event = self._events.get(timeout=LONGEST)
            assert event is not None, "the stream ended"
            if isinstance(event, BaseException):
                raise event
            taken.append(event)
        return taken

    def take_until(self, user: str) -> list[Event]:
        """Return the events up to the vote of a user."""
        events = self.take(1)
        while not (isinstance(events[-1], Vote) and events[-1].user.id == user):
            events += self.take(1)
        return events

    def ended(self) -> BaseException | None:
        """Return how the stream ended: the error, or None for a good end."""
        event = self._events.get(timeout=LONGEST)
        assert event is None or isinstance(event, BaseException), event
        return event

    def close(self) -> None:
        """Close the client."""
        if isinstance(self.client, AsyncClient):
            self._thread.run(self.client.close())
        else:
            self.client.close()

    def end(self) -> None:
        """Close the client, and everything with it."""
        self.close()
        if self._listening is not None:
            self._listening.join(LONGEST)
        self._thread.close()

    async def _collect(self, client: AsyncClient) -> None:
        async for event in client.events():
            self._events.put(event)


Open = Callable[..., Either]
"""Opens a client with the arguments of both kinds."""


def users(events: list[Event]) -> list[str]:
    """Return the users of votes."""
    return [event.user.id for event in events if isinstance(event, Vote)]


def names(events: list[Event]) -> list[str]:
    """Return the kinds of events."""
    return [event.name for event in events]


def begun(call: Callable[..., T], *args: object, **kwargs: object) -> Future[T]:
    """Make a call in a thread that does not keep the program alive."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - handed to the test
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


async def streamed(
    steps: Generator[SubscriptionStep, Any, None],
    connection: AsyncConnection,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> list[Event]:
    """Return the events of a stream until it ends."""
    buffer: Buffer = Buffer(100, lambda _: None)
    reader = AsyncReader(buffer, handles=False)
    buffer.join(reader, lambda: AsyncStream(steps, connection, buffer, sleep=sleep))
    events = []
    while (event := await reader.next()) is not None:
        events.append(event)
    stream = buffer.leave(reader)
    assert stream is not None
    await stream.wait()
    return events


async def _next(events: AsyncIterator[Event]) -> Event | None:
    return await anext(events, None)


async def _all(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


@dataclass
class Source:
    """A gateway that sends events of one bot when a test wants it to."""

    url: str
    token: str = field(repr=False)
    bot: str

    def vote(self, *users: str) -> None:
        """Send the events of votes of these users, whose names are `u` and the id."""
        raise NotImplementedError


@dataclass
class _Played(Source):
    frames: list[str] = field(default_factory=list)

    def vote(self, *users: str) -> None:
        self.frames += [vote(user) for user in users]

    def __call__(self, guest: Guest) -> None:
        """Tell a guest of all events, when they are added."""
        guest.welcome()
        hearing, told = begun(guest.stay), 0
        while not hearing.done():
            count = len(self.frames)
            guest.say(*self.frames[told:count])
            told = count
            wait([hearing], timeout=0.01)


@dataclass
class _Real(Source):
    at: Bot

    def vote(self, *users: str) -> None:
        self.at.cast(*users)


@contextmanager
def played() -> Iterator[Source]:
    """Run the stand-in, which shares nothing with the product."""
    with Gateway() as gateway:
        source = _Played(gateway.url, "marked-token-7f3a9c1e", "42")
        gateway.then(source)
        yield source


def real(bot: Bot) -> Source:
    """Return a bot of a real service as the source of its events."""
    return _Real(bot.url, bot.token, bot.id, bot)


PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NETRC")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in BUNDLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[RawServer]:
    with RawServer() as running:
        yield running
    assert running.acts == []


def _connecting(kind: Callable[..., Connection]) -> Iterator[Callable[..., Connection]]:
    opened: list[Connection] = []

    def connect(url: str, token: str | None = TOKEN, **settings: object) -> Connection:
        given = {"retries": 0, "jitter": float, "timeout": 5.0} | settings
        address = parse_address(url, insecure_http=True)
        opened.append(kind(address, Token(token) if token else None, **given))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.end() if isinstance(connection, Blocked) else connection.close()


@pytest.fixture(params=[Connection, Blocked], ids=["blocking", "asynchronous"])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., Connection]]:
    """Connect by either driver: what a test says is true of both."""
    yield from _connecting(request.param)


@pytest.fixture
def connect_blocking() -> Iterator[Callable[..., Connection]]:
    """Connect by the blocking driver, where a test looks into its threads."""
    yield from _connecting(Connection)
