"""A browser for the tests of a file, and a service with the bots of the examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.bots import service
from tests.support.browser import Visits, started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.support.bots import Service

__all__ = ["service"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file only: other tests of the process have an event loop of their own."""
    with started() as browser:
        yield browser


@pytest.fixture
def visits(browser: Browser, service: Service) -> Iterator[Visits]:
    """Visits of pages that have nothing to complain about."""
    visits = Visits(browser, service.url)
    yield visits
    for context in browser.contexts:
        context.close()

    assert visits.complaints == []
