from datetime import timedelta

import pytest

from commandsync.server import broadcast
from commandsync.server.database import Database
from tests.support.votes import NOON, entries

pytestmark = pytest.mark.usefixtures("two_bots")


def test_old_entries_are_pruned_and_their_numbers_never_used_again(database: Database) -> None:
    with database.writing() as connection:
        for hours in (0, 1, 2):
            broadcast.add_event(connection, "42", "vote", {}, at=NOON + timedelta(hours=hours))
    with database.writing() as connection:
        broadcast.prune_events(connection, before=NOON + timedelta(hours=1))
    kept = [entry.seq for entry in entries(database)]
    with database.writing() as connection:
        broadcast.prune_events(connection, before=NOON + timedelta(hours=3))
        broadcast.add_event(connection, "42", "vote", {}, at=NOON)

    assert (kept, [entry.seq for entry in entries(database)]) == ([2, 3], [4])
