"""Reads and writes of the listing, inside a transaction of the database.

Bots and their records are rows of tables. Each function raises `UnknownError` if there is no such
bot or record. The catalogue, which sorts and searches the list of bots, is derived from the bots'
records: whatever adds or changes a bot brings its row there up to date in the same transaction.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Row,
    Select,
    String,
    Update,
    bindparam,
    case,
    insert,
    select,
    update,
)
from sqlalchemy import delete as sql_delete

from commandsync.records.texts import Resource
from commandsync.server.search import fold, indexed, plain
from commandsync.server.tables import (
    SORTED,
    bot_search,
    bot_words,
    bots,
    catalogue,
    record_tables,
)

_WIRE_NAMES = {"created_at": "createdAt", "updated_at": "updatedAt"}
_PRIVATE = {"seq", "bot"}
_KEYS_OF = select(bots.c.id, bots.c.token_key).where(bots.c.id.in_(bindparam("of", expanding=True)))
_SEQ_OF = select(bots.c.id, bots.c.seq).where(bots.c.id.in_(bindparam("of", expanding=True)))
_BOTS_OF = select(bots).where(bots.c.seq.in_(bindparam("keys", expanding=True)))


class UnknownError(Exception):
    """The bot or record is not in the listing; the message names which."""


def timestamp(moment: datetime) -> str:
    """Return a time, which has a zone, as on the wire: ISO 8601, UTC, milliseconds."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def now() -> str:
    """Return the current time as on the wire."""
    return timestamp(datetime.now(UTC))


def add_bots(connection: Connection, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Add bots by their ids, in their order, with few statements.

    Each is its documented record without id and timestamps.
    """
    moments = dict.fromkeys(("created_at", "updated_at"), now())
    values = [
        {"id": bot, "record": record, "token_key": secrets.token_hex(8), **moments}
        for bot, record in records.items()
    ]
    connection.execute(insert(bots), values)
    keys = {row.id: row.seq for row in connection.execute(_SEQ_OF, {"of": [*records]})}
    wire = {name: moments[column] for column, name in _WIRE_NAMES.items()}
    rows = [
        {"seq": keys[bot], **_columns({**record, "id": bot, **wire})}
        for bot, record in records.items()
    ]
    connection.execute(insert(catalogue), rows)
    words = {keys[bot]: _words(record) for bot, record in records.items()}
    connection.execute(insert(bot_words), [{"seq": seq, "words": words[seq]} for seq in words])
    if connection.dialect.name == "sqlite":  # a trigger would write the index once for each row
        added = select(bot_words).where(bot_words.c.seq.between(min(words), max(words)))
        connection.execute(insert(bot_search).from_select(["rowid", "words"], added))


def token_key_of(connection: Connection, bot: str) -> str:
    """Return the key of a bot's token."""
    keys = token_keys_of(connection, [bot])
    if not keys:
        raise UnknownError("the bot is not known")
    return keys[bot]


def token_keys_of(connection: Connection, of: Collection[str]) -> dict[str, str]:
    """Return the keys of the tokens of the known bots."""
    return {row.id: row.token_key for row in connection.execute(_KEYS_OF, {"of": [*of]})}


def bot_of(connection: Connection, bot: str) -> dict[str, Any]:
    """Return one bot."""
    row = connection.execute(select(bots).where(bots.c.id == bot)).one_or_none()
    if row is None:
        raise UnknownError("the bot is not known")
    return _bot(row)


def bots_of(connection: Connection, keys: Sequence[int]) -> list[dict[str, Any]]:
    """Return the bots with these `seq`, in this order."""
    rows = connection.execute(_BOTS_OF, {"keys": keys})
    by_key = {row.seq: _bot(row) for row in rows}
    return [by_key[key] for key in keys]


def _bot(row: Row[Any]) -> dict[str, Any]:
    moments = {wire: getattr(row, name) for name, wire in _WIRE_NAMES.items()}
    return {**row.record, "id": row.id, **moments}


def check_bot(connection: Connection, bot: str, *, lock: bool = False) -> None:
    """Raise `UnknownError` unless there is such a bot; `lock` it until the transaction ends."""
    query = select(bots.c.seq).where(bots.c.id == bot)
    # Other tables that refer to the bot stay writable: its id does not change.
    query = query.with_for_update(key_share=True) if lock else query
    if connection.execute(query).first() is None:
        raise UnknownError("the bot is not known")


def set_statistics(connection: Connection, bot: str, values: Mapping[str, int]) -> None:
    """Give a bot other statistics than its votes; its time of update does not change."""
    check_bot(connection, bot, lock=True)
    record = connection.execute(select(bots.c.record).where(bots.c.id == bot)).scalar_one()
    changed = {**record, "statistics": record["statistics"] | values}
    connection.execute(update(bots).where(bots.c.id == bot).values(record=changed))
    sorted_by = update(catalogue).where(catalogue.c.id == bot)
    servers = {SORTED["statistics.servers"]: changed["statistics"]["servers"]}
    connection.execute(sorted_by.values(servers))


def records_of(connection: Connection, bot: str, resource: Resource) -> list[dict[str, Any]]:
    """Return a bot's records of one kind, in the order of the additions.

    An empty text is left out.
    """
    query, names = _list_query(resource)
    rows = connection.execute(query, {"of": bot}).all()
    if not rows:
        check_bot(connection, bot)
    return [
        {name: value for name, value in zip(names, row, strict=True) if value != ""} for row in rows
    ]


@cache
def _list_query(resource: Resource) -> tuple[Select[Any], tuple[str, ...]]:
    """Return the query of a bot's list, the most frequent one, and the names on the wire."""
    table = record_tables[resource]
    columns = [column for column in table.c if column.name not in _PRIVATE]
    query = select(*columns).where(table.c.bot == bindparam("of")).order_by(table.c.seq)
    return query, tuple(_WIRE_NAMES.get(column.name, column.name) for column in columns)


def add(
    connection: Connection, bot: str, resource: Resource, values: Mapping[str, str | int]
) -> None:
    """Add a record at the end of a bot's list."""
    # Locks the bot where many may write (SQLite has no such clause): `seq` is then drawn in the
    # order of the commits, so that no reader sees a record appear before a listed one.
    check_bot(connection, bot, lock=True)
    add_all(connection, resource, [(bot, values)])


def add_all(
    connection: Connection, resource: Resource, records: Sequence[tuple[str, Mapping[str, Any]]]
) -> None:
    """Add records, each with its bot, which this transaction has added."""
    table, moment = record_tables[resource], now()
    moments = {name: moment for name in _WIRE_NAMES if name in table.c}
    values = [
        {"id": secrets.token_hex(12), "bot": bot, **columns, **moments} for bot, columns in records
    ]
    if values:
        connection.execute(insert(table), values)


def edit(
    connection: Connection,
    bot: str,
    resource: Resource,
    record: str,
    values: Mapping[str, str | int],
) -> None:
    """Give a record other values."""
    _change(connection, update(record_tables[resource]).values(values), bot, resource, record)


def delete(connection: Connection, bot: str, resource: Resource, record: str) -> None:
    """Delete a record."""
    _change(connection, sql_delete(record_tables[resource]), bot, resource, record)


def _change(
    connection: Connection, query: Update | Delete, bot: str, resource: Resource, record: str
) -> None:
    table = record_tables[resource]
    changed = connection.execute(query.where(table.c.id == record, table.c.bot == bot))
    if changed.rowcount == 0:
        raise UnknownError(f"the bot has no such {resource}")


_LARGEST = 2**53 - 1  # as a number; a seed may contain larger ones, and the databases none
_LONGEST_KEY = 100  # characters; a row of an index has a limit
# The sort keys of a bot: their columns, their places in a record, and their values if absent.
_KEYS = [
    (name, path.split("."), "" if isinstance(catalogue.c[name].type, String) else 0)
    for path, name in SORTED.items()
]
_UNVOTED = {SORTED[f"statistics.{name}Votes"]: 0 for name in ("daily", "weekly", "monthly")}


def count_vote(connection: Connection, bot: str, days: Mapping[str, str]) -> None:
    """Count a vote in the catalogue: in all votes, and in the votes since each of some `days`.

    A recent number has its first day in the upper bits. So the bots of a day, week or month that is
    over sort before the bots of the next one, and no row changes when it begins.
    """
    total = catalogue.c[SORTED["statistics.totalVotes"]]
    values: dict[str, ColumnElement[int]] = {total.name: total + 1}
    for name, first in days.items():
        key = catalogue.c[SORTED[f"statistics.{name}Votes"]]
        none = date.fromisoformat(first).toordinal() << 32
        values[key.name] = case((key > none, key + 1), else_=none + 1)
    connection.execute(update(catalogue).where(catalogue.c.id == bot).values(values))


def _columns(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sort keys of a bot that has no votes yet."""
    keys = {name: _value(record, steps, empty) for name, steps, empty in _KEYS}
    username, rating = SORTED["profile.username"], SORTED["ratings.average"]
    keys[username] = fold(keys[username])
    if _value(record, ("ratings", "average"), None) is None:
        keys[rating] = -1  # below every rating
    for name, value in keys.items():
        text = ", ".join(value) if isinstance(value, list) else value
        if isinstance(text, str):
            keys[name] = text[:_LONGEST_KEY]
        else:
            keys[name] = max(-_LARGEST, min(text + 0, _LARGEST))  # + 0: of a truth value, a number
    return keys | _UNVOTED


def _words(record: Mapping[str, Any]) -> str:
    tags = _value(record, ("information", "tags"), [])
    texts = (
        _value(record, ("profile", "username"), ""),
        _value(record, ("information", "overview"), ""),
        *tags,
    )
    description = plain(_value(record, ("information", "description"), ""))
    certified = _value(record, ("certificate",), 0) > 0
    return indexed(" ".join(texts), description, tags, certified=certified)


def _value(record: Any, path: Sequence[str], missing: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value of a record; `missing` if it is null or absent."""
    try:
        for name in path:
            record = record[name]
    except KeyError:
        return missing
    return missing if record is None else record
