"""A browser and a service for the tests of a file; each test begins as a new visitor."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support.browser import Visits, started, visiting
from tests.support.inside import Inside, seen_inside


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For one file only: other tests of the process have an event loop of their own."""
    with started() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """An empty listing."""
    with seen_inside(str(tmp_path_factory.mktemp("site") / "listing.db")) as running:
        yield running


@pytest.fixture
def visits(browser: Browser, site: Inside) -> Iterator[Visits]:
    """Visits of pages that have nothing to complain about."""
    with visiting(browser, site.url) as visits:
        yield visits
