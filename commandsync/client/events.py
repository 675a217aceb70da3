"""The events that a client yields, the buffer of its readers, and the handlers that it calls.

An event comes from the service (`Ready`, `Vote`, `Reminder`) or from the client's own connection
(`Reconnecting`, `Reconnected`). One stream puts the events of a client into its `Buffer`. Each
`Reader` takes all of them, at its own pace.

Handlers are added by the name or the type of an event. If one fails, that is logged, and the stream
goes on. Handlers of an asynchronous client may be asynchronous: for one user they run in order, and
for several users at the same time.
"""

import asyncio
import inspect
import logging
import math
from abc import abstractmethod
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from threading import Condition
from time import monotonic
from typing import Any, Literal, Never, Protocol, TypeVar, cast, get_args
from weakref import WeakValueDictionary

from commandsync.client.threads import LONGEST_WAIT
from commandsync.errors import ArgumentError
from commandsync.records.models import Account

EventName = Literal["ready", "vote", "reminder", "reconnecting", "reconnected"]
"""The names of events in the service interface."""


def _raw() -> Any:  # noqa: ANN401 - a field, typed where it is used
    return field(default_factory=dict[str, object], repr=False, compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Ready:
    """The gateway has accepted the connection; sent after every connection.

    Attributes:
        bot: The bot that the token belongs to.
        raw: The data as the service sent it, without the token.
    """

    bot: Account
    raw: Mapping[str, object] = _raw()
    name: EventName = "ready"


@dataclass(frozen=True, slots=True)
class Vote:
    """Somebody voted.

    Attributes:
        user: The voter.
        bot: The bot; its id is empty if the service did not send it.
        caught_up: Whether the vote was read from the list of voters, because the connection was
            lost when the service sent the event.
        raw: The data as the service sent it, without the token; empty if it was caught up.
    """

    user: Account
    bot: Account
    caught_up: bool = False
    raw: Mapping[str, object] = _raw()
    name: EventName = "vote"


@dataclass(frozen=True, slots=True)
class Reminder:
    """Somebody may vote again.

    Attributes:
        user: The voter.
        bot: The bot; its id is empty if the service did not send it.
        raw: The data as the service sent it, without the token.
    """

    user: Account
    bot: Account
    raw: Mapping[str, object] = _raw()
    name: EventName = "reminder"


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The connection is lost, or could not be made; it is retried until it is restored.

    Attributes:
        code: The close code of the WebSocket, the HTTP status of a refused handshake, or 1006 if
            there was neither.
        reason: The reason, as text.
    """

    code: int
    reason: str
    name: EventName = "reconnecting"


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The connection is restored; only votes sent in the meantime can be caught up."""

    name: EventName = "reconnected"


UserEvent = Vote | Reminder
"""An event of the service about a user and a bot."""

USER_EVENTS: Mapping[str, type[UserEvent]] = {"vote": Vote, "reminder": Reminder}

Event = Ready | UserEvent | Reconnecting | Reconnected


def unknown_event(name: object) -> ArgumentError:
    """Return the error for the name of an unknown event."""
    names = ", ".join(get_args(EventName))
    return ArgumentError(f"{name!r} is not an event", hint=f"one of: {names}")


E = TypeVar("E", Ready, Vote, Reminder, Reconnecting, Reconnected)
T = TypeVar("T")
Result = TypeVar("Result", bound=Awaitable[object] | None)
AsyncH = TypeVar("AsyncH", bound=Callable[[Never], Awaitable[object] | None])
H = TypeVar("H", bound=Callable[[Never], None])
Handler = Callable[[Any], object]
AnyHandler = TypeVar("AnyHandler", bound=Handler)

_log = logging.getLogger("commandsync.client")


class AsyncOn(Protocol[T]):
    """A decorator of the handlers of one event, which may be asynchronous."""

    @abstractmethod
    def __call__(self, handler: Callable[[T], Result], /) -> Callable[[T], Result]:
        """Return the handler."""


class On(Protocol[T]):
    """A decorator of the handlers of one event."""

    @abstractmethod
    def __call__(self, handler: Callable[[T], None], /) -> Callable[[T], None]:
        """Return the handler."""


def overloaded_as(_method: AnyHandler) -> Callable[[Callable[..., Any]], AnyHandler]:
    """Return a decorator that gives a method the types of another one."""
    return lambda method: cast("AnyHandler", method)


class _Handlers:
    """The handlers of a client by event, in the order in which they were added.

    At most so many events are unfinished, where handlers may be asynchronous.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._handlers: defaultdict[str, list[tuple[Handler, bool]]] = defaultdict(list)

    def decorator(self, event: object, *, once: bool = False) -> Any:  # noqa: ANN401 - typed by `on`
        """Return a decorator for the handlers of an event, or the handler that was decorated.

        The event is its name or its type, or a handler called `on_vote` or `vote`; None for a
        decorator of such a handler.
        """
        if event is None:
            return partial(self.decorator, once=once)
        if isinstance(event, str):
            name = event
        else:
            name = getattr(event, "__name__", repr(event)).lower().removeprefix("on_")
        if name not in get_args(EventName):
            raise unknown_event(name)
        if isinstance(event, str | type):
            return partial(self.add, name, once=once)
        return self.add(name, event, once=once)  # type: ignore[type-var]  # it has a name, so it is a function

    def add(self, name: str, handler: AnyHandler, *, once: bool = False) -> AnyHandler:
        """Call a handler with every event of that name, or with the next one."""
        self._handlers[name].append((handler, once))
        return handler

    def remove(self, handler: Handler) -> None:
        """Stop calling a handler, with no event; it is not an error if it was not added."""
        for entries in self._handlers.values():
            entries[:] = [entry for entry in entries if entry[0] != handler]

    def _of(self, event: Event) -> Iterator[Handler]:
        entries = self._handlers[event.name]
        for handler, once in tuple(entries):
            if once:
                try:
                    entries.remove((handler, once))
                except ValueError:  # another thread is calling it
                    continue
            yield handler


class AsyncHandlers(_Handlers):
    """Handlers that may be asynchronous: in order for one user, at once for several users."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._tasks: set[asyncio.Task[None]] = set()  # one for each unfinished event
        self._waiting: set[asyncio.Task[None]] = set()  # of a user whose turn is later
        self._turns = WeakValueDictionary[str, asyncio.Lock]()  # by user
        self._room = asyncio.Event()

    async def call(self, event: Event) -> None:
        """Begin to call the handlers of an event, behind earlier events of the same user.

        Return when there is room for another event.
        """
        if not self._handlers[event.name]:
            return
        user = event.user.id if isinstance(event, UserEvent) else ""
        turn = self._turns.setdefault(user, asyncio.Lock())
        task = asyncio.create_task(self._work(event, turn))
        self._tasks.add(task)
        self._waiting.add(task)
        task.add_done_callback(self._ended)
        await asyncio.sleep(0)  # the handlers begin before the event is yielded
        while len(self._tasks) >= self._most:
            self._room.clear()
            await self._room.wait()

    async def finish(self) -> None:
        """Wait for the handlers in progress; a task that is cancelled cancels them."""
        task = asyncio.current_task()
        left = self._tasks - {task}
        if task is not None and task.cancelling():
            for other in left:
                other.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def close(self) -> None:
        """Forget the events whose handlers have not begun."""
        left = len(self._waiting)
        for task in self._waiting:
            task.cancel()
        if left:
            _log.warning("closed with %d event%s not handled", left, "" if left == 1 else "s")

    async def _work(self, event: Event, turn: asyncio.Lock) -> None:
        async with turn:
            task = asyncio.current_task()
            self._waiting -= {task}
            for handler in self._of(event):
                try:
                    result = handler(event)
                    if inspect.isawaitable(result):
                        await result
                except asyncio.CancelledError:
                    if task is None or task.cancelling():  # `listen` is cancelled
                        raise
                    _log_failure(handler, event)
                except Exception:  # noqa: BLE001 - any failure is logged, and the stream goes on
                    _log_failure(handler, event)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._waiting.discard(task)
        self._room.set()


class Handlers(_Handlers):
    """Handlers of a client that cannot wait for an asynchronous one."""

    def add(self, name: str, handler: AnyHandler, *, once: bool = False) -> AnyHandler:  # noqa: D102 - as the base class
        if inspect.iscoroutinefunction(handler):
            raise _asynchronous()
        return super().add(name, handler, once=once)

    def call(self, event: Event) -> None:
        """Call the handlers of an event, one after another."""
        for handler in self._of(event):
            try:
                result = handler(event)
                if inspect.iscoroutine(result):  # of a function that is not a coroutine function
                    result.close()
                    raise _asynchronous()  # noqa: TRY301 - logged like other errors of a handler
            except Exception:  # noqa: BLE001 - any failure is logged, and the stream goes on
                _log_failure(handler, event)

    def finish(self) -> None:
        """Return at once: no handler is in progress, as in an event loop."""

    def close(self) -> None:
        """Return at once: no event is left to handle, as in an event loop."""


def _asynchronous() -> ArgumentError:
    hint = "use AsyncClient"
    return ArgumentError("an asynchronous handler needs the asynchronous client", hint=hint)


def _log_failure(handler: Handler, event: Event) -> None:
    name = getattr(handler, "__qualname__", repr(handler))
    _log.exception("the handler %s failed with the event %r", name, event.name)


_LATE = "the event did not arrive in time"


class Startable(Protocol):
    """A stream of events, which runs until it is stopped or fails."""

    def start(self) -> None:
        """Receive events, and put them into the buffer."""

    def stop(self) -> None:
        """End the stream."""

    def wait(self) -> Any:  # noqa: ANN401 - to be awaited, if it runs in a loop
        """Wait until it has ended."""


class Buffer:
    """The events of a client, for all its readers; `note` is called with each.

    When `size` events are kept for the slowest reader, no more are received. `changed` is held
    during each change. Its lock is re-entrant, and a change expects that a signal handler closes
    the buffer between any two steps.
    """

    def __init__(self, size: int, note: Callable[[Event], None]) -> None:
        self.changed = Condition()
        self._size = size
        self._note = note
        self._unhandled: deque[Event] = deque()  # whose handlers were not called
        self._readers: list[AnyReader] = []
        self._stream: Startable | None = None  # which all readers share
        self._closed = False
        self._make_room: Callable[[], object] | None = None

    @property
    def handled(self) -> bool:
        """Whether a reader calls the handlers."""
        return any(reader.handles for reader in self._readers)

    def join(self, reader: "AnyReader", stream: Callable[[], Startable]) -> None:
        """Add a reader, which takes the events from now on; the first one starts the stream."""
        with self.changed:
            if not self._closed:
                self._readers.append(reader)
                if self._stream is None:
                    self._stream = stream()
                    self._stream.start()
                reader.stream = self._stream
            if self._closed:
                reader.ended = True
                if reader.stream is not None:
                    reader.stream.stop()

    def leave(self, reader: "AnyReader") -> Startable | None:
        """Remove a reader; returns its stream if that has ended, or ends with its last reader."""
        with self.changed:
            if reader in self._readers:
                self._readers.remove(reader)
            if not self.handled:
                self._unhandled.clear()
            self._taken()
            if not self._readers and self._stream is not None:
                self._stream.stop()
                self._stream = None
            return None if reader.stream is self._stream else reader.stream

    async def put(self, event: Event, stream: object) -> None:
        """Add an event of a stream, and wait until there is room for another one."""
        with self.changed:
            if stream is not self._stream:
                return
            self._note(event)
            if self.handled:
                self._unhandled.append(event)
            for reader in self._readers:
                reader.events.append(event)
            self._wake()
            if self._left < self._size:
                return
            loop, room = asyncio.get_running_loop(), asyncio.Event()
            self._make_room = lambda: loop.call_soon_threadsafe(room.set)
        await room.wait()

    def take(self, reader: "AnyReader") -> Event | None:
        """Return the next event of a reader; None if there is none yet."""
        with self.changed:
            try:
                event = reader.events.popleft()
            except IndexError:
                return None
            reader.unhandled = []
            while reader.handles and any(other is event for other in self._unhandled):
                reader.unhandled.append(self._unhandled.popleft())
            self._taken()
            return event

    def end(self, stream: object, error: BaseException | None) -> None:
        """End the readers of a stream as soon as they have taken all its events."""
        with self.changed:
            if stream is self._stream:
                self._stream = None
                self._end(error)

    def close(self) -> Startable | None:
        """End all readers at once, and the stream; returns it."""
        self._closed = True
        with self.changed:
            left = self._left
            stream, self._stream, self._make_room = self._stream, None, None
            if stream is not None:
                stream.stop()
            self._end(None, at_once=True)
        if left:
            _log.warning("closed with %d event%s unread", left, "s" * (left > 1))
        return stream

    @property
    def _left(self) -> int:
        """How many events the slowest reader has not taken."""
        return max((len(reader.events) for reader in self._readers), default=0)

    def _end(self, error: BaseException | None, *, at_once: bool = False) -> None:
        for reader in self._readers:
            reader.ended, reader.error = True, error
            if at_once:
                reader.events.clear()
        self._wake()

    def _wake(self) -> None:
        self.changed.notify_all()
        for reader in self._readers:
            reader.wake()

    def _taken(self) -> None:
        if self._make_room is not None and self._left < self._size:
            self._make_room()
            self._make_room = None


class AnyReader:
    """One reader of a buffer; `handles` says whether it calls the handlers."""

    def __init__(self, buffer: Buffer, *, handles: bool) -> None:
        self._buffer = buffer
        self.handles = handles
        self.events: deque[Event] = deque()
        self.unhandled: list[Event] = []  # up to the last one taken: their handlers are called next
        self.stream: Startable | None = None
        self.ended = False  # whether there are no more events than those in the buffer
        self.error: BaseException | None = None  # which ended the stream
        self.wake: Callable[[], object] = lambda: None  # looks at the buffer again


class AsyncReader(AnyReader):
    """A reader in an event loop."""

    def __init__(self, buffer: Buffer, *, handles: bool) -> None:
        super().__init__(buffer, handles=handles)
        self._woken = asyncio.Event()
        self.wake = self._woken.set

    async def next(self, seconds: float = math.inf) -> Event | None:
        """Return the next event, None at the end; raises `TimeoutError`, or the stream's error."""
        try:
            async with asyncio.timeout(seconds if seconds < math.inf else None):
                while (event := self._buffer.take(self)) is None and not self.ended:
                    self._woken.clear()
                    await self._woken.wait()
        except TimeoutError:
            raise TimeoutError(_LATE) from None
        if event is None and self.error is not None:
            raise self.error
        return event


class Reader(AnyReader):
    """A reader in a thread."""

    def next(self, seconds: float = math.inf) -> Event | None:
        """Return the next event, None at the end; raises `TimeoutError`, or the stream's error."""
        end = monotonic() + seconds
        with self._buffer.changed:
            while (event := self._buffer.take(self)) is None and not self.ended:
                left = end - monotonic()
                if left <= 0:
                    raise TimeoutError(_LATE)
                self._buffer.changed.wait(min(left, LONGEST_WAIT))
        if event is None and self.error is not None:
            raise self.error
        return event
