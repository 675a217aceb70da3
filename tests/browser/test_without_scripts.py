"""Without JavaScript everything works but the filter."""

from playwright.sync_api import expect

from tests.support.browser import Visits
from tests.support.inside import Inside


def test_a_visitor_searches_reads_and_votes(site: Inside, visits: Visits) -> None:
    commands = [
        {"name": name, "description": "Does it.", "syntax": f"/{name}"} for name in ("a", "b")
    ]
    bot, _ = site.add(
        {"profile": {"username": "Lantern"}, "statistics": {"servers": 1}, "commands": commands},
        {"profile": {"username": "Harbor"}, "statistics": {"servers": 2}},
    )
    page = visits.open("/", java_script_enabled=False)
    page.get_by_label("Sort by").select_option("Most servers")
    page.get_by_role("button", name="Apply").click()
    assert page.locator(".card h2 bdi").all_text_contents() == ["Harbor", "Lantern"]
    page.get_by_label("Search bots").fill("lantern")
    page.get_by_label("Search bots").press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 bot for “lantern”")
    page.get_by_role("link", name="Lantern").click()
    expect(page.locator(".command h4")).to_have_text(["a", "b"])
    expect(page.get_by_label("Filter commands")).to_be_hidden()

    other_tab = visits.open(f"/bot/{bot.id}", beside=page)
    page.get_by_role("button", name="Vote").click()
    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    expect(page.locator(".numbers dd >> nth=1")).to_have_text("1")
    other_tab.get_by_role("button", name="Vote").click()
    expect(other_tab.get_by_role("heading")).to_have_text("You have voted already")
    page.get_by_role("link", name="All voters").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Voters")
    expect(page.locator(".voters li bdi")).to_have_text([bot.voters()[0]["username"]])
