"""An embedded service whose application and database a test can reach.

Votes are cast there at given times, and their events are read from the outbox.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from fastapi import FastAPI
from sqlalchemy import Engine, event

from commandsync.server import votes
from commandsync.server.administration import Seed, create_bots
from commandsync.server.database import Database
from commandsync.server.service import create_app, running
from tests.support.bots import Bot, Service

_NUMBERS = count(1)


@dataclass
class Inside(Service):
    """A service, and its application."""

    app: FastAPI

    def add(self, *bots: dict[str, Any]) -> list[Bot]:
        """Create bots with these documented fields; one without an id gets one."""
        records = [{"id": f"bot-{next(_NUMBERS)}", **bot} for bot in bots]
        seeds = (Seed.model_validate({"bots": [record]}) for record in records)
        created = [bot for seed in seeds for bot in create_bots(seed, self.database)]
        return [Bot(bot.id, bot.token, self.url, self.database) for bot in created]


@contextmanager
def seen_inside(path: str) -> Iterator[Inside]:
    """Run a service on a database file."""
    made: list[tuple[Database, FastAPI]] = []

    def application(database: Database) -> FastAPI:
        made.append((database, create_app(database)))
        return made[0][1]

    with running(path, application=application) as started:
        yield Inside(started.url, *made[0])


@contextmanager
def statements_with(words: str, database: Database | None = None) -> Iterator[list[str]]:
    """Yield the statements with these words that a database executes, or all of this process."""
    engine = database._engine if database else Engine  # noqa: SLF001 - to see its statements
    found: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        if words in statement:
            found.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        event.remove(engine, "before_cursor_execute", note)


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
        return votes.events_after(connection, 0, 1_000_000)


def told(database: Database) -> list[tuple[str, str]]:
    """Return the events of the outbox: what happened, and to whom."""
    return [(entry.event, entry.data["user"]["id"]) for entry in entries(database)]
