"""Votes in a real browser: the button, its refusal, and the counters of the pages that are open."""

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Visits
from tests.support.inside import Inside

LANTERN = {"profile": {"username": "Lantern"}}


def count(page: Page, name: str = "totalVotes") -> Locator:
    return page.locator(f"[data-count={name}]")


def test_a_vote_is_counted_and_a_second_one_is_refused(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    other_tab = visits.open(f"/bot/{bot.id}", beside=page)
    page.get_by_role("button", name="Vote").click()

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    expect(page.get_by_text("You can vote again on")).to_be_visible()
    expect(count(page)).to_have_text("1")

    other_tab.get_by_role("button", name="Vote").click()

    expect(other_tab.get_by_role("heading")).to_have_text("You have voted already")
    expect(other_tab.get_by_text("You can vote for this bot again on")).to_be_visible()
    other_tab.get_by_role("link", name="Back to the bot").click()
    expect(count(other_tab)).to_have_text("1")
    assert len(bot.voters()) == 1


def test_a_double_click_is_one_vote(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("button", name="Vote").dblclick()

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    assert len(bot.voters()) == 1


def test_open_pages_count_the_votes_of_others_without_a_reload(
    site: Inside, visits: Visits
) -> None:
    (bot,), other = site.add({**LANTERN, "statistics": {"totalVotes": 998}}), site.bot()
    page, of_other = visits.open(f"/bot/{bot.id}"), visits.open(f"/bot/{other.id}")
    page.evaluate("window.kept = true")
    bot.vote("1", "Ann")

    for name in ("monthlyVotes", "weeklyVotes", "dailyVotes"):
        expect(count(page, name)).to_have_text("1")
    expect(count(page)).to_have_text("999")

    visits.open(f"/bot/{bot.id}").get_by_role("button", name="Vote").click()
    expect(count(page)).to_have_text("1,000")
    bot.cast("2", "3", "4")
    expect(count(page)).to_have_text("1,003")

    assert page.evaluate("window.kept")
    assert count(of_other).text_content() == "0"


def test_a_page_that_is_opened_again_from_the_history_counts_on(
    site: Inside, visits: Visits
) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("link", name="Bot listing").click()
    bot.vote("1", "Ann")
    page.go_back()

    expect(count(page)).to_have_text("1")
    bot.vote("2", "Ben")
    expect(count(page)).to_have_text("2")
