"""The selection of bots: which are on a page of the list, restricted, searched and sorted.

A query is built once for all requests that differ in values alone: to build one takes as long as
the database takes to answer it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, bindparam, func, select

from commandsync.server import postgresql, search, sqlite
from commandsync.server.tables import SORTED, bots, catalogue, vote_days

_BY_PATH = {path: column for path, (column, _) in SORTED.items()}
_BY_NAME = {path.rpartition(".")[2]: column for path, column in _BY_PATH.items()} | _BY_PATH
SORT_PATTERN = f"^(-?({'|'.join(map(re.escape, _BY_NAME))}))?$"
"""The values of `sort`, as a regular expression."""

MOST_TAGS = 50
"""Different tags that can restrict a list."""

FARTHEST = 10**9
"""The last page that can be read: the rows before it are counted with 64 bits."""

LONGEST_QUERY = 2.0
"""Seconds that the database may take to search, count and sort."""

_MANY = 2_000  # bots that are found: to walk the index of the order is quicker than to sort them
_QUERIES = 500  # at most, of each kind; those by one field and with one restriction are about 300


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
    tags = {*map(search.marked_tag, wanted.tags)}
    if len(tags) > MOST_TAGS:
        raise BadQueryError(f"tags must be at most {MOST_TAGS} different ones")
    words = search.expression(wanted.q, tags, dialect)
    restriction = _Restriction(
        search=dialect if words else None, ids=wanted.ids is not None, certified=wanted.certified
    )
    values = {"words": words, "ids": wanted.ids or (), **days}
    is_file = dialect == "sqlite"
    with (sqlite if is_file else postgresql).limited(connection, LONGEST_QUERY):
        number: int = connection.execute(_number(restriction), values).scalar_one()
        first = (wanted.page - 1) * wanted.limit
        if first >= number:
            return [], number
        after = max(0, number - first - wanted.limit)
        # The rows before the page are walked, or those after it, whichever are fewer.
        backwards = after < first
        limit = {"limit": min(wanted.limit, number - first), "offset": min(first, after)}
        descending = descending != backwards
        query = _page(restriction, column, descending=descending, walked=number > _MANY)
        keys = list(connection.execute(query, values | limit).scalars())
    return keys[::-1] if backwards else keys, number


def separated(text: str) -> tuple[str, ...]:
    """Return the parts of a text between commas."""
    return tuple(filter(None, map(str.strip, text.split(","))))


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
    return _BY_NAME[name], name != sort


@dataclass(frozen=True, slots=True)
class _Restriction:
    """What restricts a list, without its values: the queries of equal ones are built once."""

    search: str | None  # the dialect
    ids: bool
    certified: bool | None

    def conditions(self, *, walked: bool = False) -> list[ColumnElement[bool]]:
        """Return conditions on the catalogue; if it is `walked`, what is found is looked up.

        What a search finds is complete before a bot is looked up in it: a join could search the
        text again for each bot.
        """
        conditions: list[ColumnElement[bool]] = []
        key = catalogue.c.seq + 0 if walked else catalogue.c.seq  # of a sum SQLite has no index
        if self.search is not None:
            found = search.FOUND[self.search].cte("found")
            found = found.prefix_with("MATERIALIZED", dialect="postgresql")  # SQLite does
            conditions.append(key.in_(select(found.c.seq)))
        if self.ids:
            # As a set too: SQLite could look up every pair of an id and a bot that was found.
            named = select(bots.c.seq).where(bots.c.id.in_(bindparam("ids", expanding=True)))
            conditions.append(catalogue.c.seq.in_(named))
        if self.certified is not None:
            certificate = catalogue.c.certificate
            conditions.append(certificate > 0 if self.certified else certificate <= 0)
        return conditions


@lru_cache(_QUERIES)
def _number(restriction: _Restriction) -> Select[int]:
    if restriction.search and not restriction.ids and restriction.certified is None:
        return select(func.count()).select_from(search.FOUND[restriction.search].subquery())
    return select(func.count()).select_from(catalogue).where(*restriction.conditions())


@lru_cache(_QUERIES)
def _page(restriction: _Restriction, column: str, *, descending: bool, walked: bool) -> Select[int]:
    """Return the query of the bots of a page, as `seq`."""
    source: FromClause = catalogue
    key: ColumnElement[Any]
    if column not in catalogue.c:  # counted from the votes
        votes = select(vote_days.c.bot, func.sum(vote_days.c.votes).label("votes"))
        since = votes.where(vote_days.c.day >= bindparam(column)).group_by(vote_days.c.bot)
        counted = since.subquery()
        source = source.outerjoin(counted, counted.c.bot == catalogue.c.id)
        key = func.coalesce(counted.c.votes, 0)
    else:
        key = catalogue.c[column]
    return (
        select(catalogue.c.seq)
        .select_from(source)
        .where(*restriction.conditions(walked=walked))
        .order_by(*(c.desc() if descending else c.asc() for c in (key, catalogue.c.seq)))
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )
