"""One service for the tests of a process, and a database for each test."""

import logging
from collections.abc import Iterator
from threading import Event

import pytest

from commandsync.server.database import Database, opened
from tests.support.bots import service
from tests.support.inside import with_bots

__all__ = ["service"]


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An empty database."""
    with opened(database_url) as handle:
        yield handle


@pytest.fixture
def two_bots(database: Database) -> None:
    """The bots 42 and 43, in the database of the test."""
    with_bots(database, "42", "43")


@pytest.fixture
def noted(caplog: pytest.LogCaptureFixture) -> Event:
    """What is set as soon as something is logged."""
    event = Event()

    def note(_: logging.LogRecord) -> bool:
        event.set()
        return True

    caplog.handler.addFilter(note)
    return event
