from collections.abc import Iterator
from datetime import timedelta

import pytest

from commandsync.server import outbox
from commandsync.server.database import Database, opened
from commandsync.server.outbox import Entry
from tests.support.votes import NOON, entries, with_bots


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with opened(database_url) as handle:
        with_bots(handle, "42", "43")
        yield handle


def test_entries_are_read_in_the_order_they_were_added(database: Database) -> None:
    with database.writing() as connection:
        outbox.add(connection, "42", "vote", {"number": 1}, at=NOON)
        outbox.add(connection, "43", "reminder", {"number": 2}, at=NOON)
    with database.writing() as connection:
        outbox.add(connection, "42", "vote", {"number": 3}, at=NOON)

    assert entries(database) == [
        Entry(1, "42", "vote", {"number": 1}),
        Entry(2, "43", "reminder", {"number": 2}),
        Entry(3, "42", "vote", {"number": 3}),
    ]


def test_old_entries_are_pruned_and_their_numbers_never_used_again(database: Database) -> None:
    with database.writing() as connection:
        for hours in (0, 1, 2):
            outbox.add(connection, "42", "vote", {}, at=NOON + timedelta(hours=hours))
    with database.writing() as connection:
        outbox.prune(connection, before=NOON + timedelta(hours=1))
    kept = [entry.seq for entry in entries(database)]
    with database.writing() as connection:
        outbox.prune(connection, before=NOON + timedelta(hours=3))
        outbox.add(connection, "42", "vote", {}, at=NOON)

    assert (kept, [entry.seq for entry in entries(database)]) == ([2, 3], [4])
