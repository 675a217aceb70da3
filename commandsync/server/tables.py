"""The tables of the database, for SQLAlchemy Core.

`seq` increases with every insertion and is the order of the listing. Timestamps are text as on the
wire (ISO 8601, UTC, milliseconds); it sorts by time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Column, ForeignKey, Integer, MetaData, String, Table

from commandsync.records.texts import Resource

SCHEMA_VERSION = 1
"""Increases with every change to the tables; a database of a newer version is refused."""

metadata = MetaData()

settings = Table(
    "settings",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
"""`schema`: the version of the tables. `secret`: the key that signs tokens."""

bots = Table(
    "bots",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("record", JSON, nullable=False),
    Column("created_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
)
"""`record` is the documented record as JSON, without its id and timestamps."""


def _record_table(resource: Resource, *more: Column[Any]) -> Table:
    """Return the table of one kind of record; what no text is given for is its default."""
    defaults = resource.text._field_defaults
    return Table(
        resource.collection,
        metadata,
        Column("seq", Integer, primary_key=True),
        Column("id", String, nullable=False, unique=True),
        Column("bot", ForeignKey("bots.id"), nullable=False, index=True),
        *(
            Column(field, String, nullable=False, default=defaults.get(field))
            for field in resource.fields
        ),
        *more,
        Column("created_at", String, nullable=False),
    )


record_tables = {
    Resource.COMMAND: _record_table(
        Resource.COMMAND,
        Column("uses", Integer, nullable=False, default=0),
        Column("updated_at", String, nullable=False),
    ),
    Resource.ANNOUNCEMENT: _record_table(Resource.ANNOUNCEMENT),
}
