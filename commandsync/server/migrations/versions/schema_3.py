"""Version 3: the catalogue, which lists of bots are made from, and the index of its search.

Some databases of version 1 have its tables: for a while, missing tables were added without one.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"

_whole = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_key = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_SORTED: dict[str, sa.types.TypeEngine[Any]] = {
    "id": _key,
    "username": _key,
    "servers": _whole,
    "total_votes": _whole,
    "average_rating": sa.Float(),
    "ratings": _whole,
    "certificate": _whole,
    "state": _whole,
    "status": _whole,
    "created_at": _key,
    "updated_at": _key,
}
_SEARCH = {
    "sqlite": (
        """CREATE VIRTUAL TABLE IF NOT EXISTS bot_search USING fts5(
            endings, content='', detail=none, prefix='1 2', tokenize="ascii tokenchars '$+<=>^`|~'"
        )""",
        """CREATE TRIGGER bot_words_added AFTER INSERT ON bot_words BEGIN
            INSERT INTO bot_search (rowid, endings) VALUES (new.seq, word_endings(new.words));
        END""",
        """CREATE TRIGGER bot_words_deleted AFTER DELETE ON bot_words BEGIN
            INSERT INTO bot_search (bot_search, rowid, endings)
            VALUES ('delete', old.seq, word_endings(old.words));
        END""",
        """CREATE TRIGGER bot_words_changed AFTER UPDATE ON bot_words BEGIN
            INSERT INTO bot_search (bot_search, rowid, endings)
            VALUES ('delete', old.seq, word_endings(old.words));
            INSERT INTO bot_search (rowid, endings) VALUES (new.seq, word_endings(new.words));
        END""",
    ),
    "postgresql": (
        """CREATE OR REPLACE FUNCTION word_endings(words text) RETURNS tsvector
        LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
            SELECT array_to_tsvector(
                coalesce(array_agg(DISTINCT substr(word, start, 16)), ARRAY[]::text[])
            )
            FROM (SELECT DISTINCT unnest(string_to_array(words, ' ')) AS word) AS every_word,
                 generate_series(1, length(word)) AS start
        $$""",
        """ALTER TABLE bot_words ADD COLUMN
            endings tsvector GENERATED ALWAYS AS (word_endings(words)) STORED""",
        "CREATE INDEX ix_bot_words_endings ON bot_words USING gin (endings)",
    ),
}


def _of_bot() -> sa.Column[int]:
    return sa.Column("seq", _whole, sa.ForeignKey("bots.seq", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Create the tables."""
    if sa.inspect(op.get_bind()).has_table("catalogue"):
        return
    op.create_table(
        "catalogue",
        _of_bot(),
        *(sa.Column(name, kind, nullable=False) for name, kind in _SORTED.items()),
        *(sa.Index(f"ix_catalogue_{name}", name, "seq") for name in _SORTED),
    )
    op.create_table("bot_words", _of_bot(), sa.Column("words", sa.String, nullable=False))
    op.create_table("bot_tags", sa.Column("tag", _key, primary_key=True), _of_bot())
    for statement in _SEARCH[op.get_bind().dialect.name]:
        op.execute(statement)
