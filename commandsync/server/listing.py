"""What can be read from and written to the listing, inside a transaction of the database."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select, update

from commandsync.server.tables import announcements, bots, commands

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection, Table
    from sqlalchemy.engine import CursorResult


class UnknownError(Exception):
    """The bot or record is not in the listing; its text says which kind is not."""


def now() -> str:
    """Return the present as it stands on the wire: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def add_bot(connection: Connection, bot: str, record: Mapping[str, Any]) -> None:
    """Add a bot; `record` is its documented record without id and timestamps."""
    moment = now()
    values = {"id": bot, "record": record, "created_at": moment, "updated_at": moment}
    connection.execute(insert(bots).values(values))


def bot_of(connection: Connection, bot: str) -> dict[str, Any]:
    """Return one bot.

    Raises:
        UnknownError: There is no such bot.
    """
    row = connection.execute(select(bots).where(bots.c.id == bot)).one_or_none()
    if row is None:
        raise UnknownError("the bot is not known")
    return {
        **row.record,
        "id": row.id,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def commands_of(connection: Connection, bot: str) -> list[dict[str, Any]]:
    """Return a bot's commands in the order they were added.

    Raises:
        UnknownError: There is no such bot.
    """
    table = commands.c
    query = select(
        table.id,
        table.name,
        table.description,
        table.syntax,
        table.category,
        table.uses,
        table.created_at.label("createdAt"),
        table.updated_at.label("updatedAt"),
    )
    check_bot(connection, bot)
    rows = connection.execute(query.where(table.bot == bot).order_by(table.seq)).mappings()
    listed = [dict(row) for row in rows]
    for record in listed:
        if not record["category"]:
            del record["category"]
    return listed


def add_command(
    connection: Connection, bot: str, texts: Mapping[str, str], *, uses: int = 0
) -> None:
    """Add a command at the end of a bot's list."""
    check_bot(connection, bot)
    moment = now()
    values = {"category": "", **texts, "uses": uses, "created_at": moment, "updated_at": moment}
    connection.execute(insert(commands).values(id=_new_id(), bot=bot, **values))


def edit_command(connection: Connection, bot: str, command: str, texts: Mapping[str, str]) -> None:
    """Give a command other texts; its place, uses and creation stay.

    Raises:
        UnknownError: The bot has no such command.
    """
    _change(connection, bot, command, {**texts, "updated_at": now()})


def set_uses(connection: Connection, bot: str, command: str, uses: int) -> None:
    """Set how often a command was used; that is not an edit of it.

    Raises:
        UnknownError: The bot has no such command.
    """
    _change(connection, bot, command, {"uses": uses})


def announcements_of(connection: Connection, bot: str) -> list[dict[str, Any]]:
    """Return a bot's announcements in the order they were made.

    Raises:
        UnknownError: There is no such bot.
    """
    table = announcements.c
    query = select(table.id, table.title, table.description, table.created_at.label("createdAt"))
    check_bot(connection, bot)
    rows = connection.execute(query.where(table.bot == bot).order_by(table.seq)).mappings()
    return [dict(row) for row in rows]


def add_announcement(connection: Connection, bot: str, texts: Mapping[str, str]) -> None:
    """Add an announcement at the end of a bot's list."""
    check_bot(connection, bot)
    values = {"id": _new_id(), "bot": bot, **texts, "created_at": now()}
    connection.execute(insert(announcements).values(values))


def delete_command(connection: Connection, bot: str, command: str) -> None:
    """Delete a command.

    Raises:
        UnknownError: The bot has no such command.
    """
    _delete(connection, commands, bot, command)


def delete_announcement(connection: Connection, bot: str, announcement: str) -> None:
    """Delete an announcement.

    Raises:
        UnknownError: The bot has no such announcement.
    """
    _delete(connection, announcements, bot, announcement)


def check_bot(connection: Connection, bot: str) -> None:
    """Raise `UnknownError` unless there is such a bot."""
    if connection.execute(select(bots.c.seq).where(bots.c.id == bot)).first() is None:
        raise UnknownError("the bot is not known")


def _new_id() -> str:
    return secrets.token_hex(12)


def _change(
    connection: Connection, bot: str, command: str, values: Mapping[str, str | int]
) -> None:
    query = update(commands).where(commands.c.id == command, commands.c.bot == bot)
    _one(connection.execute(query.values(values)), "the bot has no such command")


def _delete(connection: Connection, table: Table, bot: str, record: str) -> None:
    query = delete(table).where(table.c.id == record, table.c.bot == bot)
    _one(connection.execute(query), f"the bot has no such {table.name.removesuffix('s')}")


def _one(result: CursorResult[Any], otherwise: str) -> None:
    if result.rowcount == 0:
        raise UnknownError(otherwise)
