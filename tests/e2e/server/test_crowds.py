"""Trouble and crowds: what does not fit is answered, and nothing that was acknowledged is lost."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Barrier

import pytest

from commandsync.server.runner import running
from tests.support.callers import Caller
from tests.support.wording import Wording

WRITERS = 16
EACH = 2
NAMES = [f"{writer}.{number}" for writer in range(WRITERS) for number in range(EACH)]


@contextmanager
def alone(folder: Path, database: str) -> Iterator[Caller]:
    """Give the owner of the one bot on a service of its own."""
    seed = folder / "seed.json"
    seed.write_text('{"bots": [{"id": "1", "profile": {"username": "Lantern"}}]}')
    with running(database, seed=seed) as service:
        yield Caller(service.url, "1", service.bots[0].token)


def names_after_a_crowd(caller: Caller) -> list[str]:
    """Let writers add commands and read the list at the same time; return the names listed."""
    together = Barrier(WRITERS)

    def write(writer: int) -> None:
        together.wait(timeout=60)
        for number in range(EACH):
            caller.added(name=f"{writer}.{number}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    return [command["name"] for command in caller.listed()]


def test_writers_at_the_same_time_lose_nothing(caller: Caller) -> None:
    assert sorted(names_after_a_crowd(caller)) == sorted(NAMES)


def test_writers_at_the_same_time_lose_nothing_in_memory(tmp_path: Path) -> None:
    with alone(tmp_path, ":memory:") as caller:
        assert sorted(names_after_a_crowd(caller)) == sorted(NAMES)


def test_the_services_own_trouble_is_answered_without_details(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, wording: Wording
) -> None:
    path = tmp_path / "listing.db"
    with alone(tmp_path, str(path)) as caller:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE commands")
        status, answer = caller.ask("GET", "/commands")

    assert status == 500
    wording(answer)
    assert "no such table" in caplog.text
