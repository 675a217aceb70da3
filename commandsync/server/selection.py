"""The selection of bots: which are on a page of the list, restricted, searched and sorted.

A query is built once for all requests that differ in values alone: to build one takes as long as
the database takes to answer it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    exists,
    func,
    select,
)

from commandsync.server import search
from commandsync.server.catalogue import COUNTED, SORTABLE, tag_of
from commandsync.server.counters import COUNTERS
from commandsync.server.tables import bot_tags, catalogue

_BY_NAME = {path.rpartition(".")[2]: column for path, column in SORTABLE.items()} | SORTABLE
SORT_PATTERN = f"^(-?({'|'.join(map(re.escape, _BY_NAME))}))?$"
"""The values of `sort`, as a regular expression."""

MOST_TAGS = 50
"""Different tags that can restrict a list."""

FARTHEST = 10**9
"""The last page that can be read: the rows before it are counted with 64 bits."""

_TAGGED = select(func.count()).where(bot_tags.c.tag == bindparam("tag"))
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

    The counters of recent votes begin with `days`, see `counters.days`. Raises `BadQueryError`.
    """
    column, descending = _order(wanted.sort)
    dialect = connection.dialect.name
    words = search.expression(wanted.q, dialect)
    tags = _rarest_first(connection, {*map(tag_of, wanted.tags)})
    restriction = _Restriction(
        search=dialect if words else None,
        tags=len(tags),
        ids=wanted.ids is not None,
        certified=wanted.certified,
    )
    values = {
        "words": words,
        "ids": wanted.ids or (),
        **{f"tag{number}": tag for number, tag in enumerate(tags)},
        **days,
    }
    number: int = connection.execute(_number(restriction), values).scalar_one()
    first = (wanted.page - 1) * wanted.limit
    if first >= number:
        return [], number
    after = max(0, number - first - wanted.limit)
    # The rows before the page are walked, or those after it, whichever are fewer.
    backwards = after < first
    limit = {"limit": min(wanted.limit, number - first), "offset": after if backwards else first}
    query = _page(restriction, column, descending=descending != backwards)
    keys = list(connection.execute(query, values | limit).scalars())
    return keys[::-1] if backwards else keys, number


def _rarest_first(connection: Connection, tags: set[str]) -> list[str]:
    """Return tags so that few bots are looked at for the second one, and fewer for the third."""
    if len(tags) > MOST_TAGS:
        raise BadQueryError(f"tags must be at most {MOST_TAGS} different ones")
    if len(tags) > 1:
        numbers = {tag: connection.execute(_TAGGED, {"tag": tag}).scalar_one() for tag in tags}
        return sorted(tags, key=lambda tag: (numbers[tag], tag))
    return [*tags]


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
            f"sort must be one of {', '.join(SORTABLE)}; the path before the name may be left out, "
            "and a - in front sorts in descending order"
        )
    return _BY_NAME[name], name != sort


@dataclass(frozen=True, slots=True)
class _Restriction:
    """What restricts a list, without its values: the queries of equal ones are built once."""

    search: str | None  # the dialect
    tags: int
    ids: bool
    certified: bool | None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return conditions on the catalogue.

        A search and tags are sets of bots that are complete before a bot is looked up in them: a
        join could search the text again for each bot.
        """
        sets = [] if self.search is None else [search.FOUND[self.search]]
        if self.tags:
            first, *others = (bot_tags.alias() for _ in range(self.tags))
            tagged = select(first.c.seq).where(first.c.tag == bindparam("tag0"))
            for number, other in enumerate(others, 1):
                same = other.c.seq == first.c.seq, other.c.tag == bindparam(f"tag{number}")
                tagged = tagged.where(exists().where(*same))
            sets.append(tagged)
        conditions: list[ColumnElement[bool]] = [
            catalogue.c.seq.in_(select(every.cte(f"set{number}").prefix_with("MATERIALIZED").c.seq))
            for number, every in enumerate(sets)
        ]
        if self.ids:
            conditions.append(catalogue.c.id.in_(bindparam("ids", expanding=True)))
        if self.certified is not None:
            certificate = catalogue.c.certificate
            conditions.append(certificate > 0 if self.certified else certificate <= 0)
        return conditions


@lru_cache(_QUERIES)
def _number(restriction: _Restriction) -> Select[int]:
    return select(func.count()).select_from(catalogue).where(*restriction.conditions())


@lru_cache(_QUERIES)
def _page(restriction: _Restriction, column: str, *, descending: bool) -> Select[int]:
    """Return the query of the bots of a page, as `seq`."""
    source: FromClause = catalogue
    key: ColumnElement[Any]
    if column in COUNTED:
        counters = COUNTERS.subquery()
        source = source.outerjoin(counters, counters.c.bot == catalogue.c.id)
        key = func.coalesce(counters.c[column], 0)
    else:
        key = catalogue.c[column]
    return (
        select(catalogue.c.seq)
        .select_from(source)
        .where(*restriction.conditions())
        .order_by(*(c.desc() if descending else c.asc() for c in (key, catalogue.c.seq)))
        .limit(bindparam("limit"))
        .offset(bindparam("offset"))
    )
