import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import text

from commandsync.server import broadcast, votes
from commandsync.server.broadcast import Broadcast, Client
from commandsync.server.database import Database, opened
from tests.support.votes import BOT, NOON, cast, entries, told, user

pytestmark = pytest.mark.usefixtures("two_bots")
BOTS = {"42", "43"}
HALF_DAY = timedelta(hours=12)
MOMENT = timedelta(milliseconds=1)
LONGEST = 30  # seconds that a test waits before it gives up


def reminded(database: Database) -> list[str]:
    return [voter for event, voter in told(database) if event == "reminder"]


def test_a_reminder_is_sent_when_it_is_due_and_its_bot_connected(
    database: Database,
) -> None:
    cast(database, "1", NOON)
    early = votes.send_due(database, BOTS, NOON + HALF_DAY - MOMENT), reminded(database)
    away = votes.send_due(database, {"43"}, NOON + HALF_DAY), reminded(database)
    late = votes.send_due(database, BOTS, NOON + HALF_DAY), reminded(database)

    assert (early, away) == ((MOMENT, []), (timedelta.max, []))
    assert late == (timedelta.max, ["1"])
    assert entries(database)[-1].data == {"user": user("1"), "bot": BOT}


def test_reminders_come_in_the_order_in_which_they_are_due(database: Database) -> None:
    voters = [str(number) for number in range(250)]  # more than one transaction sends
    for number, voter in enumerate(voters):
        cast(database, voter, NOON + number * MOMENT, bot="43" if number % 2 else "42")
    late = NOON + HALF_DAY + 199 * MOMENT
    more, left = [votes.send_due(database, BOTS, late) for _ in range(2)]
    first = reminded(database)
    votes.send_due(database, BOTS, NOON + timedelta(hours=13))

    assert more <= timedelta()
    assert (left, first, reminded(database)) == (MOMENT, voters[:200], voters)


def test_processes_on_one_database_send_each_reminder_once(
    database: Database, database_url: str
) -> None:
    together = Barrier(2)
    with opened(database_url) as other:
        for number in range(150):
            cast(database, str(number), NOON)

        def send(handle: Database) -> None:
            together.wait()
            for _ in range(2):
                votes.send_due(handle, BOTS, NOON + HALF_DAY)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(send, (database, other)))

        assert sorted(reminded(database)) == sorted(str(number) for number in range(150))


class Clock:
    """A clock that is set by hand, and reports when it was read."""

    def __init__(self) -> None:
        self.time = NOON
        self.reads = asyncio.Queue[datetime]()

    def __call__(self) -> datetime:
        self.reads.put_nowait(self.time)
        return self.time


def test_the_end_does_not_wait_for_a_pause(database: Database) -> None:
    async def run() -> None:
        clock = Clock()
        broadcast = Broadcast(database)
        async with votes.sending(database, broadcast, interval=HALF_DAY, now=clock):
            await clock.reads.get()

    asyncio.run(asyncio.wait_for(run(), LONGEST))


def test_a_failure_of_the_database_is_logged_and_tried_again(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    cast(database, "1", NOON)

    async def run() -> None:
        clock = Clock()
        clock.time += HALF_DAY
        short = timedelta(milliseconds=1)
        rename(database, "outbox", "away")
        broadcast = Broadcast(database)
        broadcast.join(Client("42", 0, "key"))
        async with votes.sending(database, broadcast, interval=short, now=clock):
            for _ in range(2):
                await asyncio.wait_for(clock.reads.get(), LONGEST)
            rename(database, "away", "outbox")
            for _ in range(3):
                await asyncio.wait_for(clock.reads.get(), LONGEST)

    with caplog.at_level(logging.WARNING, "commandsync.server"):
        asyncio.run(run())

    assert reminded(database) == ["1"]
    assert "reminders could not" in caplog.text


def rename(database: Database, table: str, name: str) -> None:
    with database.writing() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {name}"))


def test_old_events_are_deleted_with_the_next_reminder(database: Database) -> None:
    with database.writing() as connection:
        broadcast.add_event(connection, "42", "vote", {}, at=NOON - timedelta(days=2))
    cast(database, "1", NOON)
    votes.send_due(database, BOTS, NOON + HALF_DAY)

    assert told(database) == [("vote", "1"), ("reminder", "1")]
