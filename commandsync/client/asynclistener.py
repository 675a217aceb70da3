"""The events of an asynchronous client: handlers, a stream of events, and who has voted."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Never, Protocol, TypeVar, overload

from commandsync.api import operations
from commandsync.api.arguments import Id
from commandsync.client import async_extra
from commandsync.client.anyclient import AnyClient
from commandsync.client.buffer import AsyncReader
from commandsync.client.events import Event, Ready, Reconnected, Reconnecting, Reminder, Vote
from commandsync.client.handlers import AsyncHandlers, overloaded_as
from commandsync.errors import CommandsyncError, StoppedError

if TYPE_CHECKING:
    from commandsync.client.asyncconnection import AsyncConnection

_log = logging.getLogger("commandsync.client")

E = TypeVar("E", Ready, Vote, Reminder, Reconnecting, Reconnected)
T = TypeVar("T")
R = TypeVar("R", bound=Awaitable[object] | None)
H = TypeVar("H", bound=Callable[[Never], Awaitable[object] | None])


class On(Protocol[T]):
    """A decorator of the handlers of one event."""

    def __call__(self, handler: Callable[[T], R], /) -> Callable[[T], R]:
        """Return the handler."""


class AsyncListener(AnyClient):
    """What a client offers of events."""

    connection: AsyncConnection
    _handlers: AsyncHandlers

    @staticmethod
    def _kinds() -> tuple[type[AsyncConnection], type[AsyncHandlers]]:
        with async_extra("the asynchronous client needs"):
            from commandsync.client.asyncconnection import AsyncConnection  # noqa: PLC0415 - an extra

        return AsyncConnection, AsyncHandlers

    @overload
    def on(self, event: Literal["ready"] | type[Ready], /) -> On[Ready]: ...
    @overload
    def on(self, event: Literal["vote"] | type[Vote], /) -> On[Vote]: ...
    @overload
    def on(self, event: Literal["reminder"] | type[Reminder], /) -> On[Reminder]: ...
    @overload
    def on(self, event: Literal["reconnecting"] | type[Reconnecting], /) -> On[Reconnecting]: ...
    @overload
    def on(self, event: Literal["reconnected"] | type[Reconnected], /) -> On[Reconnected]: ...
    @overload
    def on(self, handler: H, /) -> H: ...
    @overload
    def on(self, handler: None = None, /) -> Callable[[H], H]: ...
    def on(self, event: Any = None, /) -> Any:
        """Decorate a function that is called with every event of a kind.

        `@client.on(Vote)` and `@client.on("vote")` decorate any function, `@client.on` and
        `@client.on()` one that is called `on_vote` or `vote`. The names are `ready`, `vote`,
        `reminder`, `reconnecting` and `reconnected`.

        It is called once for each event, while `events` or `listen` runs. An exception in it is
        logged and ends nothing. It may be asynchronous: handlers of several users run at the same
        time, those of one user one after another, for at most `event_buffer` events.

        Raises:
            ArgumentError: The event is not one of these.
        """
        return self._handlers.decorator(event)

    @overloaded_as(on)
    def once(self, event: object = None, /) -> object:
        """Decorate a function that is called with the next event of a kind only; else as `on`."""
        return self._handlers.decorator(event, once=True)

    def off(self, handler: Callable[[Any], object], /) -> None:
        """Call a handler no more; it is not an error if it was not added."""
        self._handlers.remove(handler)

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield events until the client is closed.

        All readers of a client share one connection. If a reader is slow, `event_buffer` events are
        kept for it; then nothing is received until it has taken one.

        A lost connection is reported as `Reconnecting` and, once it is restored, `Reconnected`. If
        the service has no gateway, its voters are read every 60 seconds instead.

        Raises:
            Unauthorized: The token is refused.
            ListingError: The first attempt failed, and a retry cannot help.
            UsageError: The service has no gateway, and the bot whose voters to read is unknown.
        """
        reader = self._joined(AsyncReader(self._buffer, handles=True))
        try:
            while (event := await reader.next()) is not None:
                for unhandled in reader.unhandled:
                    await self._handlers.call(unhandled)
                yield event
        finally:
            await self._leave(reader)

    async def listen(self) -> None:
        """Call the handlers until the client is closed; logs and raises what `events` raises."""
        try:
            async for _ in self.events():
                pass
        except CommandsyncError as error:  # whoever made a task of it may never look at its result
            hint = f"; {error.hint}" if error.hint else ""
            _log.error("no events are received: %s%s", error, hint)
            raise

    async def wait_for(
        self,
        event: type[E],
        *,
        check: Callable[[E], bool] | None = None,
        timeout: float = math.inf,  # noqa: ASYNC109 - the clients have the same arguments
    ) -> E:
        """Return the next event of a type; connects if neither `events` nor `listen` runs.

        Args:
            event: The type, such as `Vote`.
            check: Returns whether it is the right one.
            timeout: Seconds to wait.

        Raises:
            ArgumentError: It is not the type of an event.
            TimeoutError: There was none in that time.
            StoppedError: The client was closed.
            ListingError: As `events`.
        """
        end = monotonic() + timeout
        self._check_type(event)
        reader = self._joined(AsyncReader(self._buffer, handles=False))
        try:
            while (received := await reader.next(end - monotonic())) is not None:
                if isinstance(received, event) and (check is None or check(received)):
                    return received
        finally:
            await self._leave(reader)
        raise StoppedError("the client is closed")

    async def check_vote(self, user: Id, *, bot: Id | None = None) -> bool:
        """Return whether a user voted; False only if the service answers so, else it raises.

        It always asks the service, about the client's own bot or another one. `has_voted` uses the
        answer again.
        """
        operation = operations.check_vote(self._of(bot), user)
        asked = monotonic()
        voted = await self.connection.call(operation)
        self._keep_vote(operation.path, voted, asked=asked)
        return voted

    async def has_voted(self, user: Id, *, max_age: float = 60.0) -> bool:
        """Return whether a user voted for the client's own bot, from memory if that is recent.

        The event of a vote counts at once, also while `events` or `listen` runs elsewhere. Answers
        to `check_vote` about the same bot count too. If there is neither in the last `max_age`
        seconds, it calls `check_vote`.
        """
        voted = self._kept_vote(user, max_age)
        return await self.check_vote(user) if voted is None else voted

    async def _leave(self, reader: AsyncReader) -> None:
        stream = self._buffer.leave(reader)
        if reader.handles and not self._buffer.handled:
            await self._handlers.finish()
        if stream is not None:
            await stream.wait()
