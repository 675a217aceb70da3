from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.destination import SERVICES, UNREAD, Destination, destination
from tests.support.home import Home


@pytest.fixture(params=SERVICES)
def place(home: Home, request: pytest.FixtureRequest) -> Iterator[Destination]:
    """Each kind of service that takes a whole list."""
    with destination(home, request.param) as found:
        yield found


@pytest.fixture(params=UNREAD)
def unread(home: Home, request: pytest.FixtureRequest) -> Iterator[Destination]:
    """Each service that does not return its list."""
    with destination(home, request.param) as found:
        yield found


@pytest.fixture
def telegram(home: Home) -> Iterator[Destination]:
    with destination(home, "telegram") as found:
        yield found


@pytest.fixture
def topgg(home: Home) -> Iterator[Destination]:
    with destination(home, "top.gg") as found:
        yield found
