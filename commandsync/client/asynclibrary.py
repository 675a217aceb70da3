"""The client library: the interface of the service, a method for each call, and the events.

A method checks its arguments where it makes its operation, and the connection carries that out. The
events of all readers come from one stream: `events` takes them from the buffer and calls the
handlers, `wait_for` takes them without the handlers. `library.py` is generated from
`asynclibrary.py`, token by token: the docstrings are the same in both.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, overload

from commandsync.api import operations
from commandsync.api.arguments import Id
from commandsync.api.credentials import check_call
from commandsync.api.operations import BotFilters, Operation
from commandsync.api.policy import P, Paging, R
from commandsync.client.anyclient import AnyClient
from commandsync.client.events import (
    AsyncH,
    AsyncHandlers,
    AsyncOn,
    AsyncReader,
    E,
    Event,
    Ready,
    Reconnected,
    Reconnecting,
    Reminder,
    Vote,
    overloaded_as,
)
from commandsync.errors import CommandsyncError, StoppedError
from commandsync.records.models import Announcement, Bot, BotPage, Command, Voter, VoterPage
from commandsync.records.texts import AnnouncementText, CommandText, Resource

if TYPE_CHECKING:
    from commandsync.client.connection import AsyncConnection

_log = logging.getLogger("commandsync.client")

T = TypeVar("T")


class AsyncClient(AnyClient):
    """The client of a listing service.

    Every method checks its arguments before anything is sent, retries where that is safe, and
    raises `ListingError` (`Unauthorized`, `NotFound`, `TransportError` ...) when it fails. One that
    would write with another bot's token, or a text that contains the token, raises `RefusedError`.

    A `Client` may be used from any thread. An `AsyncClient` may be created before its event loop
    runs and is used from that loop: its methods are awaited, its iterators are asynchronous.

    Example:
        with Client(token, "https://listing.example") as client:
            for command in client.get_commands():
                print(command.id, command.name)
    """

    connection: AsyncConnection
    _handlers: AsyncHandlers

    @staticmethod
    def _kinds() -> tuple[type[AsyncConnection], type[AsyncHandlers]]:
        from commandsync.client.connection import AsyncConnection  # noqa: PLC0415 - loads requests

        return AsyncConnection, AsyncHandlers

    async def list_bots(
        self, *, limit: int = 12, page: int = 1, **filters: Unpack[BotFilters]
    ) -> BotPage:
        """Return one page of the service's bots.

        Args:
            limit: Bots on a page, 1 to 100.
            page: The number of a page of that size, from 1.
            **filters: `q`, a string to search for; `sort`, the field to sort by; `ids`, only these
                bots; `certified`, only certified bots or only others; `tags`, only bots with these
                tags.
        """
        return await self.call(operations.list_bots(limit=limit, page=page, **filters))

    def iter_bots(self, *, limit: int = 100, **filters: Unpack[BotFilters]) -> AsyncIterator[Bot]:
        """Yield all bots, page after page; the arguments are those of `list_bots`."""
        operation = operations.list_bots(limit=limit, page=1, **filters)
        return self._pages(Paging(operation, lambda page: page.bots, unique=True))

    async def get_bot(self, id: Id | None = None) -> Bot:
        """Return one bot: the client's own, or the one with this id."""
        return await self.call(operations.get_bot(self._of(id)))

    async def get_voters(
        self, *, page: int = 1, limit: int = 100, bot: Id | None = None
    ) -> VoterPage:
        """Return one page of a bot's voters: `page` counts from 1, `limit` is 1 to 100."""
        return await self.call(operations.list_voters(self._of(bot), page=page, limit=limit))

    def iter_voters(self, *, limit: int = 100, bot: Id | None = None) -> AsyncIterator[Voter]:
        """Yield all voters of a bot, page after page of `limit` voters, each once for each vote.

        New votes move entries to later pages. That lists no vote twice, if fewer than a page arrive
        between two pages. If the service does not send the times of votes, two of one user that
        follow each other from one page to the next are listed once.
        """
        operation = operations.list_voters(self._of(bot), page=1, limit=limit)
        return self._pages(Paging(operation, lambda page: page.voters))

    async def get_announcements(self) -> tuple[Announcement, ...]:
        """Return the bot's announcements."""
        return await self.call(operations.list_records(self.bot, Resource.ANNOUNCEMENT))

    async def add_announcement(self, title: str, description: str) -> Announcement | None:
        """Add an announcement; returns it as stored, None if the answer does not contain it.

        As with `add_command`, it is not sent again if the result is unknown.
        """
        text = AnnouncementText(title, description)
        return await self.call(operations.add_record(self.bot, Resource.ANNOUNCEMENT, text))

    async def delete_announcement(self, id: Id) -> None:
        """Delete an announcement; it is not an error if it does not exist."""
        await self.call(operations.delete(self.bot, Resource.ANNOUNCEMENT, id))

    async def get_commands(self, id: Id | None = None) -> tuple[Command, ...]:
        """Return the commands of a bot: the client's own, or the one with this id."""
        return await self.call(operations.list_records(self._of(id), Resource.COMMAND))

    async def add_command(
        self, name: str, description: str, syntax: str, category: str | None = None
    ) -> Command | None:
        """Add a command; returns it as stored, None if the answer does not contain it.

        After a `TransportError` with `sent`, or a `ServerError`, the result is unknown: the command
        may have been added. It is not sent again; `get_commands` shows whether it is listed.
        """
        text = CommandText(name, description, syntax, "" if category is None else category)
        return await self.call(operations.add_record(self.bot, Resource.COMMAND, text))

    async def edit_command(
        self, id: Id, name: str, description: str, syntax: str, category: str | None = None
    ) -> None:
        """Replace all fields of a command, keeping its id and uses.

        Without a category, its category is cleared.
        """
        text = CommandText(name, description, syntax, "" if category is None else category)
        await self.call(operations.edit(self.bot, Resource.COMMAND, id, text))

    async def delete_command(self, id: Id) -> None:
        """Delete a command; it is not an error if it does not exist."""
        await self.call(operations.delete(self.bot, Resource.COMMAND, id))

    async def set_uses(self, id: Id, uses: int) -> None:
        """Set how often a command was used, from 0."""
        await self.call(operations.set_uses(self.bot, id, uses))

    async def post_stats(self, *, servers: int, shards: int | None = None) -> None:
        """Report the size of the bot to an embedded service: its servers, and its shards if given.

        Other services may not have this call; then it raises `NotFound`.
        """
        await self.call(operations.post_stats(self.bot, servers=servers, shards=shards))

    async def call(self, operation: Operation[T]) -> T:
        """Carry out an operation of `commandsync.api.operations`, retries included.

        Raises:
            RefusedError: It would write with another bot's token, or publish the token in a text.
            ListingError: It failed.
        """
        check_call(operation, self.connection.token, bot=self.bot)
        return await self.connection.call(operation)

    @overload
    def on(self, event: Literal["ready"] | type[Ready], /) -> AsyncOn[Ready]: ...
    @overload
    def on(self, event: Literal["vote"] | type[Vote], /) -> AsyncOn[Vote]: ...
    @overload
    def on(self, event: Literal["reminder"] | type[Reminder], /) -> AsyncOn[Reminder]: ...
    @overload
    def on(
        self, event: Literal["reconnecting"] | type[Reconnecting], /
    ) -> AsyncOn[Reconnecting]: ...
    @overload
    def on(self, event: Literal["reconnected"] | type[Reconnected], /) -> AsyncOn[Reconnected]: ...
    @overload
    def on(self, handler: AsyncH, /) -> AsyncH: ...
    @overload
    def on(self, handler: None = None, /) -> Callable[[AsyncH], AsyncH]: ...
    def on(self, event: Any = None, /) -> Any:
        """Decorate a function that is called with every event of a kind.

        `@client.on(Vote)` and `@client.on("vote")` decorate any function, `@client.on` and
        `@client.on()` one that is called `on_vote` or `vote`. The names are `ready`, `vote`,
        `reminder`, `reconnecting` and `reconnected`.

        It is called once for each event, while `events` or `listen` runs. An exception in it is
        logged and ends nothing. The handlers of a `Client` run one after another, in the thread
        that reads, before the event is yielded. The handlers of an `AsyncClient` may be
        asynchronous: they run at the same time for several users, and one after another for one
        user, for at most `event_buffer` events.

        Raises:
            ArgumentError: The event is not one of these.
        """
        return self._handlers.decorator(event)

    @overloaded_as(on)
    def once(self, event: object = None, /) -> object:
        """Decorate a function that is called with the next event of a kind only; else as `on`."""
        return self._handlers.decorator(event, once=True)

    def off(self, handler: Callable[[Any], object], /) -> None:
        """Stop calling a handler; it is not an error if it was not added."""
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
        """Call the handlers until the client is closed; logs and raises the errors of `events`."""
        try:
            async for _ in self.events():
                pass
        except CommandsyncError as error:  # the result of a task may never be read
            hint = f"; {error.hint}" if str(error.hint) else ""
            _log.error("no events are received: %s%s", error, hint)
            raise

    async def wait_for(
        self,
        event: type[E],
        *,
        check: Callable[[E], bool] | None = None,
        timeout: float = math.inf,
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

    async def close(self) -> None:
        """End the events, send nothing new and close the connections."""
        self._handlers.close()
        if (stream := self._buffer.close()) is not None:
            await stream.wait()
        await self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _pages(self, paging: Paging[P, R]) -> AsyncIterator[R]:
        while not paging.over:
            for record in paging.take(await self.connection.attempt(paging.operation)):
                yield record

    async def _leave(self, reader: AsyncReader) -> None:
        stream = self._buffer.leave(reader)
        if reader.handles and not self._buffer.handled:
            await self._handlers.finish()
        if stream is not None:
            await stream.wait()
