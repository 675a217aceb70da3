"""The page of a preview as files, opened from the disk in a real browser."""

from playwright.sync_api import Browser, expect

from tests.support.browser import Visits, violations
from tests.support.home import Home, fields, home
from tests.support.inside import Inside

__all__ = ["home"]


def test_the_page_opens_from_the_disk_with_its_style_and_its_filter(
    site: Inside, home: Home, browser: Browser
) -> None:
    home.knows(site.bot(["edited", "gone", "kept"], ["v1"]))
    home.write(fields(("edited", "Reworded."), ("kept",), ("new", "Is new.")))
    assert home.run("preview", "--html", "site").code == 0
    visits = Visits(browser, (home.path / "site").as_uri())
    page = visits.open("/index.html")

    expect(page.locator(".command.new h4")).to_contain_text("new")
    expect(page.locator(".command .mark")).to_have_text(["edited", "new", "gone"])
    assert page.evaluate("getComputedStyle(document.querySelector('.mark')).borderRadius") != "0px"
    page.get_by_label("Filter commands").fill("kept")
    expect(page.locator(".command.new")).to_be_hidden()
    assert violations(page) == []
    assert visits.complaints == []
