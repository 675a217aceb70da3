"""The outbox: the events for the gateway, written in the transaction that causes them.

An event is committed with its vote or not at all. Its number gives its place: the order of the
numbers is the order in which the events are committed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, delete, func, insert, select

from commandsync.server import postgresql, storage
from commandsync.server.tables import outbox

EventName = Literal["vote", "reminder"]

_LOCK = 0x636F6D6D  # of those who write to the outbox


def add(
    connection: Connection, bot: str, event: EventName, data: Mapping[str, Any], *, at: datetime
) -> None:
    """Add an event to the outbox, in a transaction that writes; `at` is its time.

    A reader that has seen a number never finds a smaller one later.
    """
    postgresql.wait_alone(connection, _LOCK)
    values = {"bot": bot, "event": event, "data": data, "created_at": storage.timestamp(at)}
    connection.execute(insert(outbox).values(values))


def last(connection: Connection) -> int:
    """Return the number of the last event; 0 if there is none."""
    number: int = connection.execute(select(func.coalesce(func.max(outbox.c.seq), 0))).scalar_one()
    return number


def after(connection: Connection, seq: int, limit: int = 500) -> Sequence[Any]:
    """Return the events that follow a number, in their order and at most `limit`.

    Each has its number `seq`, its `bot`, its name `event`, and its `data` as on the wire.
    """
    query = (
        select(outbox.c.seq, outbox.c.bot, outbox.c.event, outbox.c.data)
        .where(outbox.c.seq > seq)
        .order_by(outbox.c.seq)
        .limit(limit)
    )
    return connection.execute(query).all()


def prune(connection: Connection, *, before: datetime) -> None:
    """Delete the events from before a time; no client waits for one of them."""
    postgresql.wait_alone(connection, _LOCK)
    connection.execute(delete(outbox).where(outbox.c.created_at < storage.timestamp(before)))
