"""Every call of the service as data: method, path, query, body, and how to read the answer.

Paths and fields come from the service interface ("Endpoints"); `set_uses` and the vote check's
second form from what published clients are seen to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar
from urllib.parse import quote

from commandsync.api import answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commandsync.errors import Reply
    from commandsync.records.models import Announcement, Bot, BotPage, Command, VoterPage
    from commandsync.records.texts import AnnouncementText, CommandText

T_co = TypeVar("T_co", covariant=True)

Method = Literal["GET", "POST", "PUT", "DELETE"]


@dataclass(frozen=True, slots=True)
class Operation(Generic[T_co]):
    """One call of the service.

    Attributes:
        name: What it is called in messages, e.g. `add command`.
        method: The HTTP method.
        path: The path below `{base_url}/v1`, every part percent-encoded.
        read: Reads the answer; raises `ApiError` or `DecodeError`.
        query: The query parameters.
        body: The JSON body; None for none.
        idempotent: Whether doing it twice leaves what doing it once leaves, so that it may be
            sent again after an unclear end. Adding is not.
        gone_is_done: Whether a 404 says that the goal is reached (a delete).
    """

    name: str
    method: Method
    path: str
    read: Callable[[Reply], T_co]
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, str | int] | None = None
    idempotent: bool = True
    gone_is_done: bool = False


def _part(identifier: str) -> str:
    """Quote an identifier as one part of a path.

    Raises:
        ValueError: It is empty, `.` or `..`, and would address something else.
    """
    if identifier in {"", ".", ".."}:
        raise ValueError(f"{identifier!r} cannot identify a record")
    return quote(identifier, safe="", errors="surrogatepass")  # JSON can name half a surrogate


def list_bots(  # noqa: PLR0913 - the interface's own parameters
    *,
    limit: int | None = None,
    page: int | None = None,
    q: str | None = None,
    sort: str | None = None,
    ids: tuple[str, ...] = (),
    certified: bool | None = None,
    tags: tuple[str, ...] = (),
) -> Operation[BotPage]:
    """One page of the bots: GET /bots.

    Args:
        limit: Bots on a page, 1 to 100; the service's default is 12.
        page: Which page of that size.
        q: Text to search for.
        sort: The field to sort by.
        ids: Restrict the result to these bots.
        certified: Restrict it to certified bots, or to others.
        tags: Restrict it to bots with these tags.
    """
    query = {
        "limit": None if limit is None else str(limit),
        "page": None if page is None else str(page),
        "q": q,
        "sort": sort,
        "ids": ",".join(ids) or None,
        "certified": None if certified is None else str(certified).lower(),
        "tags": ",".join(tags) or None,
    }
    return Operation("list bots", "GET", "/bots", answers.bot_page, _given(query))


def get_bot(bot: str) -> Operation[Bot]:
    """One bot: GET /bot/:id."""
    return Operation("get bot", "GET", f"/bot/{_part(bot)}", answers.bot)


def list_voters(
    bot: str, *, page: int | None = None, limit: int | None = None
) -> Operation[VoterPage]:
    """One page of a bot's voters: GET /bot/:id/voters; pages start at 1 (wire notes)."""
    query = {
        "page": None if page is None else str(page),
        "limit": None if limit is None else str(limit),
    }
    path = f"/bot/{_part(bot)}/voters"
    return Operation("list voters", "GET", path, answers.voter_page, _given(query))


def check_vote(bot: str, user: str) -> Operation[bool]:
    """Whether a user voted: GET /bot/:id/voters/:userId."""
    path = f"/bot/{_part(bot)}/voters/{_part(user)}"
    return Operation("check vote", "GET", path, answers.voted)


def list_announcements(bot: str) -> Operation[tuple[Announcement, ...]]:
    """A bot's announcements: GET /bot/:id/announcements."""
    path = f"/bot/{_part(bot)}/announcements"
    return Operation("list announcements", "GET", path, answers.announcements)


def add_announcement(bot: str, text: AnnouncementText) -> Operation[str]:
    """Add an announcement: POST /bot/:id/announcements. Reads the new id, `""` if not told."""
    return Operation(
        "add announcement",
        "POST",
        f"/bot/{_part(bot)}/announcements",
        answers.acknowledged,
        body={"title": text.title, "description": text.description},
        idempotent=False,
    )


def delete_announcement(bot: str, announcement: str) -> Operation[str]:
    """Delete an announcement: DELETE /bot/:id/announcements/:announcementId."""
    return Operation(
        "delete announcement",
        "DELETE",
        f"/bot/{_part(bot)}/announcements/{_part(announcement)}",
        answers.acknowledged,
        gone_is_done=True,
    )


def list_commands(bot: str) -> Operation[tuple[Command, ...]]:
    """A bot's commands: GET /bot/:id/commands."""
    return Operation("list commands", "GET", f"/bot/{_part(bot)}/commands", answers.commands)


def add_command(bot: str, text: CommandText) -> Operation[str]:
    """Add a command: POST /bot/:id/commands. Reads the new id, `""` if not told."""
    return Operation(
        "add command",
        "POST",
        f"/bot/{_part(bot)}/commands",
        answers.acknowledged,
        body=_command_body(text) if text.category else _without_category(text),
        idempotent=False,
    )


def edit_command(bot: str, command: str, text: CommandText) -> Operation[str]:
    """Edit a command: POST /bot/:id/commands with its id in the body.

    A cleared category is sent as `""`: left out, a service may keep the old one.
    """
    _part(command)  # an id that cannot identify a record is refused here as well
    return Operation(
        "edit command",
        "POST",
        f"/bot/{_part(bot)}/commands",
        answers.acknowledged,
        body={"id": command, **_command_body(text)},
    )


def delete_command(bot: str, command: str) -> Operation[str]:
    """Delete a command: DELETE /bot/:id/commands/:commandId."""
    return Operation(
        "delete command",
        "DELETE",
        f"/bot/{_part(bot)}/commands/{_part(command)}",
        answers.acknowledged,
        gone_is_done=True,
    )


def set_uses(bot: str, command: str, uses: int) -> Operation[str]:
    """Set how often a command was used: PUT /bot/:id/commands/:commandId/uses (wire notes)."""
    path = f"/bot/{_part(bot)}/commands/{_part(command)}/uses"
    return Operation("set uses", "PUT", path, answers.acknowledged, body={"uses": uses})


def _command_body(text: CommandText) -> dict[str, str]:
    return {**_without_category(text), "category": text.category}


def _without_category(text: CommandText) -> dict[str, str]:
    return {"name": text.name, "description": text.description, "syntax": text.syntax}


def _given(query: Mapping[str, str | None]) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in query.items() if value is not None)
