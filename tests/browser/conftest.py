"""A browser, and a service for the tests of a file; each test begins as a new visitor."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import Visits, started, visiting
from tests.support.inside import Inside, seen_inside

_OPEN: list[tuple[Browser, ExitStack]] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    """The browser of this process."""
    if not _OPEN:
        stack = ExitStack()
        _OPEN.append((stack.enter_context(started()), stack))
    return _OPEN[0][0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """End it before the tests of another folder: they have an event loop of their own."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != item.path.parent:
            while _OPEN:
                _OPEN.pop()[1].close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    """An empty listing."""
    with seen_inside(str(tmp_path_factory.mktemp("site") / "listing.db")) as running:
        yield running


@pytest.fixture(scope="module")
def tab(browser: Browser, site: Inside) -> Iterator[Page]:
    """A tab that tests of a file use in turn where only what a page looks like matters."""
    with visiting(browser, site.url) as visits:
        yield visits.open("/")


@pytest.fixture
def visits(browser: Browser, site: Inside) -> Iterator[Visits]:
    """Visits of pages that have nothing to complain about."""
    with visiting(browser, site.url) as visits:
        yield visits
