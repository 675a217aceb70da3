"""The search in SQLite: an FTS5 table of the endings of words, kept by triggers.

The table contains no text of its own, and no positions: a word is looked up as a prefix.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, column, select, table

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDINGS = "word_endings"
"""The SQL function that the triggers call: `words.endings`, defined on every connection."""

DEFINITION = (
    # Folded words contain ASCII symbols, which the tokenizer takes for spaces unless it knows them.
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
)
"""The statements that define the index of a new table of words."""

_bot_search = table("bot_search", column("rowid"), column("bot_search"))
FOUND = select(_bot_search.c.rowid.label("seq")).where(
    _bot_search.c.bot_search.match(bindparam("words"))
)
"""The query of the bots, as `seq`, whose words contain every part of `words`."""


def expression(parts: Sequence[str]) -> str:
    """Return the parts in the language of the query."""
    # Folded words contain no quotes, so each is a string of the language.
    return " AND ".join(f'"{part}"*' for part in parts)
