"""What the database holds: the tables, as SQLAlchemy Core knows them.

`seq` counts up with every insertion and gives the listing its order. Timestamps are the text that
goes on the wire (ISO 8601, UTC, milliseconds); it sorts as time does.
"""

from __future__ import annotations

from sqlalchemy import JSON, Column, ForeignKey, Integer, MetaData, String, Table

SCHEMA_VERSION = 1
"""Counts up with every change to the tables; a database of a newer one is refused."""

metadata = MetaData()

settings = Table(
    "settings",
    metadata,
    Column("key", String, primary_key=True),
    Column("value", String, nullable=False),
)
"""`schema`: the version of the tables. `secret`: what tokens are signed with."""

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

commands = Table(
    "commands",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("bot", ForeignKey("bots.id"), nullable=False, index=True),
    Column("name", String, nullable=False),
    Column("description", String, nullable=False),
    Column("syntax", String, nullable=False),
    Column("category", String, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("created_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
)

announcements = Table(
    "announcements",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
    Column("bot", ForeignKey("bots.id"), nullable=False, index=True),
    Column("title", String, nullable=False),
    Column("description", String, nullable=False),
    Column("created_at", String, nullable=False),
)
