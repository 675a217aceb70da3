"""The events that a client yields, and the handlers that it calls with them.

An event comes from the service (`Ready`, `Vote`, `Reminder`) or from the client's own connection
(`Reconnecting`, `Reconnected`). Handlers are added by the name or the type of an event. If one
fails, that is logged, and the stream goes on. Handlers of an asynchronous client may be
asynchronous: for one user they run in order, and for several users at the same time.
"""

import asyncio
import inspect
import logging
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Never, Protocol, TypeVar, cast, get_args
from weakref import WeakValueDictionary

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
"""What the service sends about a user and a bot."""

USER_EVENTS: Mapping[str, type[UserEvent]] = {"vote": Vote, "reminder": Reminder}

Event = Ready | UserEvent | Reconnecting | Reconnected


def event_name(event: object) -> str:
    """Return the name of an event by its name, its type, or a function `on_vote` or `vote`."""
    name = event if isinstance(event, str) else getattr(event, "__name__", repr(event))
    name = name if isinstance(event, str) else name.lower().removeprefix("on_")
    if name not in get_args(EventName):
        raise unknown_event(name)
    return name


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
        name = event_name(event)
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
        self._waiting: set[asyncio.Task[None]] = set()  # those of a user whose turn is later
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
            self._waiting -= {asyncio.current_task()}
            await self._carry_out(event)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._waiting.discard(task)
        self._room.set()

    async def _carry_out(self, event: Event) -> None:
        for handler in self._of(event):
            try:
                result = handler(event)
                if inspect.isawaitable(result):
                    await result
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is None or task.cancelling():  # `listen` is cancelled
                    raise
                _log_failure(handler, event)
            except Exception:  # noqa: BLE001 - any failure is logged, and the stream goes on
                _log_failure(handler, event)


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
