"""A real browser, and the complaints that a test of a page must not have."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import (  # type: ignore[import-untyped]  # it has no types
    AXE_SCRIPT,
)
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

VARIABLE = "COMMANDSYNC_TEST_BROWSER"
_NAMES = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "msedge"),
)
_LONGEST = 20_000  # milliseconds
expect.set_options(timeout=_LONGEST)


def find_browser() -> str:
    """Return the path of a browser: the one of `.ci/run`, which must work, or one of the PATH."""
    if named := os.environ.get(VARIABLE):
        return named
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    pytest.skip(f"no chromium, chrome or edge is on the PATH, and {VARIABLE} is not set")


@contextmanager
def started() -> Iterator[Browser]:
    """Start a browser for as long as the block lasts; an event loop runs in it all that time."""
    path = find_browser()
    with sync_playwright() as playwright:
        # Without a sandbox, which root cannot have: it opens the pages of the tests alone.
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Visits:
    """The visits of a test: each context is a browser of its own, with its own cookies.

    Attributes:
        complaints: What the console, the pages and the network had to complain about.
    """

    browser: Browser
    url: str
    complaints: list[str] = field(default_factory=list)

    def open(
        self,
        path: str,
        *,
        beside: Page | None = None,
        script: str = "",
        **options: Any,  # noqa: ANN401 - Playwright's
    ) -> Page:
        """Open a page in a new context, or in that of another page.

        Args:
            path: What follows the address of the service.
            beside: A page of the context.
            script: What runs before anything of the page.
            options: Those of the context.
        """
        context = beside.context if beside else self.browser.new_context(**options)
        page = context.new_page()
        page.set_default_timeout(_LONGEST)
        page.add_init_script(script)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("dialog", self._dialog)
        page.goto(f"{self.url}{path}")
        return page

    def _console(self, message: ConsoleMessage) -> None:
        # A refusal is a page as well: its own status is not a failure of the page.
        is_status = message.text.startswith("Failed to load resource: the server responded with")
        page = message.page
        if is_status and page and message.location["url"] == page.url:
            return
        self.complaints.append(f"{message.type}: {message.text} ({message.location['url']})")

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.url).netloc:
            self.complaints.append(f"another host: {request.url}")


@contextmanager
def visiting(browser: Browser, url: str) -> Iterator[Visits]:
    """Visit pages that have nothing to complain about; in the end all of them are closed."""
    before = browser.contexts
    visits = Visits(browser, url)
    try:
        yield visits
    finally:
        for context in [context for context in browser.contexts if context not in before]:
            context.close()
    assert visits.complaints == []


_COLOURS = ("color-contrast", "link-in-text-block")


def violations(page: Page, *rules: str, colours: bool = True) -> list[str]:
    """Return the violations that axe-core finds on a page, with places: by these rules, or by all.

    The rules of colours take as long as all others.
    """
    page.evaluate(AXE_SCRIPT)  # through the debugger, which the page's policy does not stop
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    options["rules"] = {rule: {"enabled": colours} for rule in _COLOURS}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    found = page.evaluate("options => axe.run(options)", options)
    return [
        f"{violation['id']}: {node['target']} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


def violations_in_both(page: Page) -> list[str]:
    """Return what is wrong with a page that was opened in light: in dark only colours differ."""
    found = violations(page)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")  # no colour is on its way
    found += violations(page, *_COLOURS)
    page.emulate_media(color_scheme="light")
    return found
