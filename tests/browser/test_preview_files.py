"""The page of a preview as files, opened from the disk in a real browser."""

import pytest
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


@pytest.mark.parametrize("scripts", [True, False])
def test_each_listing_is_a_tab(
    site: Inside, home: Home, browser: Browser, *, scripts: bool
) -> None:
    home.knows(site.bot(["kept"]))
    listings = "listings: [{service: telegram}, {service: top.gg}]\n"
    home.write(listings + fields(("kept",), ("two words", "Is new.")))
    assert home.run("preview", "--html", "site").code == 0
    visits = Visits(browser, (home.path / "site").as_uri())
    page = visits.open("/index.html", java_script_enabled=scripts)
    shown = page.locator(".tab:visible .command")
    page.get_by_text("telegram 1").click()

    expect(shown).to_have_text(["/keptDoes it."])
    expect(page.locator(".losses:visible")).to_contain_text("(two words)")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="top.gg 2")).to_be_checked()
    expect(shown).to_have_count(2)
    if scripts:
        assert violations(page) == []
        page.locator(".changed a").first.click()
        expect(page.get_by_role("radio", name="Page")).to_be_checked()
