"""The client library for asyncio: the whole interface of the service, a method for each call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Self, TypeVar, Unpack

from commandsync.api import operations
from commandsync.api.arguments import Id
from commandsync.api.operations import BotFilters, Operation
from commandsync.api.paging import P, Paging, R
from commandsync.apply.token import check_call
from commandsync.client.asynclistener import AsyncListener
from commandsync.errors import Reply
from commandsync.records.models import Announcement, Bot, BotPage, Command, Voter, VoterPage
from commandsync.records.texts import AnnouncementText, CommandText, Resource

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
    """

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

    async def _pages(self, paging: Paging[P, R]) -> AsyncIterator[R]:
        while not paging.over:
            for record in paging.take(await self.connection.attempt(paging.operation)):
                yield record

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
