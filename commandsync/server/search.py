"""The search among bots: the index of a bot's words, and the query of a page of the list.

A bot is found if its words contain every part of the query, in any order. `indexed` folds the words
of a bot, and `expression` those of a query in the same way. The index, which `tables` defines,
contains the endings of each word, and a search reads those that begin with the part: `antern` and
`ern` are endings of `lantern`, so `ter` is found. That needs no spaces between words, so it also
finds parts of Chinese and Japanese sentences. The description is nine tenths of the words: of its
ASCII words only the beginning is searched. The same index contains the tags, each whole and marked,
and whether the bot is certified, so that one search finds all.

`find` then restricts, counts and sorts the bots of a page. A query is built once for all requests
that differ in values alone: to build one takes as long as the database takes to answer it.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any
from unicodedata import category, normalize

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    String,
    bindparam,
    cast,
    column,
    delete,
    func,
    insert,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from commandsync.server.database import limited
from commandsync.server.tables import (
    LONGEST_PREFIX,
    SORTED,
    UNINDEXED,
    bot_search,
    bots,
    catalogue,
    found_bots,
    searched_words,
    vote_days,
)

LONGEST_TEXT = 10_000
"""Characters of a bot that are searched. PostgreSQL indexes up to 1 MiB for a row."""

LONGEST_PART = 16
"""Characters of a part of a query; a longer word is searched as several parts."""

MOST_PARTS = 4
"""Parts of a query that are searched: the longest ones, which are the rarest."""

TAG_MARK = "\u00b7"  # begins a tag in the index; as punctuation it is not in folded words

LONGEST_TAG, MOST_INDEXED_TAGS = 100, 500
"""Characters of a tag that are compared, and tags of a bot that are searched."""

_CERTIFIED = {True: f"{TAG_MARK * 2}1", False: f"{TAG_MARK * 2}0"}  # as no tag begins

# A style sheet or a script ends with its closing tag or with the text; every other tag ends itself.
_HIDDEN = re.compile(r"<(style|script)\b[^<]*(?:<(?!/\1)[^<]*)*", re.IGNORECASE)
_MARKUP = re.compile(r"<[/!]?[a-z-][^<>]*>", re.IGNORECASE)
# Accents of Latin, Greek and Cyrillic, and the selectors of an emoji's form. The marks of other
# scripts are letters of their own.
_MARKS = re.compile("[\u0300-\u036f\ufe00-\ufe0f]")

# Of folded words: the parts of each, and its endings, cut to the length of a part.
_PARTS = re.compile(f"[^ ]{{1,{LONGEST_PART}}}")
_ENDINGS = re.compile(f"(?=({_PARTS.pattern}))")
_FREQUENT = 10_000  # words whose endings are kept: most texts of many bots consist of these

_words = table("bot_words", column("seq"), column("vector"))
_words_value = bindparam("words", type_=String)
# The bots, as `seq`, that the `expression` of the value `words` finds, by dialect. SQLite has no
# rows that a query computes once and looks up by their keys: it notes them in a table of the
# connection. PostgreSQL does where they are materialized.
_note = insert(found_bots).from_select(
    ["seq"], select(bot_search.c.rowid).where(bot_search.c.bot_search.match(_words_value))
)
FOUND: dict[str, FromClause] = {
    "sqlite": found_bots,
    "postgresql": select(_words.c.seq)
    .where(_words.c.vector.bool_op("@@")(cast(_words_value, TSQUERY)))
    .cte("found")
    .prefix_with("MATERIALIZED"),
}


def indexed(text: str, description: str, tags: Collection[str], *, certified: bool) -> str:
    """Return the searched texts of a bot with spaces between: parts of words, then marked words."""
    text = fold(text)[:LONGEST_TEXT]
    rest = fold(description)[: LONGEST_TEXT - len(text)]
    searched = [ending for word in text.split() for ending in _endings(word)]
    searched += _PARTS.findall(rest)
    if not rest.isascii():
        others = (word for word in rest.split() if not word.isascii())
        searched += (ending for word in others for ending in _endings(word))
    marked = [tag for tag in dict.fromkeys(map(marked_tag, tags)) if tag != TAG_MARK]
    known = dict.fromkeys(searched + marked[:MOST_INDEXED_TAGS])
    return " ".join([*known, _CERTIFIED[certified]])


@lru_cache(_FREQUENT)
def _endings(word: str) -> list[str]:
    return _ENDINGS.findall(word)


def marked_tag(tag: str) -> str:
    """Return a tag as one word of the index that no text contains."""
    return TAG_MARK + fold(tag)[:LONGEST_TAG].replace(" ", TAG_MARK)


def plain(markup: str) -> str:
    """Return the text of a description without HTML tags, style sheets and scripts."""
    return unescape(_MARKUP.sub(" ", _HIDDEN.sub(" ", markup)))


def fold(text: str) -> str:
    """Return the words of a text, with single spaces between them.

    Case, accents and forms of a character (full width, ligature) are folded; punctuation separates
    words, symbols and emoji belong to them, and invisible characters count for nothing.
    """
    text = normalize("NFKC", text).casefold()
    if not text.isascii():  # else it has no accents, and to look for them takes longest
        text = normalize("NFKC", _MARKS.sub("", normalize("NFKD", text)))
    return " ".join(text.translate(_KEPT).split())


def parts(query: str) -> tuple[str, ...]:
    """Return what a bot's words must contain to be found; empty if the query has no words."""
    different = dict.fromkeys(_PARTS.findall(fold(query)))
    return tuple(sorted(different, key=len, reverse=True))[:MOST_PARTS]


_MOST_KEPT = 10_000


class _Kept(dict[int, str]):
    """What a folded text has in the place of each character, by its code."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = category(character)
        kept = " " if kind[0] in "PZ" or kind in {"Cc", "Cs"} else character
        kept = "" if kind == "Cf" else kept
        if len(self) < _MOST_KEPT:  # anybody can send a query with every character
            self[code] = kept
        return kept


_KEPT = _Kept()


# A page of the list

_BY_PATH = {path: path for path in UNINDEXED}
_BY_PATH |= {path: column for path, (column, _) in SORTED.items()}
# `id` is the bot's own, and not that of its creator.
_BY_NAME = {path.rpartition(".")[2]: column for path, column in _BY_PATH.items()} | _BY_PATH
_COUNTED = {column for column, kind in SORTED.values() if kind is None}
SORT_PATTERN = f"^(-?({'|'.join(map(re.escape, _BY_NAME))}))?$"
"""The values of `sort`, as a regular expression."""

MOST_TAGS = 50
"""Different tags that can restrict a list."""

FARTHEST = 10**9
"""The last page that can be read: the rows before it are counted with 64 bits."""

LONGEST_QUERY = 2.0
"""Seconds that the database may take to search, count and sort."""

_MOST_WORDS = 40  # fewer are named; for more, the list of their beginning is as quick
_WORDS = (
    select(searched_words.c.term)
    .where(searched_words.c.term.between(bindparam("first"), bindparam("last")))
    .limit(_MOST_WORDS)
)
_FEW = 1_000  # bots that are found: to sort them is quicker than to walk the index of the order
_QUERIES = 500  # at most, of each kind; more than there are
_NAMED = "named"  # the value of the keys of few bots


class BadQueryError(Exception):
    """What a list is asked for is not valid; the message says what it can be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list of bots is asked for."""

    page: int = 1  # the page, from 1, of `limit` bots
    limit: int = 12
    q: str = ""  # the text to search; without words it restricts nothing
    # The field, with or without its path, after a `-` in descending order; empty: as added.
    sort: str = ""
    ids: tuple[str, ...] | None = None  # the bots to choose from
    certified: bool | None = None  # whether only certified bots are listed, or only others
    # All of which a listed bot has.
    tags: tuple[str, ...] = ()


def find(
    connection: Connection, wanted: Wanted, *, days: Mapping[str, str]
) -> tuple[list[int], int]:
    """Return the bots of a page, as `seq`, and the number of bots on all pages.

    The counters of recent votes begin with `days`, see `counters.days`. Raises `BadQueryError`, and
    what the database raises after `LONGEST_QUERY`.
    """
    column, descending = _order(wanted.sort)
    dialect = connection.dialect.name
    tags = {*map(marked_tag, wanted.tags)}
    if len(tags) > MOST_TAGS:
        raise BadQueryError(f"tags must be at most {MOST_TAGS} different ones")
    with limited(connection, LONGEST_QUERY):
        words = _expression(connection, wanted, tags)
        searched = dialect if words else ""
        values = {"words": words, "ids": wanted.ids or (), **days}
        chosen = _choose(connection, values, searched, ids=wanted.ids is not None)
        number = chosen.number
        first = (wanted.page - 1) * wanted.limit
        if first >= number:
            return [], number
        last = min(number, first + wanted.limit)
        # A descending order is the ascending one from its end.
        begin, end = (number - last, number - first) if descending else (first, last)
        keys = chosen.sorted_by(column, begin, end)
    return keys[::-1] if descending else keys, number


def separated(text: str) -> tuple[str, ...]:
    """Return the different parts of a text between commas."""
    return tuple(filter(None, dict.fromkeys(map(str.strip, text.split(",")))))


def _expression(connection: Connection, wanted: Wanted, tags: Collection[str]) -> str:
    """Return the words that a person typed, and what is marked, in the language of an index."""
    # Folded words contain neither quotes nor backslashes.
    certified = [] if wanted.certified is None else [_CERTIFIED[wanted.certified]]
    if connection.dialect.name == "postgresql":
        words = [f"'{part}':*" for part in parts(wanted.q)]
        return " & ".join([*words, *(f"'{word}'" for word in (*tags, *certified))])
    words = [_beginning(connection, part) for part in parts(wanted.q)]
    return " AND ".join([*words, *(f'"{word}"' for word in (*tags, *certified))])


def _beginning(connection: Connection, part: str) -> str:
    """Return the words that begin with a part, for SQLite.

    If they are few, they are named: SQLite would collect the bots of each in one long list first.
    """
    if len(part) > LONGEST_PREFIX:
        last = part + "\U0010ffff" * LONGEST_PART
        words = connection.execute(_WORDS, {"first": part, "last": last}).scalars().all()
        if 0 < len(words) < _MOST_WORDS:
            named = " OR ".join(f'"{word}"' for word in words)
            return f"({named})"
    return f'"{part}"*'


def _order(sort: str) -> tuple[str, bool]:
    """Return the column to sort by, and whether in descending order."""
    if not sort:
        return "seq", False
    name = sort.removeprefix("-")
    if name not in _BY_NAME:
        raise BadQueryError(
            f"sort must be one of {', '.join((*SORTED, *UNINDEXED))}; the path before the name may "
            "be left out, and a - in front sorts in descending order"
        )
    return _BY_NAME[name], name != sort


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The bots to sort: all, those that a search finds, or those of some keys."""

    connection: Connection
    values: dict[str, Any]
    by: str  # empty, the dialect of a search, or _NAMED
    number: int

    def sorted_by(self, column: str, begin: int, end: int) -> list[int]:
        """Return the bots from one place in the ascending order to another."""
        if column not in _COUNTED:
            return self._walk(column, begin, end, self.number)
        # A bot without recent votes has none to sort by: these come first, as they were added.
        voted = list(self.connection.execute(_voted(self.by, column), self.values).scalars())
        others = self.number - len(voted)
        keys = self._walk(column, begin, min(end, others), others) if begin < others else []
        return keys + voted[max(0, begin - others) : max(0, end - others)]

    def _walk(self, column: str, begin: int, end: int, number: int) -> list[int]:
        # From the end, if it is nearer.
        backwards = number - end < begin
        place = {"limit": end - begin, "offset": min(begin, number - end)}
        dialect = self.connection.dialect.name
        query = _page(self.by, column, dialect, backwards=backwards)
        keys = list(self.connection.execute(query, self.values | place).scalars())
        return keys[::-1] if backwards else keys


def _choose(connection: Connection, values: dict[str, Any], searched: str, *, ids: bool) -> _Chosen:
    if searched == "sqlite":
        connection.execute(delete(found_bots))
        connection.execute(_note, values)
    number = 0 if ids else connection.execute(_number(searched), values).scalar_one()
    if ids or (searched and number <= _FEW):
        few = connection.execute(_few(searched, ids=ids), values).scalars().all()
        return _Chosen(connection, values | {_NAMED: few}, _NAMED, len(few))
    return _Chosen(connection, values, searched, number)


def _conditions(by: str, key: ColumnElement[int]) -> list[ColumnElement[bool]]:
    """Return conditions on a key of the catalogue.

    What a search finds is complete before a bot is looked up in it: a join could search the text
    again for each bot.
    """
    if by == _NAMED:
        return [key.in_(bindparam(_NAMED, expanding=True))]
    return [key.in_(select(FOUND[by].c.seq))] if by else []


@lru_cache(_QUERIES)
def _number(searched: str) -> Select[int]:
    return select(func.count()).select_from(FOUND.get(searched, catalogue))


@lru_cache(_QUERIES)
def _few(searched: str, *, ids: bool) -> Select[int]:
    """Return the query of the bots, as `seq`, that a search finds and `ids` name."""
    named = select(bots.c.seq).where(bots.c.id.in_(bindparam("ids", expanding=True)))
    if not searched:
        return named
    found = FOUND[searched]
    query = select(found.c.seq)
    return query.where(found.c.seq.in_(named)) if ids else query


@lru_cache(_QUERIES)
def _page(by: str, column: str, dialect: str, *, backwards: bool) -> Select[int]:
    """Return the query of a part of the bots, as `seq`, sorted by a column or a field.

    By a column that counts votes: those that have none, as they were added.
    """
    by_votes = column in _COUNTED
    seq: ColumnElement[int]
    order: list[ColumnElement[Any]]
    if by in FOUND and (by_votes or column == "seq"):
        seq = FOUND[by].c.seq
        query, order = select(seq), [seq]
    else:
        seq = catalogue.c.seq
        # Few bots are sorted. For many, the order is walked: of a sum, SQLite has no index.
        query = select(seq).where(*_conditions(by, seq if by == _NAMED else seq + 0))
        order = [seq] if by_votes else [_sort_key(column, dialect), seq]
        if column in UNINDEXED:
            query = query.join(bots, bots.c.seq == seq)
    if by_votes:
        voted = select(catalogue.c.seq).join(vote_days, vote_days.c.bot == catalogue.c.id)
        query = query.where(seq.not_in(voted.where(vote_days.c.day >= bindparam(column))))
    return (
        query.order_by(*(key.desc() if backwards else key.asc() for key in order))
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )


def _sort_key(column: str, dialect: str) -> ColumnElement[Any]:
    """Return a column of the catalogue, or the text of a field in the bot's record."""
    if column in catalogue.c:
        return catalogue.c[column]
    field = func.coalesce(bots.c.record[tuple(column.split("."))].as_string(), "")
    return field.collate("C") if dialect == "postgresql" else field


@lru_cache(_QUERIES)
def _voted(by: str, column: str) -> Select[int]:
    """Return the query of the bots, as `seq`, that have recent votes, sorted by their number."""
    # In the index by day: SQLite would read the votes of all days in the index by bot.
    bot = vote_days.c.bot.concat(text("''")).label("bot")
    recent = select(bot, func.sum(vote_days.c.votes).label("votes"))
    recent = recent.where(vote_days.c.day >= bindparam(column)).group_by(bot)
    counted = recent.subquery()
    return (
        select(catalogue.c.seq)
        .join(counted, counted.c.bot == catalogue.c.id)
        .where(*_conditions(by, catalogue.c.seq + 0))  # not each bot with each that is found
        .order_by(counted.c.votes, catalogue.c.seq)
    )
