"""The tables of the database, for SQLAlchemy Core.

`seq` increases with every insertion and is the order of the listing. Timestamps are text as on the
wire (ISO 8601, UTC, milliseconds); it sorts by time.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

from commandsync.records.texts import Resource

Whole = BigInteger().with_variant(Integer, "sqlite")
"""Whole numbers of 64 bits; SQLite has them in every column, and numbers rows in this one only."""

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
    Column("seq", Whole, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("record", JSON, nullable=False),
    Column("created_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
)
"""`record` is the documented record as JSON, without its id and timestamps."""


def _record_table(resource: Resource) -> Table:
    """Return the table of one kind of record; a field is empty by default."""
    updated = (Column("updated_at", String, nullable=False),) if resource.editable else ()
    return Table(
        resource.collection,
        metadata,
        Column("seq", Whole, primary_key=True),
        Column("id", String, nullable=False, unique=True),
        Column("bot", ForeignKey("bots.id"), nullable=False, index=True),
        *(
            Column(field, String, nullable=False, default="", server_default="")
            for field in resource.fields
        ),
        *_COUNTERS.get(resource, ()),
        *updated,
        Column("created_at", String, nullable=False),
    )


_COUNTERS = {Resource.COMMAND: (Column("uses", Whole, nullable=False, default=0),)}
record_tables = {kind: _record_table(kind) for kind in Resource}

voters = Table(
    "voters",
    metadata,
    Column("seq", Whole, primary_key=True),
    Column("bot", ForeignKey("bots.id"), nullable=False),
    Column("user", String, nullable=False),
    Column("record", JSON, nullable=False),
    Column("next_at", String, nullable=False),
    Column("remind_at", String, index=True),
    UniqueConstraint("bot", "user"),
)
"""A user who voted for a bot: `record` is the user as on the wire, at the last vote. From `next_at`
on the user may vote again. `remind_at` is the same time until the reminder is sent, then null."""

votes = Table(
    "votes",
    metadata,
    Column("seq", Whole, primary_key=True),
    Column("bot", ForeignKey("bots.id"), nullable=False),
    Column("user", String, nullable=False),
    Column("voted_at", String, nullable=False),
    Index("votes_by_time", "bot", "voted_at", "seq"),
)
"""Every vote. The counters of a bot are counted from these rows."""

outbox = Table(
    "outbox",
    metadata,
    Column("seq", Whole, primary_key=True),
    Column("bot", ForeignKey("bots.id"), nullable=False, index=True),
    Column("event", String, nullable=False),
    Column("data", JSON, nullable=False),
    Column("created_at", String, nullable=False, index=True),
    sqlite_autoincrement=True,  # a number is never used again, though old rows are deleted
)
"""The events for the gateway, in the order of `seq`."""
