from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy.exc import IntegrityError

from commandsync.records.texts import Resource
from commandsync.server import storage
from commandsync.server.database import Database
from commandsync.server.lag import LateDatabase, late, stored

LAG = 8.0  # seconds: writes within one of them are shown together


class Clock:
    """A clock that a test sets, in seconds."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def view(database: Database, clock: Clock) -> Iterator[LateDatabase]:
    view = LateDatabase(database, LAG, clock)
    write(view, "0")
    clock.now += 100
    yield view
    view.end()


def write(database: Database, bot: str) -> None:
    with database.writing() as connection:
        storage.add_bot(connection, bot, {})
        text = {"title": bot, "description": "News."}
        storage.add(connection, bot, Resource.ANNOUNCEMENT, text)


def shown(database: Database) -> str:
    """Return the ids of the bots from 0 to 9 that reads see."""
    with database.reading() as connection:
        return "".join(bot for bot in "0123456789" if _is_known(connection, bot))


def _is_known(connection: object, bot: str) -> bool:
    try:
        storage.check_bot(connection, bot)  # type: ignore[arg-type]  # a transaction
    except storage.UnknownError:
        return False
    return True


def test_a_write_is_shown_when_it_is_old_enough(view: LateDatabase, clock: Clock) -> None:
    write(view, "1")
    at_once = shown(view)
    clock.now += LAG
    at_the_end = shown(view)
    clock.now += 0.001
    after_it = shown(view)

    assert (at_once, at_the_end, after_it) == ("0", "0", "01")


def test_every_read_shows_the_state_of_its_moment(view: LateDatabase, clock: Clock) -> None:
    for bot in "123":
        write(view, bot)
        clock.now += 2
    states = []
    for _ in range(6):
        states.append(shown(view))
        clock.now += 1.5

    assert states == ["0", "0", "01", "012", "012", "0123"]


def test_writes_that_follow_at_once_are_shown_together_and_never_early(
    view: LateDatabase, clock: Clock
) -> None:
    write(view, "1")
    clock.now += 0.9
    write(view, "2")
    clock.now += LAG - 0.1
    before = shown(view)
    clock.now += 0.2
    after = shown(view)

    assert (before, after) == ("0", "012")


def test_many_writes_keep_few_transactions(view: LateDatabase, clock: Clock) -> None:
    for number in range(100):
        clock.now += 0.7
        write(view, f"bot {number}")

    assert len(view._states) <= 9  # noqa: SLF001 - each of them holds a connection


def test_a_write_in_progress_is_not_shown(view: LateDatabase) -> None:
    with view.writing() as connection:
        storage.add_bot(connection, "1", {})

        assert shown(view) == "0"


def test_a_write_that_fails_is_never_shown(view: LateDatabase, clock: Clock) -> None:
    with pytest.raises(IntegrityError):
        write(view, "0")
    clock.now += LAG + 1

    assert shown(view) == "0"


def test_readers_and_writers_in_threads_do_not_block_one_another(view: LateDatabase) -> None:
    done = Event()

    def read() -> None:
        while not done.is_set():
            assert shown(view) == "0"

    readers = [Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for bot in "123456789":
        write(view, bot)
    done.set()
    for reader in readers:
        reader.join(timeout=30)

    assert not any(reader.is_alive() for reader in readers)


def test_without_a_lag_it_is_the_database_itself(database: Database) -> None:
    with late(database, 0) as view:
        assert view is database


def test_the_transactions_end_with_the_block(database: Database) -> None:
    with late(database, 60) as view:
        write(view, "1")
        kept = shown(view)

    assert (kept, shown(view)) == ("", "1")


def test_a_lag_in_memory_is_one_in_a_temporary_file() -> None:
    with stored(":memory:", lag=2) as name:
        path = Path(name)
        path.write_bytes(b"")

    assert path.name == "listing.db"
    assert not path.parent.exists()


@pytest.mark.parametrize(("name", "lag"), [(":memory:", 0), ("listing.db", 2)])
def test_every_other_database_is_where_it_was(name: str, lag: float) -> None:
    with stored(name, lag=lag) as kept:
        assert kept == name
