import asyncio
import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from threading import Barrier, Thread

import pytest
from sqlalchemy import text

from commandsync.server import outbox, reminders
from commandsync.server.database import Database, opened
from tests.support.votes import BOT, NOON, cast, entries, told, user, with_bots

HALF_DAY = timedelta(hours=12)
MOMENT = timedelta(milliseconds=1)
LONGEST = 30  # seconds that a test waits before it gives up


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with opened(database_url) as handle:
        with_bots(handle, "42", "43")
        yield handle


def reminded(database: Database) -> list[str]:
    return [voter for event, voter in told(database) if event == "reminder"]


def test_a_reminder_is_sent_when_the_user_may_vote_again(database: Database) -> None:
    cast(database, "1", NOON)
    early = reminders.send_due(database, NOON + HALF_DAY - MOMENT), reminded(database)
    late = reminders.send_due(database, NOON + HALF_DAY), reminded(database)

    assert early == (MOMENT, [])
    assert late == (timedelta.max, ["1"])
    assert entries(database)[-1].data == {"user": user("1"), "bot": BOT}


def test_reminders_come_in_the_order_in_which_they_are_due(database: Database) -> None:
    voters = [str(number) for number in range(250)]  # more than one transaction sends
    for number, voter in enumerate(voters):
        cast(database, voter, NOON + number * MOMENT, bot="43" if number % 2 else "42")
    left = reminders.send_due(database, NOON + HALF_DAY + 199 * MOMENT)
    first = reminded(database)
    reminders.send_due(database, NOON + timedelta(hours=13))

    assert (left, first, reminded(database)) == (MOMENT, voters[:200], voters)


def test_processes_on_one_database_send_each_reminder_once(database_url: str) -> None:
    together = Barrier(2)
    with opened(database_url) as one, opened(database_url) as other:
        with_bots(one, "42")
        for number in range(150):
            cast(one, str(number), NOON)

        def send(database: Database) -> None:
            together.wait()
            reminders.send_due(database, NOON + HALF_DAY)

        threads = [Thread(target=send, args=(database,)) for database in (one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(reminded(one)) == sorted(str(number) for number in range(150))


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
        async with reminders.sending(database, interval=HALF_DAY, now=clock):
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
        async with reminders.sending(database, interval=short, now=clock):
            for _ in range(2):
                await asyncio.wait_for(clock.reads.get(), LONGEST)
            rename(database, "away", "outbox")
            for _ in range(3):
                await asyncio.wait_for(clock.reads.get(), LONGEST)

    with caplog.at_level(logging.WARNING, "commandsync.server"):
        asyncio.run(run())

    assert reminded(database) == ["1"]
    assert "reminders could not be sent" in caplog.text


def rename(database: Database, table: str, name: str) -> None:
    with database.writing() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {name}"))


def test_old_events_are_deleted_with_the_next_reminder(database: Database) -> None:
    with database.writing() as connection:
        outbox.add(connection, "42", "vote", {}, at=NOON - timedelta(days=2))
    cast(database, "1", NOON)
    reminders.send_due(database, NOON + HALF_DAY)

    assert told(database) == [("vote", "1"), ("reminder", "1")]
