"""The search among bots: one contract, and a module for each dialect that keeps it.

A bot is found if its words contain every part of the query, in any order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import event

from commandsync.server.search import postgresql, sqlite
from commandsync.server.tables import bot_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select


_DIALECTS = {
    "sqlite": (sqlite.DEFINITION, sqlite.found),
    "postgresql": (postgresql.DEFINITION, postgresql.found),
}


def define(connection: Connection) -> None:
    """Create the index of a new table of words."""
    statements, _ = _DIALECTS[connection.dialect.name]
    for statement in statements:
        connection.exec_driver_sql(statement)


@event.listens_for(bot_words, "after_create")
def _define(_table: object, connection: Connection, **_options: object) -> None:
    define(connection)


def found(connection: Connection, parts: Sequence[str]) -> Select[tuple[int]]:
    """Return the query of the bots, as `seq`, whose words contain every part."""
    _, query = _DIALECTS[connection.dialect.name]
    return query(parts)
