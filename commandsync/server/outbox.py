"""The outbox: the events for the gateway, written in the transaction that causes them.

An event is committed with its vote or not at all. Its number gives its place: the order of the
numbers is the order in which the events are committed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, select

from commandsync.server import storage
from commandsync.server.tables import outbox

EventName = Literal["vote", "reminder"]

_LOCK = 0x636F6D6D  # any number that no other advisory lock of the database has


@dataclass(frozen=True, slots=True)
class Entry:
    """An event: its number, the bot it belongs to, its name, and its data as on the wire."""

    seq: int
    bot: str
    event: str
    data: Mapping[str, Any]


def add(
    connection: Connection, bot: str, event: EventName, data: Mapping[str, Any], *, at: datetime
) -> None:
    """Add an event to the outbox, in a transaction that writes; `at` is its time.

    A reader that has seen a number never finds a smaller one later.
    """
    _take_turn(connection)
    values = {"bot": bot, "event": event, "data": data, "created_at": storage.timestamp(at)}
    connection.execute(insert(outbox).values(values))


def last(connection: Connection) -> int:
    """Return the number of the last event; 0 if there is none."""
    number: int = connection.execute(select(func.coalesce(func.max(outbox.c.seq), 0))).scalar_one()
    return number


def after(connection: Connection, seq: int, limit: int = 500) -> list[Entry]:
    """Return the events that follow a number, in their order and at most `limit`."""
    query = (
        select(outbox.c.seq, outbox.c.bot, outbox.c.event, outbox.c.data)
        .where(outbox.c.seq > seq)
        .order_by(outbox.c.seq)
        .limit(limit)
    )
    return [Entry(*row) for row in connection.execute(query)]


def prune(connection: Connection, *, before: datetime) -> None:
    """Delete the events from before a time; no client waits for one of them."""
    _take_turn(connection)
    connection.execute(delete(outbox).where(outbox.c.created_at < storage.timestamp(before)))


def _take_turn(connection: Connection) -> None:
    """Keep other writers of the outbox out until the commit, as SQLite does by itself."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
