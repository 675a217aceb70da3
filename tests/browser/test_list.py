"""The list of bots in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import Visits
from tests.support.inside import Inside

NAMES = [f"Bot {number:02}" for number in range(1, 31)]
OF_A_PAGE = 12


@pytest.fixture(autouse=True)
def bots(site: Inside) -> None:
    """Thirty bots; each later one has more servers, every third one is certified."""
    site.add(
        *(
            {
                "id": str(number),
                "profile": {"username": name},
                "information": {
                    "overview": "Plays music." if number % 2 else "Keeps order.",
                    "tags": ["music" if number % 2 else "moderation"],
                },
                "statistics": {"servers": number, "totalVotes": number},
                "certificate": int(number % 3 == 0),
            }
            for number, name in enumerate(NAMES, 1)
        )
    )


def names(page: Page) -> list[str]:
    return page.locator(".card h2 bdi").all_text_contents()


def test_a_search_without_a_match_leads_back_to_all(visits: Visits) -> None:
    page = visits.open("/?q=nothing")

    expect(page.get_by_role("heading", name="No bot matches")).to_be_visible()
    page.get_by_role("link", name="Show all bots").first.click()
    expect(page.get_by_role("status")).to_have_text("30 bots")


def test_the_list_is_sorted_and_restricted_by_its_form(visits: Visits) -> None:
    page = visits.open("/")
    page.get_by_label("Sort by").select_option("Most servers")
    page.get_by_label("Certified").select_option("Certified bots")
    page.get_by_role("button", name="Search").click()

    expect(page.get_by_role("status")).to_have_text("10 bots")
    assert names(page) == NAMES[::-3]
    page.get_by_role("link", name="moderation").first.click()
    expect(page.get_by_role("status")).to_have_text("5 bots")
    assert names(page) == NAMES[::-6]
    page.get_by_role("link", name="moderation : remove this tag").click()
    expect(page.get_by_role("status")).to_have_text("10 bots")


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("path", ["/", "/?q=nothing", "/?tags=music", "/?page=9", "/nothing"])
def test_a_list_fits_the_screen(visits: Visits, path: str, width: int) -> None:
    page = visits.open(path, viewport={"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_bots_with_the_most_votes_are_first(visits: Visits) -> None:
    page = visits.open("/")

    assert names(page) == NAMES[::-1][:OF_A_PAGE]
    page.get_by_label("Sort by").select_option("Oldest")
    page.get_by_role("button", name="Search").click()
    assert names(page) == NAMES[:OF_A_PAGE]


def test_the_pages_of_the_list_follow_one_another(visits: Visits) -> None:
    page = visits.open("/?sort=username")
    seen = names(page)
    for number in ("2", "3"):
        page.get_by_role("link", name="Next").click()
        expect(page.locator("[aria-current=page]")).to_have_text(re.compile(rf"{number}$"))
        seen += names(page)

    assert seen == NAMES
    expect(page.get_by_role("link", name="Next")).to_have_count(0)
