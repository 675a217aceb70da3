"""Reminders: the event that tells a bot that a voter may vote again.

A reminder waits until its bot is connected, here or at another process of the database. It is
claimed and added to the outbox in one transaction: it is sent once, whatever ends the service and
however many processes serve one database.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from commandsync.server import outbox, storage
from commandsync.server.broadcast import Broadcast
from commandsync.server.database import Database
from commandsync.server.tables import bots as all_bots
from commandsync.server.tables import voters
from commandsync.server.votes import account_of

_KEPT = timedelta(days=1)
_MOST = 100  # of one transaction, so that votes and other writes never wait long
_LONGEST_PAUSE = timedelta(minutes=1)
_SHORTEST_PAUSE = timedelta(seconds=0.1)  # so that a client can read what it missed

# The index has the first of each bot.
_first = select(func.min(voters.c.remind_at)).where(voters.c.bot == all_bots.c.id)
_NEXT = select(func.min(_first.scalar_subquery())).where(
    all_bots.c.id.in_(bindparam("bots", expanding=True))
)

_log = logging.getLogger("commandsync.server")


@asynccontextmanager
async def sending(
    database: Database, broadcast: Broadcast, *, interval: timedelta, now: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Send reminders when they are due and their bots connected, for as long as the block lasts.

    A vote that is cast during a pause is due after `interval`, and so no pause is longer.
    """
    ending = False
    longest = min(interval, _LONGEST_PAUSE)

    async def send() -> None:
        while not ending:
            pause = longest
            broadcast.joined.clear()
            try:
                due = await asyncio.to_thread(send_due, database, broadcast.bots(), now())
                pause = min(pause, max(due, _SHORTEST_PAUSE))
            except SQLAlchemyError as error:
                # Its words are left out: they may contain parts of the database's URL.
                name = type(error).__name__
                _log.warning("reminders could not be sent, next try in %s: %s", pause, name)
            with suppress(TimeoutError):
                await asyncio.wait_for(broadcast.joined.wait(), pause.total_seconds())

    task = asyncio.create_task(send())
    try:
        yield
    finally:
        ending = True
        broadcast.joined.set()
        await task


def send_due(database: Database, bots: set[str], at: datetime) -> timedelta:
    """Send some reminders of bots that are due at a time; return the time until the next one is.

    Events of the outbox that are older than a day are deleted on the way.
    """
    left = _until_next(database, bots, at)
    if left <= timedelta():
        with database.writing() as connection:
            _send(connection, bots, at)
            outbox.prune(connection, before=at - _KEPT)
        left = _until_next(database, bots, at)
    return left


def _until_next(database: Database, bots: set[str], at: datetime) -> timedelta:
    with database.reading() as connection:
        next_at = connection.execute(_NEXT, {"bots": [*bots]}).scalar()
    return datetime.fromisoformat(next_at) - at if next_at else timedelta.max


def _send(connection: Connection, bots: set[str], at: datetime) -> None:
    """Claim reminders that are due, the oldest first, and add their events."""
    due = (
        select(voters.c.seq)
        .where(voters.c.bot.in_(bots), voters.c.remind_at <= storage.timestamp(at))
        .order_by(voters.c.remind_at, voters.c.seq)
        .limit(_MOST)
        .with_for_update()  # on PostgreSQL: one process after the other
    )
    claim = (
        update(voters)
        .where(voters.c.seq.in_(due))
        .values(remind_at=None)
        .returning(voters.c.next_at, voters.c.seq, voters.c.bot, voters.c.record)
    )
    rows = sorted(connection.execute(claim), key=lambda row: (row.next_at, row.seq))
    accounts = {
        bot: account_of(storage.bot_of(connection, bot)) for bot in {row.bot for row in rows}
    }
    for row in rows:
        data = {"user": row.record, "bot": accounts[row.bot]}
        outbox.add(connection, row.bot, "reminder", data, at=at)
