"""The catalogue: the list of bots, sorted, restricted and searched, inside a transaction.

Its tables are derived from the bots' records: `add` and `refresh` keep them up to date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update

from commandsync.server import search
from commandsync.server.search.words import LONGEST_TEXT, fold, parts, plain
from commandsync.server.tables import bot_tags, bot_words, bots, catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, FromClause, Row, Select

SORTABLE = {
    "id": "id",
    "profile.username": "username",
    "statistics.servers": "servers",
    "statistics.totalVotes": "total_votes",
    "statistics.dailyVotes": "daily_votes",
    "statistics.weeklyVotes": "weekly_votes",
    "statistics.monthlyVotes": "monthly_votes",
    "ratings.average": "average_rating",
    "ratings.total": "ratings",
    "certificate": "certificate",
    "state": "state",
    "status": "status",
    "createdAt": "created_at",
    "updatedAt": "updated_at",
}
"""The fields of a bot that lists are sorted by, and their columns."""

_BY_NAME = {path.rpartition(".")[2]: column for path, column in SORTABLE.items()} | SORTABLE
SORT_PATTERN = f"^(-?({'|'.join(map(re.escape, _BY_NAME))}))?$"
"""The values of `sort`, as a regular expression."""

_COUNTED = {"daily_votes", "weekly_votes", "monthly_votes"}  # with each list, from the votes
_LARGEST = 2**53 - 1  # as a number; a seed may contain larger ones, and the databases none
_LONGEST_KEY = 100  # characters; a row of an index has a limit
_EMPTY: dict[str, Any] = {"username": "", "average_rating": -1}  # -1: below every rating
_AT_ONCE = 500  # bots


class BadSortError(Exception):
    """The list cannot be sorted so; the message names the fields that it can be sorted by."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list of bots is asked for.

    Attributes:
        page: The page, from 1, of `limit` bots.
        q: The text to search; without words it restricts nothing.
        sort: The field to sort by, with or without its path, after a `-` in descending order; empty
            for the order of the additions.
        ids: The bots to choose from.
        certified: Whether only certified bots are listed, or only others.
        tags: Tags that a listed bot has, all of them.
    """

    page: int = 1
    limit: int = 12
    q: str = ""
    sort: str = ""
    ids: tuple[str, ...] | None = None
    certified: bool | None = None
    tags: tuple[str, ...] = ()


def fill(connection: Connection) -> None:
    """Add the bots that are not in the catalogue: those of an older release."""
    missing = (
        select(bots)
        .where(bots.c.seq.not_in(select(catalogue.c.seq)))
        .order_by(bots.c.seq)
        .limit(_AT_ONCE)
    )
    while rows := connection.execute(missing).all():
        _insert(connection, rows)


def add(connection: Connection, bot: str) -> None:
    """Add a bot that was added to the listing."""
    _insert(connection, [_row(connection, bot)])


def refresh(connection: Connection, bot: str) -> None:
    """Read a bot's record again after a change; its number of votes is not part of it."""
    row = _row(connection, bot)
    columns, words = _columns(row), _words(row.record)
    del columns["total_votes"]
    connection.execute(update(catalogue).where(catalogue.c.seq == row.seq).values(columns))
    connection.execute(
        # Only words that have changed: their index is the largest part of the catalogue.
        update(bot_words)
        .where(bot_words.c.seq == row.seq, bot_words.c.words != words)
        .values(words=words)
    )
    connection.execute(delete(bot_tags).where(bot_tags.c.seq == row.seq))
    _insert_tags(connection, [row])


def count_vote(connection: Connection, bot: str) -> None:
    """Count a vote, in its own transaction, in the number of all votes."""
    more = update(catalogue).where(catalogue.c.id == bot)
    connection.execute(more.values(total_votes=catalogue.c.total_votes + 1))


def find(
    connection: Connection, wanted: Wanted, *, votes: Callable[[], Select[Any]]
) -> tuple[list[int], int]:
    """Return the bots of a page, as `seq`, and the number of bots on all pages.

    Args:
        connection: A transaction that sees one state of the database.
        wanted: The page.
        votes: Makes the query of the counters of recent votes, by `bot`, if they are sorted by.

    Raises:
        BadSortError: The field to sort by is not known.
    """
    column, descending = _order(wanted.sort)
    matches, conditions = _restricted(connection, wanted)
    # Matches are counted alone where they can be: a frequent word has a hundred thousand.
    counting = matches if matches and not conditions else [*matches, catalogue]
    counted = select(func.count()).select_from(_joined(counting)).where(*conditions)
    number: int = connection.execute(counted).scalar_one()
    first = (wanted.page - 1) * wanted.limit
    if first >= number:
        return [], number
    after = max(0, number - first - wanted.limit)
    # The rows before the page are walked, or those after it, whichever are fewer.
    backwards = after < first
    source = _joined([*matches, catalogue])
    key: ColumnElement[Any]
    if column in _COUNTED:
        counters = votes().subquery()
        source = source.outerjoin(counters, counters.c.bot == catalogue.c.id)
        key = func.coalesce(counters.c[column], 0)
    else:
        key = catalogue.c[column]
    query = (
        select(catalogue.c.seq)
        .select_from(source)
        .where(*conditions)
        .order_by(
            *(c.desc() if descending != backwards else c.asc() for c in (key, catalogue.c.seq))
        )
        .limit(min(wanted.limit, number - first))
        .offset(after if backwards else first)
    )
    found = list(connection.execute(query).scalars())
    return found[::-1] if backwards else found, number


def _order(sort: str) -> tuple[str, bool]:
    """Return the column to sort by, and whether in descending order."""
    if not sort:
        return "seq", False
    name = sort.removeprefix("-")
    if name not in _BY_NAME:
        raise BadSortError(
            f"sort must be one of {', '.join(SORTABLE)}; the path before the name may be left out, "
            "and a - in front sorts in descending order"
        )
    return _BY_NAME[name], name != sort


def _restricted(
    connection: Connection, wanted: Wanted
) -> tuple[list[FromClause], list[ColumnElement[bool]]]:
    """Return tables of matches, which all contain a listed bot, and conditions on the catalogue."""
    matches: list[FromClause] = []
    conditions: list[ColumnElement[bool]] = []
    if searched := parts(wanted.q):
        matches.append(search.found(connection, searched).subquery())
    matches.extend(
        select(bot_tags.c.seq).where(bot_tags.c.tag == tag).subquery()
        for tag in map(_tag, wanted.tags)
    )
    if wanted.ids is not None:
        conditions.append(catalogue.c.id.in_(wanted.ids))
    if wanted.certified is not None:
        certificate = catalogue.c.certificate
        conditions.append(certificate > 0 if wanted.certified else certificate <= 0)
    return matches, conditions


def _joined(tables: Sequence[FromClause]) -> FromClause:
    """Return the rows that have the same `seq` in all tables."""
    first, *others = tables
    source = first
    for table in others:
        source = source.join(table, table.c.seq == first.c.seq)
    return source


def _row(connection: Connection, bot: str) -> Row[Any]:
    return connection.execute(select(bots).where(bots.c.id == bot)).one()


def _insert(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    connection.execute(insert(catalogue), [{"seq": row.seq, **_columns(row)} for row in rows])
    words = [{"seq": row.seq, "words": _words(row.record)} for row in rows]
    connection.execute(insert(bot_words), words)
    _insert_tags(connection, rows)


def _insert_tags(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    tags = [{"seq": row.seq, "tag": tag} for row in rows for tag in _tags(row.record)]
    if tags:
        connection.execute(insert(bot_tags), tags)


def _columns(row: Row[Any]) -> dict[str, Any]:
    """Return the columns of the catalogue that are read from a bot's record."""
    record = {**row.record, "id": row.id, "createdAt": row.created_at, "updatedAt": row.updated_at}
    columns = {
        column: _value(record, path, _EMPTY.get(column, 0))
        for path, column in SORTABLE.items()
        if column not in _COUNTED
    }
    columns["username"] = fold(columns["username"])[:_LONGEST_KEY]
    return {
        name: value if isinstance(value, str) else max(-_LARGEST, min(value, _LARGEST))
        for name, value in columns.items()
    }


def _words(record: Mapping[str, Any]) -> str:
    texts = (
        _value(record, "profile.username", ""),
        _value(record, "information.overview", ""),
        *_value(record, "information.tags", []),
        plain(_value(record, "information.description", "")),
    )
    return fold(" ".join(texts))[:LONGEST_TEXT]


def _value(record: Any, path: str, missing: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of a record; `missing` for null, and for a field of a newer release."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return missing if record is None else record


def _tags(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the folded tags of a bot, each once."""
    yield from dict.fromkeys(filter(None, map(_tag, _value(record, "information.tags", []))))


def _tag(text: str) -> str:
    return fold(text)[:_LONGEST_KEY]
