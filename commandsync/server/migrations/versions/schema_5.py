"""Version 5: the tags of bots in the index of the search."""

from alembic import op

revision = "5"
down_revision = "4"

_ENDINGS = """CREATE OR REPLACE FUNCTION word_endings(words text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT array_to_tsvector(coalesce(array_agg(DISTINCT ending), ARRAY[]::text[]))
        FROM (SELECT DISTINCT unnest(string_to_array(words, ' ')) AS word) AS every_word,
             generate_series(1, length(word)) AS start,
             substr(word, start, CASE left(word, 1) WHEN '·' THEN 500 ELSE 16 END) AS ending
        WHERE start = 1 OR left(word, 1) <> '·'
    $$"""
_MOVE = """UPDATE bot_words SET words = words || coalesce((
        SELECT joined(' ·' || replace(tag, ' ', '·'), '')
        FROM bot_tags WHERE bot_tags.seq = bot_words.seq
    ), '')"""


def upgrade() -> None:
    """Move the tags to the words, each as one word with a mark; the index follows."""
    is_file = op.get_bind().dialect.name == "sqlite"
    if not is_file:
        op.execute(_ENDINGS)
    op.create_index("ix_bot_tags_seq", "bot_tags", ["seq"])
    op.execute(_MOVE.replace("joined", "group_concat" if is_file else "string_agg"))
    op.drop_table("bot_tags")
