"""The search in PostgreSQL: a GIN index of a `tsvector` that contains the endings of words.

It needs no extension. The database computes the endings itself, by the rule of `words.endings`, so
the 16 below is `words.LONGEST_PART`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import String, bindparam, cast, column, select, table
from sqlalchemy.dialects.postgresql import TSQUERY

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFINITION = (
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
)
"""The statements that define the index of a new table of words."""


_bot_words = table("bot_words", column("seq"), column("endings"))
FOUND = select(_bot_words.c.seq).where(
    _bot_words.c.endings.bool_op("@@")(cast(bindparam("words", type_=String), TSQUERY))
)
"""The query of the bots, as `seq`, whose words contain every part of `words`."""


def expression(parts: Sequence[str]) -> str:
    """Return the parts in the language of the query."""
    # Folded words contain neither quotes nor backslashes.
    return " & ".join(f"'{part}':*" for part in parts)
