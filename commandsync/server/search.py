"""The search among bots: the words and tags of a bot and of a query, folded in the same way.

A bot is found if its words contain every part of the query, in any order. The index, which
`tables` define, contains the endings of each word, and a search looks for those that begin with
the part: `antern` and `ern` are endings of `lantern`, so `ter` is found. That needs no spaces
between words, so it also finds parts of Chinese and Japanese sentences.

The same index contains the tags, each whole and marked, and whether the bot is certified, so that
one search finds all.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from html import unescape
from unicodedata import category, normalize

from sqlalchemy import String, bindparam, cast, column, select, table
from sqlalchemy.dialects.postgresql import TSQUERY

LONGEST_TEXT = 10_000
"""Characters of a bot that are searched. PostgreSQL indexes up to 1 MiB for a row."""

LONGEST_PART = 16
"""Characters of a part; a longer word of a query is searched as several parts."""

MOST_PARTS = 32
"""Parts of a query that are searched."""

LONGEST_TAG, MOST_TAGS = 100, 500
"""Characters of a tag that are compared, and tags of a bot that are searched."""

_TAG_MARK = "\u00b7"  # begins a tag in the index; as punctuation it is not in folded words
_CERTIFIED = {True: f"{_TAG_MARK * 2}1", False: f"{_TAG_MARK * 2}0"}  # as no tag begins

# A style sheet or a script ends with its closing tag or with the text; every other tag ends itself.
_HIDDEN = re.compile(r"<(style|script)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_TAG = re.compile(r"<[/!]?[a-z-][^<>]*>", re.IGNORECASE)
# Accents of Latin, Greek and Cyrillic, and the selectors of an emoji's form. The marks of other
# scripts are letters of their own.
_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")

_fts = table("bot_search", column("rowid"), column("bot_search"))
_words = table("bot_words", column("seq"), column("endings"))
_words_value = bindparam("words", type_=String)
FOUND = {
    "sqlite": select(_fts.c.rowid.label("seq")).where(_fts.c.bot_search.match(_words_value)),
    "postgresql": select(_words.c.seq).where(
        _words.c.endings.bool_op("@@")(cast(_words_value, TSQUERY))
    ),
}
"""The query of the bots, as `seq`, that the `expression` of its value `words` finds, by dialect."""


def indexed(text: str, tags: Collection[str], *, certified: bool) -> str:
    """Return what is searched of a bot, with spaces between: the folded words, then marked ones."""
    marked = dict.fromkeys(marked_tag(tag) for tag in tags if fold(tag))
    return " ".join([fold(text)[:LONGEST_TEXT], *[*marked][:MOST_TAGS], _CERTIFIED[certified]])


def marked_tag(tag: str) -> str:
    """Return a tag as one word of the index that no text contains."""
    return _TAG_MARK + fold(tag)[:LONGEST_TAG].replace(" ", _TAG_MARK)


def plain(markup: str) -> str:
    """Return the text of a description without HTML tags, style sheets and scripts."""
    return unescape(_TAG.sub(" ", _HIDDEN.sub(" ", markup)))


def fold(text: str) -> str:
    """Return the words of a text, with single spaces between them.

    Case, accents and forms of a character (full width, ligature) are folded; punctuation separates
    words, symbols and emoji belong to them, and invisible characters count for nothing.
    """
    decomposed = normalize("NFKD", normalize("NFKC", text).casefold())
    composed = normalize("NFKC", _MARKS.sub("", decomposed))
    return " ".join("".join(map(_kept, composed)).split())


def endings(words: str) -> str:
    """Return every ending of words, cut to the length of a part, and the tags, whole.

    The triggers of SQLite's index call this; PostgreSQL's has the same rule in SQL.
    """
    every = {
        word if word.startswith(_TAG_MARK) else word[start : start + LONGEST_PART]
        for word in set(words.split())
        for start in range(len(word))
    }
    return " ".join(sorted(every))


def parts(query: str) -> tuple[str, ...]:
    """Return what a bot's words must contain to be found; empty if the query has no words."""
    pieces = (
        word[start : start + LONGEST_PART]
        for word in fold(query).split()
        for start in range(0, len(word), LONGEST_PART)
    )
    return tuple(dict.fromkeys(pieces))[:MOST_PARTS]


def expression(query: str, tags: Collection[str], dialect: str, *, certified: bool | None) -> str:
    """Return the words that a person typed, and what is marked, in the language of an index."""
    # Folded words contain neither quotes nor backslashes.
    quote, beginning, every = ('"', "*", " AND ") if dialect == "sqlite" else ("'", ":*", " & ")
    words = (f"{quote}{part}{quote}{beginning}" for part in parts(query))
    marked = [*tags] if certified is None else [*tags, _CERTIFIED[certified]]
    return every.join([*words, *(f"{quote}{word}{quote}" for word in marked)])


@lru_cache(10_000)
def _kept(character: str) -> str:
    kind = category(character)
    if kind == "Cf":
        return ""
    return " " if kind[0] in "PZ" or kind in {"Cc", "Cs"} else character
