"""The counters of a bot: sums of the votes of its days, since a day, week or month began in UTC."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from commandsync.server import storage
from commandsync.server.tables import vote_days

_number = func.sum(vote_days.c.votes)
_SINCE = [
    func.coalesce(_number.filter(vote_days.c.day >= bindparam(name)), 0)
    for name in ("daily_votes", "weekly_votes", "monthly_votes")
]
_COUNTERS = (
    select(vote_days.c.bot, *_SINCE, _number)
    .where(vote_days.c.bot.in_(bindparam("bots", expanding=True)))
    .group_by(vote_days.c.bot)
)
"""The query of the counters of `bots`, since `days`; a bot without votes has none."""


def day(moment: datetime) -> str:
    """Return the day of a time, such as `2026-03-04`, in UTC."""
    return moment.astimezone(UTC).date().isoformat()


def days(at: datetime) -> dict[str, str]:
    """Return the days that the counters of a time begin with; weeks begin on Monday."""
    today = at.astimezone(UTC)
    return {
        "daily_votes": day(today),
        "weekly_votes": day(today - timedelta(days=today.weekday())),
        "monthly_votes": day(today.replace(day=1)),
    }


def with_counts(
    connection: Connection, records: Sequence[dict[str, Any]], *, at: datetime
) -> list[dict[str, Any]]:
    """Return bots with their counters; a stored `totalVotes` is the votes from before."""
    bots = [record["id"] for record in records]
    rows = connection.execute(_COUNTERS, {"bots": bots, **days(at)})
    counted = {bot: counts for bot, *counts in rows}
    return [_with_counts(record, counted.get(record["id"], [0] * 4)) for record in records]


def counted_bot(connection: Connection, bot: str, *, at: datetime) -> dict[str, Any]:
    """Return one bot with its counters; raises `UnknownError`."""
    (record,) = with_counts(connection, [storage.bot_of(connection, bot)], at=at)
    return record


def _with_counts(record: dict[str, Any], counts: list[int]) -> dict[str, Any]:
    daily, weekly, monthly, total = counts
    stored = record["statistics"]
    recent = {"dailyVotes": daily, "weeklyVotes": weekly, "monthlyVotes": monthly}
    total += stored["totalVotes"]
    return {**record, "statistics": {**stored, **recent, "totalVotes": total}}
