"""Votes and their events: cast, counted, reminded of, and added to the outbox of the gateway.

An event is added to the outbox, a table, in the transaction that causes it: it is committed with
its vote or not at all. Its number gives its place, and the order of the numbers is the order in
which the events are committed. `gateway.py` delivers them.

A user votes for a bot at most once in an interval. The database keeps this rule: a voter has one
row, and a vote changes it only if its time has come. Of two votes at once, the second one waits for
the first, and is too early. The counters of a bot are sums of the votes of its days, since a day,
week or month began in UTC.

When a voter may vote again, the bot gets a reminder. It waits until its bot is connected, here or
at another process of the database. It is claimed and added to the outbox in one transaction: it is
sent once, whatever ends the service and however many processes serve one database.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any, Literal

from sqlalchemy import (
    Connection,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from commandsync.server import database, storage
from commandsync.server.database import Database
from commandsync.server.tables import outbox, vote_days, voters, votes

EventName = Literal["vote", "reminder"]

_LOCK = 0x636F6D6D  # of the writers of the outbox


def add_event(
    connection: Connection, bot: str, event: EventName, data: Mapping[str, Any], *, at: datetime
) -> None:
    """Add an event to the outbox, in a transaction that writes; `at` is its time.

    A reader that has seen a number never finds a smaller one later.
    """
    database.wait_alone(connection, _LOCK)
    values = {"bot": bot, "event": event, "data": data, "created_at": storage.timestamp(at)}
    connection.execute(insert(outbox).values(values))


def last_event(connection: Connection) -> int:
    """Return the number of the last event; 0 if there is none."""
    number: int = connection.execute(select(func.coalesce(func.max(outbox.c.seq), 0))).scalar_one()
    return number


def events_after(connection: Connection, seq: int, limit: int) -> Sequence[Any]:
    """Return the events that follow a number, in their order and at most `limit`.

    Each has its number `seq`, its `bot`, its name `event`, and its `data` as on the wire.
    """
    query = (
        select(outbox.c.seq, outbox.c.bot, outbox.c.event, outbox.c.data)
        .where(outbox.c.seq > seq)
        .order_by(outbox.c.seq)
        .limit(limit)
    )
    return connection.execute(query).all()


def prune_events(connection: Connection, *, before: datetime) -> None:
    """Delete the events from before a time; no client waits for one of them."""
    database.wait_alone(connection, _LOCK)
    connection.execute(delete(outbox).where(outbox.c.created_at < storage.timestamp(before)))


INTERVAL = timedelta(hours=12)
"""The time between two votes of a user for a bot, by default."""


MOST_AT_ONCE = 500
"""Reminders of one transaction: other writes never wait long, and a client can read them."""

_KEPT = timedelta(days=1)

_number = func.sum(vote_days.c.votes)
_SINCE = [
    func.coalesce(_number.filter(vote_days.c.day >= bindparam(name)), 0)
    for name in ("daily", "weekly", "monthly")
]
_COUNTERS = (
    select(vote_days.c.bot, *_SINCE, _number)
    .where(vote_days.c.bot.in_(bindparam("bots", expanding=True)))
    .group_by(vote_days.c.bot)
)
"""The query of the counters of `bots`, since `days`; a bot without votes has none."""


class TooEarlyError(Exception):
    """The user has voted for the bot, and may vote again in so many seconds."""

    def __init__(self, user: str, seconds: int) -> None:
        minutes = -(-seconds // 60)  # rounded up: not sooner than that
        parts = (minutes // 60, "h"), (minutes % 60, "min")
        left = " ".join(f"{number} {unit}" for number, unit in parts if number)
        left = left if minutes > 1 else f"{seconds} s"
        super().__init__(f"user {user} has voted, and may vote again in {left}")
        self.seconds = seconds


def cast(
    connection: Connection,
    bot: str,
    user: Mapping[str, Any],
    *,
    at: datetime,
    interval: timedelta = INTERVAL,
) -> None:
    """Cast the vote of a user for a bot, and add its event to the outbox, in a transaction.

    The user is as on the wire: at least `id` and `username`. Raises `UnknownError` without such a
    bot, and `TooEarlyError` while the interval of the last vote is not over.
    """
    storage.check_bot(connection, bot, lock=True)  # first, as `remove_bot` does
    account = account_of(storage.bot_of(connection, bot))
    moment, next_at = storage.timestamp(at), storage.timestamp(at + interval)
    turn = {"record": user, "next_at": next_at, "remind_at": next_at}
    take_turn = (
        _insert(connection, voters)
        .values(bot=bot, user=user["id"], **turn)
        .on_conflict_do_update(
            index_elements=["bot", "user"], set_=turn, where=voters.c.next_at <= moment
        )
        .returning(voters.c.seq)
    )
    if connection.execute(take_turn).first() is None:
        left = datetime.fromisoformat(_next_at(connection, bot, user["id"])) - at
        raise TooEarlyError(user["id"], ceil(left.total_seconds()))
    connection.execute(insert(votes).values(bot=bot, user=user["id"], voted_at=moment))
    count = _insert(connection, vote_days).values(bot=bot, day=day(at), votes=1)
    more = {"votes": vote_days.c.votes + 1}
    connection.execute(count.on_conflict_do_update(index_elements=["bot", "day"], set_=more))
    storage.count_vote(connection, bot, days(at))
    add_event(connection, bot, "vote", {"user": user, "bot": account}, at=at)


def account_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a bot as it appears in the data of an event (wire notes: `id` and `username`)."""
    profile = record["profile"]
    return {"id": record["id"], "username": profile["username"], "avatar": profile["avatar"]}


def day(moment: datetime) -> str:
    """Return the day of a time, such as `2026-03-04`, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def days(at: datetime) -> dict[str, str]:
    """Return the days that the counters of a time begin with; weeks begin on Monday."""
    today = at.astimezone(UTC)
    return {
        "daily": day(today),
        "weekly": day(today - timedelta(days=today.weekday())),
        "monthly": day(today.replace(day=1)),
    }


def with_counts(
    connection: Connection, records: Sequence[dict[str, Any]], *, at: datetime
) -> list[dict[str, Any]]:
    """Return bots with their counters; a stored `totalVotes` is the votes from before."""
    bots = [record["id"] for record in records]
    rows = connection.execute(_COUNTERS, {"bots": bots, **days(at)})
    counted = {bot: counts for bot, *counts in rows}
    changed = []
    for record in records:
        stored = record["statistics"]
        daily, weekly, monthly, total = counted.get(record["id"], [0] * 4)
        recent = {"dailyVotes": daily, "weeklyVotes": weekly, "monthlyVotes": monthly}
        statistics = {**stored, **recent, "totalVotes": total + stored["totalVotes"]}
        changed.append({**record, "statistics": statistics})
    return changed


def counted_bot(connection: Connection, bot: str, *, at: datetime) -> dict[str, Any]:
    """Return one bot with its counters; raises `UnknownError`."""
    (record,) = with_counts(connection, [storage.bot_of(connection, bot)], at=at)
    return record


def voters_of(
    connection: Connection, bot: str, *, page: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of a bot's votes, the newest first, and the number of pages.

    Each is the user of the vote, with its time; who voted twice is listed twice.
    """
    storage.check_bot(connection, bot)
    newest = votes.c.voted_at.desc(), votes.c.seq.desc()
    keys = select(votes.c.seq).where(votes.c.bot == bot).order_by(*newest)
    keys = keys.limit(limit).offset((page - 1) * limit)  # the index has these: far pages are quick
    rows = connection.execute(
        select(voters.c.record, votes.c.voted_at)
        .join(voters, (voters.c.bot == votes.c.bot) & (voters.c.user == votes.c.user))
        .where(votes.c.seq.in_(keys))
        .order_by(*newest)
    )
    records = [{**row.record, "votedAt": row.voted_at} for row in rows]
    total = select(func.coalesce(func.sum(vote_days.c.votes), 0)).where(vote_days.c.bot == bot)
    return records, max(1, ceil(connection.execute(total).scalar_one() / limit))


def has_voted(connection: Connection, bot: str, user: str, *, at: datetime) -> bool:
    """Return whether the interval of a user's last vote for a bot is not over."""
    storage.check_bot(connection, bot)
    return bool(next_vote(connection, bot, user, at=at))


def next_vote(connection: Connection, bot: str, user: str, *, at: datetime) -> str:
    """Return when a user may vote for a bot again, as on the wire; empty for now."""
    moment = _next_at(connection, bot, user)
    return moment if moment > storage.timestamp(at) else ""


def _insert(connection: Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an insertion that can change a row instead, which standard SQL does not have."""
    on_postgresql = connection.dialect.name == "postgresql"
    return postgresql.insert(table) if on_postgresql else sqlite.insert(table)


def _next_at(connection: Connection, bot: str, user: str) -> str:
    query = select(voters.c.next_at).where(voters.c.bot == bot, voters.c.user == user)
    return connection.execute(query).scalar() or ""


def send_due(database: Database, bots: set[str], at: datetime) -> int:
    """Send some reminders of bots that are due at a time, and return how many.

    Events of the outbox that are older than a day are deleted on the way.
    """
    due = voters.c.bot.in_(bots), voters.c.remind_at <= storage.timestamp(at)
    with database.reading() as connection:
        if connection.execute(select(voters.c.seq).where(*due).limit(1)).first() is None:
            return 0
    with database.writing() as connection:
        first = (
            select(voters.c.seq)
            .where(*due)
            .order_by(voters.c.remind_at, voters.c.seq)
            .limit(MOST_AT_ONCE)
            .with_for_update()  # on PostgreSQL: one process after the other
        )
        claim = (
            update(voters)
            .where(voters.c.seq.in_(first))
            .values(remind_at=None)
            .returning(voters.c.next_at, voters.c.seq, voters.c.bot, voters.c.record)
        )
        rows = sorted(connection.execute(claim), key=lambda row: (row.next_at, row.seq))
        accounts = {
            bot: account_of(storage.bot_of(connection, bot)) for bot in {row.bot for row in rows}
        }
        for row in rows:
            data = {"user": row.record, "bot": accounts[row.bot]}
            add_event(connection, row.bot, "reminder", data, at=at)
        sent = len(rows)
        prune_events(connection, before=at - _KEPT)
    return sent
