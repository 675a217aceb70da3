"""Votes in a real browser: the button, its refusal, and the counters of pages that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.support.bots import Service
    from tests.support.browser import Visits


def count(page: Page, name: str = "totalVotes") -> Page:
    return page.locator(f"[data-count={name}]")


def test_a_vote_is_counted_and_a_second_one_is_refused(service: Service, visits: Visits) -> None:
    bot = service.bot()
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
