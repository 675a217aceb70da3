"""The outbox: the events for the gateway, written in the transaction that causes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from commandsync.server import listing
from commandsync.server.tables import outbox

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Entry:
    """An event: its number, the bot it belongs to, its name, and its data as on the wire."""

    seq: int
    bot: str
    event: str
    data: Mapping[str, Any]


def add(connection: Connection, bot: str, event: str, data: Mapping[str, Any]) -> None:
    """Add an event to the outbox, in a transaction that writes."""
    values = {"bot": bot, "event": event, "data": data, "created_at": listing.now()}
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
