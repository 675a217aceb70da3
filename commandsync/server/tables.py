"""The tables of the database, for SQLAlchemy Core.

`seq` increases with every insertion and is the order of the listing. Timestamps are text as on the
wire (ISO 8601, UTC, milliseconds); it sorts by time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
)

from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from sqlalchemy import Dialect
    from sqlalchemy.types import TypeEngine

Whole = BigInteger().with_variant(Integer, "sqlite")
"""Whole numbers of 64 bits; SQLite has them in every column, and numbers rows in this one only."""

_ESCAPE = "\U0010ffff"  # a code point that Unicode reserves for the inside of programs


class _Escaped(TypeDecorator[str]):
    """Text in PostgreSQL, which has no NUL character: it is stored in two others."""

    impl = String  # type: ignore[mutable-override]  # as the library's manual has it
    cache_ok = True  # type: ignore[mutable-override]  # as above

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - as below
        """Escape what is written; and what is compared, as it is written."""
        return value and value.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - the library's
        """Return what was written."""
        return value and value.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)


AnyText = String().with_variant(_Escaped(), "postgresql")
"""Text of any characters."""

SortKey = String().with_variant(String(collation="C"), "postgresql")
"""Text that sorts by its code points, in every database alike."""

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

_SORTED: dict[str, TypeEngine[Any]] = {
    "id": SortKey,
    "username": SortKey,
    "servers": Whole,
    "total_votes": Whole,
    "average_rating": Float(),
    "ratings": Whole,
    "certificate": Whole,
    "state": Whole,
    "status": Whole,
    "created_at": SortKey,
    "updated_at": SortKey,
}


def _of_bot() -> Column[int]:
    """Return the key of a table that is derived from `bots`: its row goes with the bot's."""
    return Column("seq", ForeignKey(bots.c.seq, ondelete="CASCADE"), primary_key=True)


catalogue = Table(
    "catalogue",
    metadata,
    _of_bot(),
    *(Column(name, kind, nullable=False) for name, kind in _SORTED.items()),
    *(Index(f"ix_catalogue_{name}", name, "seq") for name in _SORTED),
)
"""What lists of bots are sorted and restricted by; narrow, so that a long list is read quickly."""

bot_words = Table("bot_words", metadata, _of_bot(), Column("words", String, nullable=False))
"""The folded words of a bot that are searched; see `search`."""

bot_tags = Table("bot_tags", metadata, Column("tag", SortKey, primary_key=True), _of_bot())
"""The folded tags of a bot."""


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
            Column(field, AnyText, nullable=False, default="", server_default="")
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
"""Every vote."""

vote_days = Table(
    "vote_days",
    metadata,
    Column("bot", ForeignKey("bots.id"), primary_key=True),
    Column("day", String, primary_key=True),
    Column("votes", Integer, nullable=False),
)
"""The number of a bot's votes on a day, such as `2026-03-04`, in UTC. It changes with each vote: to
count half a million of votes takes 80 ms, and their days less than one."""

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
