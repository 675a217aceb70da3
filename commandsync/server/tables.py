"""The tables of the database, for SQLAlchemy Core.

`seq` increases with every insertion and is the order of the listing. Timestamps are text as on the
wire (ISO 8601, UTC, milliseconds); it sorts by time.
"""

from typing import Any

import sqlalchemy as sa
from pydantic.alias_generators import to_snake
from sqlalchemy.types import TypeEngine

from commandsync.records.texts import OF_MANIFEST, Resource

Whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""Whole numbers of 64 bits; SQLite has them in every column, and numbers rows in this one only."""

_ESCAPE = "\U0010ffff"  # a code point that Unicode reserves for the inside of programs


class _Escaped(sa.TypeDecorator[str]):
    """Text in PostgreSQL, which has no NUL character: it is stored in two others."""

    impl = sa.String  # type: ignore[mutable-override]  # as the library's manual has it
    cache_ok = True  # type: ignore[mutable-override]  # as above

    def process_bind_param(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - as below
        """Escape a written value, and a compared value in the same way."""
        return value and value.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")

    def process_result_value(self, value: str | None, dialect: sa.Dialect) -> str | None:  # noqa: ARG002 - the library's
        """Return the value that was written."""
        return value and value.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)


AnyText = sa.String().with_variant(_Escaped(), "postgresql")
"""Text of any characters."""

SortKey = sa.String().with_variant(sa.String(collation="C"), "postgresql")
"""Text that sorts by its code points, in every database alike."""

SCHEMA = "10"
"""The stamp of a database with these tables; another one is refused. A change needs a new one."""

metadata = sa.MetaData()

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
)
"""`schema`: the stamp of the tables. `secret`: the key that signs tokens."""

bots = sa.Table(
    "bots",
    metadata,
    sa.Column("seq", Whole, primary_key=True),
    sa.Column("id", sa.String, nullable=False, unique=True),
    sa.Column("record", sa.JSON, nullable=False),
    sa.Column("created_at", sa.String, nullable=False),
    sa.Column("updated_at", sa.String, nullable=False),
    sa.Column("token_key", sa.String, nullable=False),
)
"""`record` is the documented record as JSON, without its id and timestamps. The bot's token
contains `token_key`, which is random."""

_SORTED: dict[TypeEngine[Any], tuple[str, ...]] = {
    SortKey: (
        *("id", "provider", "prefix", "inviteURL", "vanity", "createdAt", "updatedAt"),
        *(f"profile.{name}" for name in ("username", "discriminator", "tag")),
        *(f"profile.{name}" for name in ("avatar", "avatarURL", "banner")),
        *(f"information.{name}" for name in ("description", "overview", "tags", "creator.id")),
        *("theme.color", "theme.colorLighter"),
    ),
    Whole: (
        *("statistics.servers", "statistics.totalVotes"),
        *(f"statistics.{name}Votes" for name in ("daily", "weekly", "monthly")),
        *("ratings.total", "certificate", "state", "status"),
        *("information.creator.isTeam", "theme.enabled", "theme.automatic"),
    ),
    sa.Float(): ("ratings.average",),
}
SORTED = {path: to_snake(path.replace(".", "_")) for paths in _SORTED.values() for path in paths}
"""The fields of a bot that sort lists, with their columns in the catalogue."""


def _of_bot() -> sa.Column[int]:
    """Return the key of a table that is derived from `bots`: its row goes with the bot's."""
    return sa.Column("seq", sa.ForeignKey(bots.c.seq, ondelete="CASCADE"), primary_key=True)


catalogue = sa.Table(
    "catalogue",
    metadata,
    _of_bot(),
    *(
        sa.Column(SORTED[path], kind, nullable=False)
        for kind, paths in _SORTED.items()
        for path in paths
    ),
    *(sa.Index(f"ix_catalogue_{name}", name, "seq") for name in SORTED.values()),
)
"""The sort keys of lists of bots: numbers and beginnings of texts. See `storage.count_vote`."""

bot_words = sa.Table(
    "bot_words", metadata, _of_bot(), sa.Column("words", sa.String, nullable=False)
)
"""The words of each bot, to compare with the parts of a query; see `search.indexed`. The index
follows from it: a table in SQLite, a column in PostgreSQL."""

bot_search = sa.table("bot_search", sa.column("rowid"), sa.column("words"), sa.column("bot_search"))
"""SQLite's index of the words of the bot whose `seq` is `rowid`. Each insertion of words adds
them here; a trigger removes them."""

LONGEST_PREFIX = 3
"""Characters of the beginnings of words that SQLite's index contains as well."""

searched_words = sa.table("searched_words", sa.column("term"))
"""The different words in SQLite's index, in their order."""

_SEARCH = {
    "sqlite": (
        f"""CREATE VIRTUAL TABLE bot_search USING fts5(
            words, content='', detail=none,
            prefix='{" ".join(map(str, range(1, LONGEST_PREFIX + 1)))}',
            tokenize="ascii tokenchars '$+<=>^`|~'"
        )""",
        "CREATE VIRTUAL TABLE searched_words USING fts5vocab(bot_search, row)",
        # Bytes that an insertion collects before it writes a part of the index.
        "INSERT INTO bot_search (bot_search, rank) VALUES ('hashsize', 33554432)",
        """CREATE TRIGGER bot_words_deleted AFTER DELETE ON bot_words BEGIN
            INSERT INTO bot_search (bot_search, rowid, words)
            VALUES ('delete', old.seq, old.words);
        END""",
    ),
    "postgresql": (
        """ALTER TABLE bot_words ADD COLUMN vector tsvector
            GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED""",
        "CREATE INDEX ix_bot_words_vector ON bot_words USING gin (vector)",
    ),
}


@sa.event.listens_for(bot_words, "after_create")
def _create_index(_table: object, connection: sa.Connection, **_: object) -> None:
    for statement in _SEARCH[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def _record_table(resource: Resource) -> sa.Table:
    """Return the table of one kind of record; a field is empty by default."""
    return sa.Table(
        resource.collection,
        metadata,
        sa.Column("seq", Whole, primary_key=True),
        sa.Column("id", sa.String, nullable=False, unique=True),
        sa.Column("bot", sa.ForeignKey("bots.id"), nullable=False, index=True),
        *(sa.Column(field, AnyText, nullable=False, default="") for field in resource.fields),
        *_EDITED.get(resource, ()),
        sa.Column("created_at", sa.String, nullable=False),
    )


_EDITED = {  # the values of a record that change beside its text
    Resource.COMMAND: (
        sa.Column("uses", Whole, nullable=False, default=0),
        sa.Column("updated_at", sa.String, nullable=False),
    )
}
record_tables = {kind: _record_table(kind) for kind in OF_MANIFEST}

voters = sa.Table(
    "voters",
    metadata,
    sa.Column("seq", Whole, primary_key=True),
    sa.Column("bot", sa.ForeignKey("bots.id"), nullable=False),
    sa.Column("user", sa.String, nullable=False),
    sa.Column("record", sa.JSON, nullable=False),
    sa.Column("next_at", sa.String, nullable=False),
    sa.Column("remind_at", sa.String),
    sa.UniqueConstraint("bot", "user"),
    sa.Index("ix_voters_bot_remind_at", "bot", "remind_at"),
)
"""A user who voted for a bot: `record` is the user as on the wire, at the last vote. From `next_at`
on the user may vote again. `remind_at` is the same time until the reminder is sent, then null."""

votes = sa.Table(
    "votes",
    metadata,
    sa.Column("seq", Whole, primary_key=True),
    sa.Column("bot", sa.ForeignKey("bots.id"), nullable=False),
    sa.Column("user", sa.String, nullable=False),
    sa.Column("voted_at", sa.String, nullable=False),
    sa.Index("votes_by_time", "bot", "voted_at", "seq"),
)
"""Every vote."""

vote_days = sa.Table(
    "vote_days",
    metadata,
    sa.Column("bot", sa.ForeignKey("bots.id"), primary_key=True),
    sa.Column("day", sa.String, primary_key=True),
    sa.Column("votes", sa.Integer, nullable=False),
    sa.Index("ix_vote_days_day", "day", "bot", "votes"),
)
"""The number of a bot's votes on a day, such as `2026-03-04`, in UTC. It changes with each vote: to
count half a million of votes takes 80 ms, and their days less than one."""

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("seq", Whole, primary_key=True),
    sa.Column("bot", sa.ForeignKey("bots.id"), nullable=False, index=True),
    sa.Column("event", sa.String, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("created_at", sa.String, nullable=False, index=True),
    sqlite_autoincrement=True,  # a number is never used again, though old rows are deleted
)
"""The events for the gateway, in the order of `seq`."""
