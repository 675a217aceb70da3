# Generated from asynclibrary.py by `make clients`: edit that file.
"""The client library: the whole interface of the service, a method for each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self, TypeVar, Unpack

from commandsync.api import operations
from commandsync.api.arguments import Id
from commandsync.api.operations import BotFilters, Operation
from commandsync.api.paging import P, Paging, R
from commandsync.apply.token import check_call
from commandsync.client.listener import Listener
from commandsync.errors import Reply
from commandsync.records.models import Announcement, Bot, BotPage, Command, Voter, VoterPage
from commandsync.records.texts import AnnouncementText, CommandText, Resource

T = TypeVar("T")


class Client(Listener):
    """The client of a listing service.

    Every method checks its arguments before anything is sent, retries what may be retried, and
    raises `ListingError` (`Unauthorized`, `NotFound`, `TransportError` ...) when it fails. One that
    would write with another bot's token, or a text that contains the token, raises `RefusedError`.
    It may be used from any thread.

    Example:
        with Client(token, "https://listing.example") as client:
            for command in client.get_commands():
                print(command.id, command.name)
    """

    def list_bots(
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
        return self.call(operations.list_bots(limit=limit, page=page, **filters))

    def iter_bots(self, *, limit: int = 100, **filters: Unpack[BotFilters]) -> Iterator[Bot]:
        """Yield all bots, page after page; the arguments are those of `list_bots`."""
        operation = operations.list_bots(limit=limit, page=1, **filters)
        return self._pages(Paging(operation, lambda page: page.bots, unique=True))

    def get_bot(self, id: Id | None = None) -> Bot:
        """Return one bot: the client's own, or the one with this id."""
        return self.call(operations.get_bot(self._of(id)))

    def get_voters(self, *, page: int = 1, limit: int = 100, bot: Id | None = None) -> VoterPage:
        """Return one page of a bot's voters: `page` counts from 1, `limit` is 1 to 100."""
        return self.call(operations.list_voters(self._of(bot), page=page, limit=limit))

    def iter_voters(self, *, limit: int = 100, bot: Id | None = None) -> Iterator[Voter]:
        """Yield all voters of a bot, page after page of `limit` voters, each once for each vote.

        New votes move entries to later pages. That lists no vote twice, if fewer than a page arrive
        between two pages. If the service does not send the times of votes, two of one user that
        follow each other from one page to the next are listed once.
        """
        operation = operations.list_voters(self._of(bot), page=1, limit=limit)
        return self._pages(Paging(operation, lambda page: page.voters))

    def get_announcements(self) -> tuple[Announcement, ...]:
        """Return the bot's announcements."""
        return self.call(operations.list_records(self.bot, Resource.ANNOUNCEMENT))

    def add_announcement(self, title: str, description: str) -> Announcement | None:
        """Add an announcement; returns it as stored, None if the answer does not contain it.

        As with `add_command`, it is not sent again if the result is unknown.
        """
        text = AnnouncementText(title, description)
        operation = operations.add_record(self.bot, Resource.ANNOUNCEMENT, text)
        stored: Announcement | None = self.call(operation)
        return stored

    def delete_announcement(self, id: Id) -> None:
        """Delete an announcement; it is not an error if it does not exist."""
        self.call(operations.delete(self.bot, Resource.ANNOUNCEMENT, id))

    def get_commands(self, id: Id | None = None) -> tuple[Command, ...]:
        """Return the commands of a bot: the client's own, or the one with this id."""
        return self.call(operations.list_records(self._of(id), Resource.COMMAND))

    def add_command(
        self, name: str, description: str, syntax: str, category: str | None = None
    ) -> Command | None:
        """Add a command; returns it as stored, None if the answer does not contain it.

        After a `TransportError` with `sent`, or a `ServerError`, the result is unknown: the command
        may have been added. It is not sent again; `get_commands` shows whether it is listed.
        """
        text = CommandText(name, description, syntax, "" if category is None else category)
        operation = operations.add_record(self.bot, Resource.COMMAND, text)
        stored: Command | None = self.call(operation)
        return stored

    def edit_command(
        self, id: Id, name: str, description: str, syntax: str, category: str | None = None
    ) -> None:
        """Replace all fields of a command, keeping its id and uses.

        Without a category, its category is cleared.
        """
        text = CommandText(name, description, syntax, "" if category is None else category)
        self.call(operations.edit(self.bot, Resource.COMMAND, id, text))

    def delete_command(self, id: Id) -> None:
        """Delete a command; it is not an error if it does not exist."""
        self.call(operations.delete(self.bot, Resource.COMMAND, id))

    def set_uses(self, id: Id, uses: int) -> None:
        """Set how often a command was used, from 0."""
        self.call(operations.set_uses(self.bot, id, uses))

    def post_stats(self, *, servers: int, shards: int | None = None) -> None:
        """Report the size of the bot to an embedded service: its servers, and its shards if given.

        Other services may not have this call; then it raises `NotFound`.
        """
        self.call(operations.post_stats(self.bot, servers=servers, shards=shards))

    def call(self, operation: Operation[T]) -> T:
        """Carry out an operation of `commandsync.api.operations`, retries included.

        Raises:
            RefusedError: It would write with another bot's token, or publish the token in a text.
            ListingError: It failed.
        """
        check_call(operation, self.connection.token, bot=self.bot)
        return self.connection.call(operation)

    def raw(self, operation: Operation[object]) -> Reply:
        """Carry out an operation and return the answer itself: status, headers and body.

        An answer that reports a failure does not raise here, and is not retried.
        """
        return self.call(operation.raw())

    def close(self) -> None:
        """End the events, send nothing new and close the connections."""
        if (stream := self._buffer.close()) is not None:
            stream.wait()
        self.connection.close()

    def _pages(self, paging: Paging[P, R]) -> Iterator[R]:
        while not paging.over:
            yield from paging.take(self.connection.attempt(paging.operation))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
