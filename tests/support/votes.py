"""Votes in a database of a test: a bot, its votes at given times, and what came of them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from commandsync.server import broadcast, votes
from commandsync.server.administration import Seed, create_bots
from commandsync.server.database import Database

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)  # a Wednesday
BOT = {"id": "42", "username": "Lantern", "avatar": ""}


def with_bots(database: Database, *bots: str, total: int = 0) -> None:
    """Create bots, with this many votes from before each."""
    seeds = [
        {"id": bot, "profile": {"username": "Lantern"}, "statistics": {"totalVotes": total}}
        for bot in bots
    ]
    create_bots(Seed.model_validate({"bots": seeds}), database)


def user(identifier: str) -> dict[str, Any]:
    return {"id": identifier, "username": f"u{identifier}", "avatar": ""}


def cast(
    database: Database,
    voter: str,
    at: datetime,
    *,
    bot: str = "42",
    interval: timedelta = votes.INTERVAL,
) -> None:
    with database.writing() as connection:
        votes.cast(connection, bot, user(voter), at=at, interval=interval)


def entries(database: Database) -> Sequence[Any]:
    with database.reading() as connection:
        return broadcast.events_after(connection, 0, 1_000_000)


def told(database: Database) -> list[tuple[str, str]]:
    """Return the events of the outbox: what happened, and to whom."""
    return [(entry.event, entry.data["user"]["id"]) for entry in entries(database)]
