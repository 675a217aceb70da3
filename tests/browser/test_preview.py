"""`preview` in a real browser: the page follows each save, and what the reader has done stays.

The page of a preview as files, opened from the disk in a real browser.
"""

import re
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.bots import Bot
from tests.support.browser import Visits, violations, visiting
from tests.support.home import Home, fields, home
from tests.support.inside import Inside
from tests.support.terminal import POSIX

__all__ = ["home"]

pytestmark = pytest.mark.skipif(not POSIX, reason="children end otherwise on Windows")
KEPT = [(f"kept{number}",) for number in range(60)]
ADDRESS = re.compile(r"http://\S+")


@pytest.fixture
def bot(site: Inside, home: Home) -> Bot:
    """A bot whose listing differs from the manifest in each way."""
    home.write(manifest(("edited", "Reworded."), ("new", "Is new.")))
    return home.knows(site.bot([*(name for (name,) in KEPT), "edited", "old", "gone"], ["v1"]))


def manifest(*records: tuple[str, ...]) -> str:
    renamed = fields(*KEPT, ("renamed", "Does it.", "/old"), *records)
    return renamed.replace('- name: "renamed"', '- formerly: ["old"]\n    name: "renamed"')


def begun(home: Home, *options: str) -> tuple[subprocess.Popen[bytes], str]:
    """Start a preview; return it, and the URL of its service."""
    child = home.started("preview", "--no-open", *options)
    assert child.stdout is not None
    (address,) = ADDRESS.findall(child.stdout.readline().decode())
    return child, address.rstrip("/")


@pytest.fixture
def page(bot: Bot, home: Home, browser: Browser) -> Iterator[Page]:
    """The page of a preview, opened by whoever edits the manifest."""
    with visiting(browser, begun(home)[1]) as visits:
        page = visits.open("/")
        expect(page.locator("h1")).to_contain_text(bot.id)
        yield page


def marks(page: Page) -> dict[str, str]:
    """Return the marks of the commands by their names."""
    rows = page.locator(".command:has(.mark)")
    return dict(
        zip(
            rows.locator("h4 :is(a, del):not(.was *)").all_text_contents(),
            rows.locator(".mark").all_text_contents(),
            strict=True,
        )
    )


def test_each_save_is_on_the_page_with_the_right_marks(page: Page, home: Home) -> None:
    summary = page.locator(".preview-summary")
    expect(summary).to_contain_text(
        "Plan: 1 to add, 1 to edit, 1 to rename, 1 to delete, 60 unchanged."
    )
    assert marks(page) == {"edited": "edited", "new": "new", "renamed": "renamed", "gone": "gone"}
    page.evaluate("window.kept = true")

    home.write(manifest(("edited", "Does it."), ("gone",), ("newer", "Is newer.")))

    expect(summary).to_contain_text(
        "Plan: 1 to add, 0 to edit, 1 to rename, 0 to delete, 62 unchanged."
    )
    assert marks(page) == {"newer": "new", "renamed": "renamed"}
    assert page.evaluate("window.kept")


def test_the_filter_finds_what_is_gone_and_counts_what_is_listed(page: Page) -> None:
    page.get_by_label("Filter commands").fill("one")  # of "gone", and of no other text

    expect(page.locator(".command.gone")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("0 of 63")


def test_a_broken_manifest_is_told_until_it_is_mended(page: Page, home: Home) -> None:
    expect(page.locator(".command.new h4")).to_contain_text("new")
    home.write("version: 1\ncommands: [\n")

    expect(page.locator(".problems code")).to_contain_text("commands.yaml:")
    expect(page.get_by_text("The page shows its last valid state.")).to_be_visible()
    assert marks(page)["new"] == "new"

    home.write(manifest(("mended", "Is mended.")))

    expect(page.locator(".command.new h4")).to_contain_text("mended")
    expect(page.locator(".problems")).to_have_count(0)


def test_problems_are_shown_from_the_beginning(bot: Bot, home: Home, browser: Browser) -> None:
    home.write("version: 1\ncommands:\n  - nmae: new\n")
    visits = Visits(browser, begun(home)[1])
    page = visits.open("/")
    expect(page.get_by_text("The manifest has 4 problems.")).to_be_visible()
    home.write(manifest(("new", "Is new.")))

    expect(page.locator("h1")).to_contain_text(bot.id)
    expect(page.locator(".problems")).to_have_count(0)
    expect(page.locator(".changed.new a")).to_have_text(["new"])
    assert visits.complaints == []
    page.context.close()


def test_the_tab_of_a_listing_stays(page: Page, home: Home) -> None:
    home.write("listings: [{service: telegram}]\n" + manifest())
    page.get_by_text("telegram 61").click()
    home.write("listings: [{service: telegram}]\n" + manifest(("new", "Is new.")))

    expect(page.get_by_role("radio", name="telegram 62")).to_be_checked()
    expect(page.get_by_role("radio", name="telegram 62")).to_be_focused()


def test_what_the_reader_has_done_stays(page: Page, home: Home) -> None:
    """The filter with its focus, what is unfolded, and the position."""
    page.get_by_label("Filter commands").fill("e")
    page.locator(".command.edited").get_by_text("What changed").click()
    page.get_by_label("Filter commands").click()
    page.mouse.wheel(0, 600)
    page.wait_for_function("window.scrollY > 500")
    before = page.evaluate("window.scrollY")

    home.write(manifest(("edited", "Mended."), ("new", "Is new.")))

    expect(page.locator(".command.edited dd ins")).to_have_text("Mended")
    expect(page.locator(".command.edited dd ins")).to_be_visible()
    expect(page.get_by_label("Filter commands")).to_have_value("e")
    expect(page.get_by_label("Filter commands")).to_be_focused()
    assert abs(page.evaluate("window.scrollY") - before) < 50
    page.keyboard.type("dited")
    expect(page.get_by_role("status")).to_contain_text("1 of")


def test_saves_that_follow_quickly_end_in_the_last_one(page: Page, home: Home) -> None:
    for number in range(20):
        home.write(manifest((f"number{number}",)))

    expect(page.locator(".command.new h4")).to_have_text(re.compile("number19"))
    expect(page.locator(".command.new")).to_have_count(1)


def test_a_page_left_open_shows_the_next_preview(bot: Bot, home: Home, browser: Browser) -> None:
    first, url = begun(home)
    visits = Visits(browser, url)
    page = visits.open("/")
    expect(page.locator("h1")).to_contain_text(bot.id)
    expect(page.locator(".command.new h4")).to_have_text(re.compile("new"))
    first.kill()
    first.wait()
    home.write(manifest(("later", "Came later.")))
    begun(home, "--port", url.rpartition(":")[2])

    expect(page.locator(".command.new h4")).to_have_text(re.compile("later"))
    assert not [line for line in visits.complaints if "ERR_" not in line]
    page.context.close()


__all__ = ["home"]


def test_the_page_opens_from_the_disk(site: Inside, home: Home, browser: Browser) -> None:
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
    bot = home.knows(site.bot(["kept"]))
    listings = "listings: [{service: telegram}, {service: top.gg}]\n"
    home.write(f"base_url: {bot.url}\n{listings}" + fields(("kept",), ("two words", "Is new.")))
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
