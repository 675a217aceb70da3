"""The client library for asyncio: the whole interface of the service, a method for each call."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Self, TypeVar, Unpack

from commandsync.api import arguments, operations
from commandsync.api.address import parse_address
from commandsync.api.arguments import Id
from commandsync.api.credentials import Token
from commandsync.api.operations import BotFilters, Operation
from commandsync.api.paging import P, Paging, R
from commandsync.apply.check import check_call
from commandsync.client import Settings, async_extra, variable
from commandsync.client.asynclistener import AsyncListener
from commandsync.errors import ApiError, Reply
from commandsync.records.models import Announcement, Bot, BotPage, Command, Voter, VoterPage
from commandsync.records.texts import AnnouncementText, CommandText, Resource

if TYPE_CHECKING:
    import aiohttp
    import requests

T = TypeVar("T")


class AsyncClient(AsyncListener):
    """The client of a listing service, for a bot's event loop.

    Every method checks its arguments before anything is sent, retries what may be retried, and
    raises `ListingError` (`Unauthorized`, `NotFound`, `TransportError` ...) when it fails. One that
    would write with another bot's token, or a text that contains the token, raises `RefusedError`.
    It may be created before the loop runs; use it from one loop.

    Example:
        async with AsyncClient(token, "https://listing.example") as client:
            for command in await client.get_commands():
                print(command.id, command.name)

    Args:
        token: The bot's token; None for a client that only reads.
        base_url: The service's URL, without `/v1`.
        bot: The bot's id; read from the token when it is not given. As all ids, it is a string, a
            number, or an object whose `id` is a number, such as a discord.py user.
        timeout: Seconds for one request, at most 3,600.
        retries: How often a request may be sent again, from 0.
        concurrency: Most requests in flight, from 1.
        insecure_http: Allow plain http to another machine.
        event_buffer: Most events that are kept for a slow reader, from 1.
        session: Lends its proxies, certificates and headers, as they are now, and stays open: one
            of requests or of aiohttp.

    Attributes:
        bot: The bot's id, used where a method is not given another one; empty if it is unknown.
        connection: The connection to the service.

    Raises:
        UsageError: The token or the base URL is not valid, or the extra `[async]` is missing; as
            `ArgumentError`, another argument is not valid.
        PlainHttpError: The base URL is plain http to another machine.
    """

    _jitter = staticmethod(random.random)
    _sleep: Callable[[float], Awaitable[object]] = staticmethod(asyncio.sleep)

    def __init__(  # noqa: PLR0913 - the token, the service, and the settings of a run
        self,
        token: str | Token | None,
        base_url: str,
        *,
        bot: Id | None = None,
        timeout: float = 30.0,
        retries: int = 4,
        concurrency: int = 4,
        insecure_http: bool = False,
        event_buffer: int = 1_000,
        session: requests.Session | aiohttp.ClientSession | None = None,
    ) -> None:
        with async_extra("the asynchronous client needs"):
            from commandsync.client.asyncconnection import AsyncConnection  # noqa: PLC0415 - an extra

        secret = token if isinstance(token, Token | None) else Token(token)
        self.connection = AsyncConnection(
            parse_address(base_url, insecure_http=insecure_http),
            secret,
            timeout=timeout,
            retries=retries,
            concurrency=concurrency,
            session=session,
        )
        owner = secret.bot if secret else ""
        self.bot = owner if bot is None else arguments.identifier("bot", bot)
        super().__init__(event_buffer)

    @classmethod
    def from_env(cls, **settings: Unpack[Settings]) -> Self:
        """Return a client with the token and the service of the environment.

        They are in COMMANDSYNC_TOKEN and COMMANDSYNC_BASE_URL, and the bot's id, if it is not that
        of the token, in COMMANDSYNC_BOT. The arguments are the constructor's.

        Raises:
            UsageError: One of the two is not set; or as the constructor does.
        """
        token, base_url = variable("COMMANDSYNC_TOKEN"), variable("COMMANDSYNC_BASE_URL")
        return cls(token, base_url, bot=os.environ.get("COMMANDSYNC_BOT") or None, **settings)

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
        return self._pages(Paging(operation, unique=True), lambda page: page.bots)

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
        return self._pages(Paging(operation), lambda page: page.voters)

    async def get_announcements(self) -> tuple[Announcement, ...]:
        """Return the bot's announcements."""
        return await self.call(operations.list_records(self.bot, Resource.ANNOUNCEMENT))

    async def add_announcement(self, title: str, description: str) -> Announcement | None:
        """Add an announcement; returns it as stored, None if the answer does not contain it.

        As with `add_command`, it is not sent again if the result is unknown.
        """
        text = AnnouncementText(title, description)
        operation = operations.add_record(self.bot, Resource.ANNOUNCEMENT, text)
        stored: Announcement | None = await self.call(operation)
        return stored

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
        operation = operations.add_record(self.bot, Resource.COMMAND, text)
        stored: Command | None = await self.call(operation)
        return stored

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

    async def raw(self, operation: Operation[object]) -> Reply:
        """Carry out an operation and return the answer itself: status, headers and body.

        An answer that reports a failure does not raise here, and is not retried.
        """
        return await self.call(operation.raw())

    async def close(self) -> None:
        """End the events, send nothing new and close the connections."""
        self._handlers.close()
        if (stream := self._buffer.close()) is not None:
            await stream.wait()
        await self.connection.close()

    async def _pages(
        self, paging: Paging[P], records: Callable[[P], tuple[R, ...]]
    ) -> AsyncIterator[R]:
        while not paging.over:
            try:
                page = await self.call(paging.operation)
            except ApiError as error:
                if not paging.refused(error):
                    raise
            else:
                for record in paging.take(records(page), page.queries):
                    yield record

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
