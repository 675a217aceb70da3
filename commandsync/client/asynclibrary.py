"""The client library for asyncio: the whole interface of the service, a method for each call."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar, overload

from commandsync.client.asking import Asking, Paging, as_reply, limits_of, several
from commandsync.client.handlers import Handlers
from commandsync.client.secrecy import Secrecy
from commandsync.client.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
    from types import TracebackType
    from typing import Literal, Self

    from commandsync.api.credentials import Token
    from commandsync.api.operations import Operation
    from commandsync.client.asynchronous import AsyncConnection
    from commandsync.client.events import Event, Ready, Reconnected, Reconnecting, Reminder, Vote
    from commandsync.errors import Reply
    from commandsync.records.models import Announcement, Bot, BotPage, Command, Voter, VoterPage

    E = TypeVar("E", Ready, Vote, Reminder, Reconnecting, Reconnected)
    Handler = Callable[[E], object]
    Adding = Callable[[Handler[E]], Handler[E]]

T = TypeVar("T")


class AsyncClient:
    """The listing service, for a bot's event loop.

    Every method checks its arguments before anything is sent, retries what may be retried, and
    raises `ListingError` (`Unauthorized`, `NotFound`, `TransportError` ...) when it fails.
    It may be made before the loop runs; use it from one loop.

    Example:
        async with AsyncClient(token, "https://listing.example") as client:
            for command in await client.get_commands():
                print(command.id, command.name)

    Args:
        token: The bot's token; None for a client that only reads.
        base_url: Where the service is, without `/v1`.
        bot: The bot's id; read from the token when it is not given.
        timeout: Seconds that one request may take in all, at most 3,600.
        retries: How often a request may be sent again, from 0.
        concurrency: How many requests may be in flight at the same time, from 1.
        insecure_http: Allow plain http to another machine.

    Raises:
        UsageError: The token or the base URL cannot be one, or the extra `[async]` is missing; as
            `ArgumentError`, another argument.
        PlainHttpError: The base URL is plain http to another machine.
    """

    _jitter = staticmethod(random.random)
    _sleep: Callable[[float], Awaitable[object]] = staticmethod(asyncio.sleep)

    def __init__(  # noqa: PLR0913 - who, where, and the settings of a run
        self,
        token: str | Token | None,
        base_url: str,
        *,
        bot: str | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        insecure_http: bool = False,
    ) -> None:
        self._ask = Asking.of(token, base_url, bot=bot, insecure_http=insecure_http)
        self._handlers = Handlers(waiting=True)
        self._running: set[asyncio.Task[None]] = set()
        limits = limits_of(timeout=timeout, retries=retries, concurrency=concurrency)
        self._connection = _driver()(self._ask.address, self._ask.token, **limits)

    @property
    def bot(self) -> str:
        """The id of the bot that is meant where none is named; empty when nobody said."""
        return self._ask.bot

    async def list_bots(  # noqa: PLR0913 - the interface's own parameters
        self,
        *,
        limit: int = 12,
        page: int = 1,
        q: str | None = None,
        sort: str | None = None,
        ids: Iterable[str] = (),
        certified: bool | None = None,
        tags: Iterable[str] = (),
    ) -> BotPage:
        """One page of the service's bots.

        Args:
            limit: Bots on a page, 1 to 100.
            page: Which page of that size; the first is 1.
            q: Text to search for.
            sort: The field to sort by.
            ids: Only these bots.
            certified: Only certified bots, or only others.
            tags: Only bots with these tags.
        """
        return await self.call(
            self._ask.list_bots(
                limit=limit, page=page, q=q, sort=sort, ids=ids, certified=certified, tags=tags
            )
        )

    async def iter_bots(
        self,
        *,
        limit: int = 100,
        q: str | None = None,
        sort: str | None = None,
        ids: Iterable[str] = (),
        certified: bool | None = None,
        tags: Iterable[str] = (),
    ) -> AsyncIterator[Bot]:
        """All bots, page after page; the arguments are those of `list_bots`."""
        ids, tags = several("ids", ids), several("tags", tags)
        paging: Paging[Bot] = Paging()
        while not paging.over:
            page = await self.list_bots(
                limit=limit,
                page=paging.page,
                q=q,
                sort=sort,
                ids=ids,
                certified=certified,
                tags=tags,
            )
            for bot in paging.take(page.bots, page.queries):
                yield bot

    async def get_bot(self, id: str | None = None) -> Bot:
        """One bot: the client's own, or the one with this id."""
        return await self.call(self._ask.get_bot(id))

    async def get_voters(self, *, page: int = 1, limit: int = 100) -> VoterPage:
        """One page of the bot's voters: `page` counts from 1, `limit` is 1 to 100."""
        return await self.call(self._ask.get_voters(page=page, limit=limit))

    async def iter_voters(self, *, limit: int = 100) -> AsyncIterator[Voter]:
        """All voters of the bot, page after page of `limit` voters."""
        paging: Paging[Voter] = Paging()
        while not paging.over:
            page = await self.get_voters(page=paging.page, limit=limit)
            for voter in paging.take(page.voters, page.queries):
                yield voter

    async def check_vote(self, user_id: str) -> bool:
        """Whether a user voted: False only when the service says so; anything else is raised."""
        return await self.call(self._ask.check_vote(user_id))

    async def get_announcements(self) -> tuple[Announcement, ...]:
        """The bot's announcements."""
        return await self.call(self._ask.get_announcements())

    async def add_announcement(self, title: str, description: str) -> str:
        """Add an announcement; returns its id, empty when the service does not tell.

        As with `add_command`, an unclear end is not tried again.
        """
        return await self.call(self._ask.add_announcement(title, description))

    async def delete_announcement(self, id: str) -> None:
        """Delete an announcement; one that is gone already is not an error."""
        await self.call(self._ask.delete_announcement(id))

    async def get_commands(self, id: str | None = None) -> tuple[Command, ...]:
        """The commands of a bot: the client's own, or the one with this id."""
        return await self.call(self._ask.get_commands(id))

    async def add_command(
        self, name: str, description: str, syntax: str, category: str | None = None
    ) -> str:
        """Add a command; returns its id, empty when the service does not tell.

        When no answer comes (`TransportError` with `sent`) or a `ServerError`, it may have been
        added all the same: it is not sent again, and `get_commands` shows what is listed.
        """
        return await self.call(self._ask.add_command(name, description, syntax, category))

    async def edit_command(
        self, id: str, name: str, description: str, syntax: str, category: str | None = None
    ) -> None:
        """Replace all texts of a command, keeping its id and uses.

        Without a category it has none afterwards.
        """
        await self.call(self._ask.edit_command(id, name, description, syntax, category))

    async def delete_command(self, id: str) -> None:
        """Delete a command; one that is gone already is not an error."""
        await self.call(self._ask.delete_command(id))

    async def set_uses(self, id: str, uses: int) -> None:
        """Set how often a command was used, from 0."""
        await self.call(self._ask.set_uses(id, uses))

    async def call(self, operation: Operation[T]) -> T:
        """Carry out an operation of `commandsync.api.operations`, retries included."""
        return await self._connection.call(operation)

    async def raw(self, operation: Operation[object]) -> Reply:
        """Carry out an operation and return the answer as it is: status, headers and body.

        An answer that says no is not an error here, and is not asked for again.
        """
        return await self.call(as_reply(operation))

    @overload
    def on(self, event: Literal["ready"]) -> Adding[Ready]: ...
    @overload
    def on(self, event: Literal["vote"]) -> Adding[Vote]: ...
    @overload
    def on(self, event: Literal["reminder"]) -> Adding[Reminder]: ...
    @overload
    def on(self, event: Literal["reconnecting"]) -> Adding[Reconnecting]: ...
    @overload
    def on(self, event: Literal["reconnected"]) -> Adding[Reconnected]: ...
    def on(self, event: str) -> Any:
        """Decorate a function that is called with every event of that name.

        The names are `ready`, `vote`, `reminder`, `reconnecting` and `reconnected`; the function
        gets a `Ready`, a `Vote` and so on.

        It is called while `events` or `listen` runs, before the event is yielded. An exception in
        it is logged and ends nothing. It may be asynchronous.

        Raises:
            ArgumentError: There is no such event.
        """
        return lambda handler: self._handlers.add(event, handler)

    async def events(self) -> AsyncGenerator[Event, None]:
        """Yield what happens until the client is closed.

        A lost connection is told as `Reconnecting` and, when it is there again, `Reconnected`. A
        service without a gateway is asked for its voters every 60 seconds instead.

        Raises:
            Unauthorized: The token is refused.
            ListingError: What cannot get better, at the first try.
            UsageError: There is no gateway, and nobody said which bot's voters to read.
        """
        from commandsync.client.streaming import stream  # noqa: PLC0415 - loads aiohttp

        secrecy = Secrecy(self._ask.token)
        steps = Watch(bot=self._ask.bot, jitter=self._jitter, secrecy=secrecy).steps()
        flow = stream(steps, self._connection, running=self._running, sleep=self._sleep)
        async with aclosing(flow):
            async for event in flow:
                await self._handlers.call_async(event)
                yield event

    async def listen(self) -> None:
        """Call the handlers until the client is closed; raises as `events` does."""
        async for _ in self.events():
            pass

    async def close(self) -> None:
        """End the events, send nothing new and close the connections."""
        for task in tuple(self._running):
            task.cancel()
        await self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()


def _driver() -> type[AsyncConnection]:
    try:
        from commandsync.client.asynchronous import AsyncConnection  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        from commandsync.extras import missing  # noqa: PLC0415 - seldom needed

        raise missing("the asynchronous client needs", "async", error) from error
    return AsyncConnection
