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
    "sqlite": (sqlite.DEFINITION, sqlite.FOUND, sqlite.expression),
    "postgresql": (postgresql.DEFINITION, postgresql.FOUND, postgresql.expression),
}


def define(connection: Connection) -> None:
    """Create the index of a new table of words."""
    statements, _, _ = _DIALECTS[connection.dialect.name]
    for statement in statements:
        connection.exec_driver_sql(statement)


@event.listens_for(bot_words, "after_create")
def _define(_table: object, connection: Connection, **_options: object) -> None:
    define(connection)


def found(dialect: str) -> Select[int]:
    """Return the query of the bots, as `seq`, whose words contain every part of `words`."""
    _, query, _ = _DIALECTS[dialect]
    return query


def expression_of(dialect: str, parts: Sequence[str]) -> str:
    """Return the value of `words` in the query: empty if there is no part."""
    _, _, expression = _DIALECTS[dialect]
    return expression(parts)
