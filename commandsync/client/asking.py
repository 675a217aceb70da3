"""What a caller may ask for: every argument checked, before anything is sent, for both clients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from commandsync.api import operations
from commandsync.api.address import parse_address
from commandsync.api.credentials import Token
from commandsync.errors import ArgumentError, UsageError
from commandsync.records.texts import AnnouncementText, CommandText, Resource

if TYPE_CHECKING:
    from typing import Self

    from commandsync.api.address import Address
    from commandsync.api.operations import Operation
    from commandsync.errors import Reply
    from commandsync.records.models import (
        Announcement,
        Bot,
        BotPage,
        Command,
        Queries,
        Voter,
        VoterPage,
    )

R = TypeVar("R", "Bot", "Voter")

LARGEST_PAGE = 100
"""Entries of a page, as the service interface has it."""

_LONGEST_TIMEOUT = 3600  # seconds; far below what sockets and threads can count


@dataclass(frozen=True, slots=True)
class Asking:
    """The operations of one client, made from checked arguments.

    Attributes:
        address: Where the service is.
        token: The token; None for a client that only reads.
        bot: The bot that is meant where none is named; empty when nobody said.
    """

    address: Address
    token: Token | None
    bot: str

    @classmethod
    def of(
        cls, token: str | Token | None, base_url: str, *, bot: str | None, insecure_http: bool
    ) -> Self:
        """Read a client's own arguments.

        Raises:
            UsageError: The token or the base URL cannot be one.
            PlainHttpError: The base URL is plain http to another machine.
        """
        if not isinstance(token, str | Token | None):  # its value is nobody's business
            raise ArgumentError(f"token is text or None, not {type(token).__name__}")
        if not isinstance(base_url, str):
            raise ArgumentError(f"base_url is text, not {type(base_url).__name__}")
        known = Token(token) if isinstance(token, str) else token
        address = parse_address(base_url, insecure_http=insecure_http)
        named = "" if bot is None else _identifier("bot", bot)
        return cls(address, known, named or (known.bot if known else ""))

    def list_bots(  # noqa: PLR0913 - the interface's own parameters
        self,
        *,
        limit: int,
        page: int,
        q: str | None,
        sort: str | None,
        ids: Iterable[str],
        certified: bool | None,
        tags: Iterable[str],
    ) -> Operation[BotPage]:
        """One page of the bots."""
        return operations.list_bots(
            limit=_number("limit", limit, least=1, most=LARGEST_PAGE),
            page=_number("page", page, least=1),
            q=_optional("q", q),
            sort=_optional("sort", sort),
            ids=several("ids", ids),
            certified=_yes_or_no("certified", certified),
            tags=several("tags", tags),
        )

    def get_bot(self, bot: str | None) -> Operation[Bot]:
        """One bot."""
        return operations.get_bot(self._bot(bot))

    def get_voters(self, *, page: int, limit: int) -> Operation[VoterPage]:
        """One page of the bot's voters."""
        return operations.list_voters(
            self._bot(),
            page=_number("page", page, least=1),
            limit=_number("limit", limit, least=1, most=LARGEST_PAGE),
        )

    def check_vote(self, user: str) -> Operation[bool]:
        """Whether a user voted."""
        return operations.check_vote(self._bot(), _identifier("user_id", user))

    def get_announcements(self) -> Operation[tuple[Announcement, ...]]:
        """The bot's announcements."""
        return operations.list_records(self._bot(), Resource.ANNOUNCEMENT)

    def add_announcement(self, title: str, description: str) -> Operation[str]:
        """Add an announcement."""
        text = AnnouncementText(_text("title", title), _text("description", description))
        return operations.add(self._bot(), Resource.ANNOUNCEMENT, text)

    def delete_announcement(self, identifier: str) -> Operation[str]:
        """Delete an announcement."""
        return operations.delete(self._bot(), Resource.ANNOUNCEMENT, _identifier("id", identifier))

    def get_commands(self, bot: str | None) -> Operation[tuple[Command, ...]]:
        """The commands of a bot."""
        return operations.list_records(self._bot(bot), Resource.COMMAND)

    def add_command(
        self, name: str, description: str, syntax: str, category: str | None
    ) -> Operation[str]:
        """Add a command."""
        text = _command(name, description, syntax, category)
        return operations.add(self._bot(), Resource.COMMAND, text)

    def edit_command(
        self, identifier: str, name: str, description: str, syntax: str, category: str | None
    ) -> Operation[str]:
        """Edit a command."""
        text = _command(name, description, syntax, category)
        return operations.edit(self._bot(), Resource.COMMAND, _identifier("id", identifier), text)

    def delete_command(self, identifier: str) -> Operation[str]:
        """Delete a command."""
        return operations.delete(self._bot(), Resource.COMMAND, _identifier("id", identifier))

    def set_uses(self, identifier: str, uses: int) -> Operation[str]:
        """Set how often a command was used."""
        number = _number("uses", uses, least=0)
        return operations.set_uses(self._bot(), _identifier("id", identifier), number)

    def _bot(self, named: str | None = None) -> str:
        bot = self.bot if named is None else _identifier("id", named)
        return known_bot(bot)


@dataclass(slots=True)
class Paging(Generic[R]):
    """A list that comes in pages.

    Attributes:
        page: The number of the page to read next.
        over: Whether the last one was read.
    """

    page: int = 1
    over: bool = False
    _before: tuple[str, ...] = ()

    def take(self, items: tuple[R, ...], queries: Queries) -> tuple[R, ...]:
        """Take what a page holds, and return what of it is news.

        The list has ended where the service says so, and when a page is empty or holds the same
        records as the one before: some services know no pages and always answer with the whole
        list, whatever they say of its pages. Only one who voted twice may be all of two pages.
        """
        last = queries.max_page
        same = tuple(item.id or repr(item) for item in items)
        repeated = same == self._before and (last is None or len(set(same)) > 1)
        self.over = not items or repeated or (last is not None and self.page >= last)
        self._before = same
        self.page += 1
        return () if repeated else items


def several(name: str, values: object) -> tuple[str, ...]:
    """Return texts that were asked for.

    Raises:
        ArgumentError: They are no texts; one text is not several, but its letters would be.
    """
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} is a list of texts, not {values!r}")
    return tuple(_text(name, value) for value in values)


def known_bot(bot: str) -> str:
    """Return the bot that is meant.

    Raises:
        UsageError: Nobody said.
    """
    if not bot:
        raise UsageError(
            "which bot? the token does not say whose it is",
            hint="give the bot's id to the client: bot=...",
        )
    return bot


def limits_of(*, timeout: float, retries: int, concurrency: int) -> dict[str, Any]:
    """Return what a client's requests may take, for its connection.

    Raises:
        ArgumentError: One of them makes no sense: nothing could ever be sent.
    """
    return {
        "timeout": _seconds("timeout", timeout),
        "retries": _number("retries", retries, least=0),
        "concurrency": _number("concurrency", concurrency, least=1),
    }


def as_reply(operation: Operation[object]) -> Operation[Reply]:
    """Return the operation with an answer that nothing is read into, whatever it says."""
    return replace(operation, read=lambda reply: reply)  # type: ignore[return-value]  # the type changes with it


def _command(name: str, description: str, syntax: str, category: str | None) -> CommandText:
    return CommandText(
        _text("name", name),
        _text("description", description),
        _text("syntax", syntax),
        "" if category is None else _text("category", category, empty=True),
    )


def _text(name: str, value: object, *, empty: bool = False) -> str:
    if not isinstance(value, str):
        raise ArgumentError(f"{name} is text, not {type(value).__name__}")
    if not (empty or value.strip()):
        raise ArgumentError(f"{name} is empty", hint="the service requires it")
    return value


def _optional(name: str, value: str | None) -> str | None:
    return None if value is None else _text(name, value, empty=True)


def _yes_or_no(name: str, value: bool | None) -> bool | None:  # noqa: FBT001 - the caller's own argument
    if not isinstance(value, bool | None):
        raise ArgumentError(f"{name} is True, False or None, not {value!r}")
    return value


def _identifier(name: str, value: object) -> str:
    if not isinstance(value, str) or value.strip() in {"", ".", ".."}:
        raise ArgumentError(
            f"{name} is not an identifier: {value!r}", hint="ids are text, like '42'"
        )
    return value


def _seconds(name: str, value: Any) -> float:  # noqa: ANN401 - checked here
    counts = isinstance(value, int | float) and not isinstance(value, bool)
    if not (counts and 0 < value <= _LONGEST_TIMEOUT):
        within = f"more than 0 and at most {_LONGEST_TIMEOUT:,}"
        raise ArgumentError(f"{name} is a number of seconds, {within}, not {value!r}")
    return float(value)


def _number(name: str, value: object, *, least: int, most: int | None = None) -> int:
    within = f"from {least} to {most}" if most is not None else f"from {least}"
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{name} is a whole number {within}, not {value!r}")
    if value < least or (most is not None and value > most):
        raise ArgumentError(f"{name} is a number {within}, not {value}")
    return value
