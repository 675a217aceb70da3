"""The catalogue: what the list of bots is sorted and searched by, inside a transaction.

Its tables are derived from the bots' records: `add` and `refresh` keep them up to date.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from commandsync.server.search import fold, indexed, plain
from commandsync.server.tables import SORTED, bot_words, bots, catalogue, vote_days

_LARGEST = 2**53 - 1  # as a number; a seed may contain larger ones, and the databases none
_LONGEST_KEY = 100  # characters; a row of an index has a limit
_EMPTY: dict[str, Any] = {"username": "", "average_rating": -1}  # -1: below every rating


_VOTES = select(func.coalesce(func.sum(vote_days.c.votes), 0)).where(vote_days.c.bot == bots.c.id)
_BOTS = select(bots, _VOTES.scalar_subquery().label("votes"))


def add(connection: Connection, bot: str) -> None:
    """Add a bot that was added to the listing."""
    _insert(connection, [_row(connection, bot)])


def refresh(connection: Connection, bot: str) -> None:
    """Read a bot again after a change of its record, in a transaction that has locked it."""
    row = _row(connection, bot)
    words = _words(row.record)
    connection.execute(update(catalogue).where(catalogue.c.seq == row.seq).values(_columns(row)))
    connection.execute(
        # Only words that have changed: their index is the largest part of the catalogue.
        update(bot_words)
        .where(bot_words.c.seq == row.seq, bot_words.c.words != words)
        .values(words=words)
    )


def count_vote(connection: Connection, bot: str) -> None:
    """Count a vote, in its own transaction, in the number of all votes."""
    more = update(catalogue).where(catalogue.c.id == bot)
    connection.execute(more.values(total_votes=catalogue.c.total_votes + 1))


def _row(connection: Connection, bot: str) -> Row[Any]:
    return connection.execute(_BOTS.where(bots.c.id == bot)).one()


def _insert(connection: Connection, rows: Sequence[Row[Any]]) -> None:
    connection.execute(insert(catalogue), [{"seq": row.seq, **_columns(row)} for row in rows])
    words = [{"seq": row.seq, "words": _words(row.record)} for row in rows]
    connection.execute(insert(bot_words), words)


def _columns(row: Row[Any]) -> dict[str, Any]:
    record = {**row.record, "id": row.id, "createdAt": row.created_at, "updatedAt": row.updated_at}
    columns = {
        column: _value(record, path, _EMPTY.get(column, 0))
        for path, (column, kind) in SORTED.items()
        if kind
    }
    columns["username"] = fold(columns["username"])[:_LONGEST_KEY]
    columns["total_votes"] += row.votes
    return {
        name: value if isinstance(value, str) else max(-_LARGEST, min(value, _LARGEST))
        for name, value in columns.items()
    }


def _words(record: Mapping[str, Any]) -> str:
    tags = _value(record, "information.tags", [])
    texts = (
        _value(record, "profile.username", ""),
        _value(record, "information.overview", ""),
        *tags,
        plain(_value(record, "information.description", "")),
    )
    certified = _value(record, "certificate", 0) > 0
    return indexed(" ".join(texts), tags, certified=certified)


def _value(record: Any, path: str, missing: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of a record; `missing` for null, and for a field of a newer release."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return missing if record is None else record
