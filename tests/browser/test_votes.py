"""Votes in a real browser: the button, its refusal and the number that it changes."""

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Visits
from tests.support.inside import Inside


def votes(page: Page) -> Locator:
    """Return the number of all votes."""
    return page.locator(".numbers div", has=page.get_by_text("Votes", exact=True)).locator("dd")


def test_a_vote_is_counted_and_a_second_one_is_refused(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    other_tab = visits.open(f"/bot/{bot.id}", beside=page)
    page.get_by_role("button", name="Vote").click()

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    expect(page.get_by_text("You can vote again on")).to_be_visible()
    expect(votes(page)).to_have_text("1")

    other_tab.get_by_role("button", name="Vote").click()

    expect(other_tab.get_by_role("heading")).to_have_text("You have voted already")
    expect(other_tab.get_by_text("You can vote for this bot again on")).to_be_visible()
    other_tab.get_by_role("link", name="Back to the bot").click()
    expect(votes(other_tab)).to_have_text("1")
    assert len(bot.voters()) == 1


def test_a_double_click_is_one_vote(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("button", name="Vote").dblclick()

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    assert len(bot.voters()) == 1


def test_a_page_that_is_opened_again_from_the_history_shows_what_is_new(
    site: Inside, visits: Visits
) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("link", name="Bot listing").click()
    bot.vote("1", "Ann")
    page.go_back()

    expect(votes(page)).to_have_text("1")
