"""Votes: cast, listed, counted, inside a transaction of the database.

A user votes for a bot at most once in an interval. The database keeps this rule: a voter has one
row, and a vote changes it only if its time has come. Two votes at once change it one after the
other, and the second one is too early.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from commandsync.server import catalogue, counters, outbox, storage
from commandsync.server.tables import vote_days, voters, votes

INTERVAL = timedelta(hours=12)
"""The time between two votes of a user for a bot, by default."""


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
    storage.check_bot(connection, bot, lock=True)  # first, as whoever removes the bot does
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
    count = _insert(connection, vote_days).values(bot=bot, day=counters.day(at), votes=1)
    more = {"votes": vote_days.c.votes + 1}
    connection.execute(count.on_conflict_do_update(index_elements=["bot", "day"], set_=more))
    catalogue.count_vote(connection, bot)
    outbox.add(connection, bot, "vote", {"user": user, "bot": account}, at=at)


def account_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return a bot as it appears in the data of an event (wire notes: `id` and `username`)."""
    profile = record["profile"]
    return {"id": record["id"], "username": profile["username"], "avatar": profile["avatar"]}


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
