"""Reads and writes of the listing, inside a transaction of the database."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete as sql_delete
from sqlalchemy import insert, select, update

from commandsync.server.tables import bots, record_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection
    from sqlalchemy.engine import CursorResult

    from commandsync.records.texts import Resource

_WIRE_NAMES = {"created_at": "createdAt", "updated_at": "updatedAt"}
_PRIVATE = {"seq", "bot"}


class UnknownError(Exception):
    """The bot or record is not in the listing; the message names which."""


def now() -> str:
    """Return the current time as on the wire: ISO 8601, UTC, milliseconds."""
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


def check_bot(connection: Connection, bot: str) -> None:
    """Raise `UnknownError` unless there is such a bot."""
    if connection.execute(select(bots.c.seq).where(bots.c.id == bot)).first() is None:
        raise UnknownError("the bot is not known")


def records_of(connection: Connection, bot: str, resource: Resource) -> list[dict[str, Any]]:
    """Return a bot's records of one kind, in the order of the additions.

    An empty text is left out.

    Raises:
        UnknownError: There is no such bot.
    """
    check_bot(connection, bot)
    table = record_tables[resource]
    columns = [
        column.label(_WIRE_NAMES.get(column.name, column.name))
        for column in table.c
        if column.name not in _PRIVATE
    ]
    query = select(*columns).where(table.c.bot == bot).order_by(table.c.seq)
    return [
        {name: value for name, value in row.items() if value != ""}
        for row in connection.execute(query).mappings()
    ]


def add(
    connection: Connection, bot: str, resource: Resource, values: Mapping[str, str | int]
) -> None:
    """Add a record at the end of a bot's list.

    Raises:
        UnknownError: There is no such bot.
    """
    check_bot(connection, bot)
    table, moment = record_tables[resource], now()
    moments = {name: moment for name in _WIRE_NAMES if name in table.c}
    connection.execute(insert(table).values(id=secrets.token_hex(12), bot=bot, **values, **moments))


def edit(
    connection: Connection,
    bot: str,
    resource: Resource,
    record: str,
    values: Mapping[str, str | int],
    *,
    at: str = "",
) -> None:
    """Give a record other values; with `at`, the time of update as well.

    Raises:
        UnknownError: The bot has no such record.
    """
    table = record_tables[resource]
    query = update(table).where(table.c.id == record, table.c.bot == bot)
    moment = {"updated_at": at} if at else {}
    _check_found(connection.execute(query.values({**values, **moment})), resource)


def delete(connection: Connection, bot: str, resource: Resource, record: str) -> None:
    """Delete a record.

    Raises:
        UnknownError: The bot has no such record.
    """
    table = record_tables[resource]
    query = sql_delete(table).where(table.c.id == record, table.c.bot == bot)
    _check_found(connection.execute(query), resource)


def _check_found(result: CursorResult[Any], resource: Resource) -> None:
    if result.rowcount == 0:
        raise UnknownError(f"the bot has no such {resource}")
