"""The search among bots: the index of a bot's words, and the query of a page of the list.

A bot is found if its words contain every part of the query, in any order. `indexed` folds the words
of a bot, and `expression` the words of a query in the same way. The index, which `tables` defines,
contains the endings of each word, and a search reads the endings that begin with the part: `antern`
and `ern` are endings of `lantern`, so `ter` is found. That needs no spaces between words, so it
also finds parts of Chinese and Japanese sentences. The description is nine tenths of the words: of
its ASCII words only the beginning is searched. The same index contains the tags, each whole and
marked, and whether the bot is certified, so that one search finds all.

`find` then restricts, counts and sorts the bots of a page. If many bots have the words, it walks
the index of the order and compares the words of each bot, up to a limit. Otherwise the index of the
words gives the bots. A search counts few bots exactly. Both databases get the same statements, up
to the conditions of `_INDEXES` and `_PLACE`. A statement is built once for all requests that differ
in values alone: to build one takes as long as the database takes to answer it.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any, Literal, NamedTuple
from unicodedata import category, normalize

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    String,
    and_,
    bindparam,
    cast,
    column,
    func,
    literal,
    null,
    select,
    table,
    true,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from commandsync.server.database import limited
from commandsync.server.tables import (
    LONGEST_PREFIX,
    SORTED,
    bot_search,
    bot_words,
    bots,
    catalogue,
    searched_words,
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

_NUMBER = re.compile(r"\d+")

# Of folded words: the parts of each, and its endings, cut to the length of a part.
_PARTS = re.compile(f"[^ ]{{1,{LONGEST_PART}}}")
_ENDINGS = re.compile(f"(?=({_PARTS.pattern}))")
_FREQUENT = 10_000  # words whose endings are kept: most texts of many bots consist of these


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
    words, symbols and emoji belong to them, and invisible characters count for nothing. A number is
    a word of its own: names with numbers would fill the index with words that one bot has.
    """
    text = normalize("NFKC", text).casefold()
    if not text.isascii():  # else it has no accents, and to look for them takes longest
        text = normalize("NFKC", _MARKS.sub("", normalize("NFKD", text)))
    return " ".join(_NUMBER.sub(r" \g<0> ", text.translate(_KEPT)).split())


def parts(query: str) -> tuple[str, ...]:
    """Return the condition on a bot's words; empty if the query has no words."""
    different = dict.fromkeys(_PARTS.findall(fold(query)))
    return tuple(sorted(different, key=len, reverse=True))[:MOST_PARTS]


_MOST_KEPT = 10_000


class _Kept(dict[int, str]):
    """The character of a folded text in the place of each character, by its code."""

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

_BY_NAME = {path.rpartition(".")[2]: path for path in SORTED} | {path: path for path in SORTED}
SORT_PATTERN = f"^(-?({'|'.join(map(re.escape, _BY_NAME))}))?$"
"""The values of `sort`, as a regular expression."""

MOST_TAGS = 50
"""Different tags that can restrict a list."""

MOST_COUNTED = 1_000
"""Bots up to which a search is counted exactly."""

FARTHEST = 10**9
"""The last page that can be read: the rows before it are counted with 64 bits."""

LONGEST_QUERY = 2.0
"""Seconds that the database may take to search, count and sort."""

_FEW = 8_000  # bots: to sort these is quicker than to look them up in the order of 100,000
# Bots whose words are compared for a page. As quick is the index, with a third of 100,000 bots in
# SQLite and a tenth in PostgreSQL.
_LONGEST_WALK = {"sqlite": 3_000, "postgresql": 10_000}
_SAMPLE = 100  # bots whose words show how frequent a query is
_MOST_WORDS = 40  # fewer are named; for more, the list of their beginning is as quick
_WORDS = (
    select(searched_words.c.term)
    .where(searched_words.c.term.between(bindparam("first"), bindparam("last")))
    .limit(_MOST_WORDS)
)
_QUERIES = 500  # at most, of each kind; more than there are


class BadQueryError(Exception):
    """The query of a list is not valid; the message names valid ones."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The query of a list of bots."""

    page: int = 1  # the page, from 1, of `limit` bots
    limit: int = 12
    q: str = ""  # the text to search; without words it restricts nothing
    # The field, with or without its path, after a `-` in descending order; empty: as added.
    sort: str = ""
    ids: tuple[str, ...] | None = None  # the bots to choose from
    certified: bool | None = None  # whether only certified bots are listed, or only others
    # All of which a listed bot has.
    tags: tuple[str, ...] = ()


class FoundBots(NamedTuple):
    """The bots of a page, as `seq`, and the number of bots on all pages."""

    keys: list[int]
    number: int
    is_more: bool = False  # there are more than `number`


def find(connection: Connection, wanted: Wanted) -> FoundBots:
    """Return a page of the list.

    Raises `BadQueryError`, and the database's error after `LONGEST_QUERY`.
    """
    words, marks = parts(wanted.q), _marks(wanted)
    texts = [*(f" {word}" for word in words), *(f" {mark} " for mark in marks)]
    by: _By = "all" if not texts else "words"
    kind = _Kind("ids" if wanted.ids is not None else by, connection.dialect.name, len(texts))
    values: dict[str, Any] = {f"text{place}": text for place, text in enumerate(texts)}
    search = _Search(connection, kind, _order(wanted.sort), values | {"ids": wanted.ids or ()})
    first, last = (wanted.page - 1) * wanted.limit, wanted.page * wanted.limit
    with limited(connection, LONGEST_QUERY):
        if kind.by == "words":
            search.values["words"] = _expression(connection, words, marks)
        most = MOST_COUNTED + 1 if kind.by == "words" and words else None
        number, expected = search.count(most)
        is_more = number == most
        is_past = first >= number and not is_more
        keys = [] if is_past else search.page(first, last, expected)
    return FoundBots(keys, number - is_more, is_more)


def _marks(wanted: Wanted) -> list[str]:
    tags = {*map(marked_tag, wanted.tags)}
    if len(tags) > MOST_TAGS:
        raise BadQueryError(f"tags must be at most {MOST_TAGS} different ones")
    return [*tags, *([] if wanted.certified is None else [_CERTIFIED[wanted.certified]])]


class _Kind(NamedTuple):
    """The parts of a query that decide the statements of a search."""

    by: "_By"
    dialect: str
    texts: int  # the number of texts that are compared


@dataclass(frozen=True, slots=True)
class _Search:
    """A list of bots that are restricted and sorted in one way."""

    connection: Connection
    kind: _Kind
    order: tuple[str, bool]
    values: dict[str, Any]

    def count(self, most: int | None) -> tuple[int, int]:
        """Return the number of bots up to `most`, and about how many there are."""
        # PostgreSQL's index gives no bot before it has collected all. Where many bots have the
        # words, their words are compared first.
        if self.kind.dialect == "postgresql" and most:
            sampled = len(self._read("walk", limit=_SAMPLE, most=_SAMPLE))
            walk = most if sampled * self._longest_walk > most * _SAMPLE else 0
            if most == len(self._read("walk", limit=walk, most=self._longest_walk)):
                return most, self._newest()
        number, last = self.connection.execute(_count(self.kind, most), self.values).one()
        return number, number * self._newest() // last if number == most else number

    def page(self, first: int, last: int, expected: int) -> list[int]:
        """Return the bots between two places of the order, where about so many are expected."""
        place = {"offset": first, "limit": last - first}
        if self.kind.by != "words" or expected <= MOST_COUNTED:
            return self._read("sort", **place)
        if last * self._newest() <= expected * self._longest_walk:
            keys = self._read("walk", **place, most=self._longest_walk)
            if len(keys) == last - first:
                return keys
        return self._read("sort" if expected < _FEW else "filter", **place)

    @property
    def _longest_walk(self) -> int:
        return _LONGEST_WALK[self.kind.dialect]

    def _newest(self) -> int:
        """Return the last `seq`, which is about the number of all bots."""
        return int(self.connection.execute(_NEWEST).scalar_one())

    def _read(self, way: "_Way", *, limit: int, offset: int = 0, most: int = 0) -> list[int]:
        place = {"limit": limit, "offset": offset, "most": most}
        statement = _page(way, self.kind, *self.order)
        return list(self.connection.execute(statement, self.values | place).scalars())


def separated(text: str) -> tuple[str, ...]:
    """Return the different parts of a text between commas."""
    return tuple(filter(None, dict.fromkeys(map(str.strip, text.split(",")))))


def _order(sort: str) -> tuple[str, bool]:
    """Return the column to sort by, and whether in descending order."""
    if not sort:
        return "seq", False
    name = sort.removeprefix("-")
    if name not in _BY_NAME:
        raise BadQueryError(
            f"sort must be one of {', '.join(SORTED)}; the path before the name may be left out, "
            "and a - in front sorts in descending order"
        )
    return SORTED[_BY_NAME[name]], name != sort


def _expression(connection: Connection, words: Collection[str], marks: Collection[str]) -> str:
    """Return typed words, and marked ones, in the language of an index."""
    # Folded words contain neither quotes nor backslashes.
    if connection.dialect.name == "postgresql":
        return " & ".join([*(f"'{word}':*" for word in words), *(f"'{mark}'" for mark in marks)])
    beginnings = [_beginning(connection, word) for word in words]
    return " AND ".join([*beginnings, *(f'"{mark}"' for mark in marks)])


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


_By = Literal["all", "ids", "words"]
"""The choice of the bots of a list."""

_Way = Literal["walk", "sort", "filter"]
"""How a page is read: from the first bots of the order, whose words are compared; from the chosen
bots, which are sorted; or from the order, of which the chosen bots are kept."""

_words = table("bot_words", column("seq"), column("vector"))
_expression_value = bindparam("words", type_=String)
# The key of an index of the words, and the condition that the value `words` of a search finds.
_INDEXES: dict[str, tuple[ColumnElement[int], ColumnElement[bool]]] = {
    "sqlite": (bot_search.c.rowid, bot_search.c.bot_search.match(_expression_value)),
    "postgresql": (_words.c.seq, _words.c.vector.bool_op("@@")(cast(_expression_value, TSQUERY))),
}
_PLACE = {"sqlite": func.instr, "postgresql": func.strpos}


_NEWEST = select(func.max(catalogue.c.seq))


def _compared(seq: ColumnElement[int], kind: _Kind) -> ColumnElement[bool]:
    """Return the condition that a bot has the texts. As one value, no plan can begin with it."""
    spaced = literal(" ") + bot_words.c.words + literal(" ")
    place = _PLACE[kind.dialect]
    found = (place(spaced, bindparam(f"text{number}")) > 0 for number in range(kind.texts))
    return select(and_(true(), *found)).where(bot_words.c.seq == seq).scalar_subquery()


@lru_cache(_QUERIES)
def _chosen(kind: _Kind) -> Select[int]:
    """Return the query of the bots of a list, as `seq`."""
    match kind.by:
        case "all":
            return select(catalogue.c.seq)
        case "ids":
            named = bots.c.id.in_(bindparam("ids", expanding=True))
            return select(bots.c.seq).where(named, _compared(bots.c.seq, kind))
        case "words":
            key, matches = _INDEXES[kind.dialect]
            return select(key.label("seq")).where(matches)


@lru_cache(_QUERIES)
def _count(kind: _Kind, most: int | None) -> Select[Any]:
    """Return the query of the number of bots; up to `most`, also of the last `seq` among them."""
    chosen = _chosen(kind).limit(most).subquery()
    last = func.max(chosen.c.seq) if most else null()
    return select(func.count(), last).select_from(chosen)


@lru_cache(_QUERIES)
def _page(way: _Way, kind: _Kind, column: str, descending: bool) -> Select[int]:  # noqa: FBT001 - cached
    """Return the query of a part of the bots, as `seq`, in an order."""
    seq = catalogue.c.seq
    keys = [catalogue.c[name] for name in dict.fromkeys((column, "seq"))]
    query = select(seq).order_by(*(key.desc() if descending else key for key in keys))
    if way == "walk":
        walked = query.limit(bindparam("most")).subquery()
        query = select(walked.c.seq).where(_compared(walked.c.seq, kind))
    elif kind.by != "all":
        # Complete before a bot is looked up in it: a join could search the text for each bot.
        chosen = _chosen(kind).cte("chosen").prefix_with("MATERIALIZED", dialect="postgresql")
        # Of a sum, SQLite has no index: it walks the order.
        query = query.where((seq if way == "sort" else seq + 0).in_(select(chosen.c.seq)))
    return query.limit(bindparam("limit")).offset(bindparam("offset"))
