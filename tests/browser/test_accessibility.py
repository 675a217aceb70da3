"""axe-core finds nothing wrong with any page, in light and in dark."""

from typing import Any

import pytest
from playwright.sync_api import Page

from commandsync.records.texts import OF_MANIFEST
from tests.support.bots import Bot
from tests.support.browser import Visits, violations, violations_in_both
from tests.support.inside import Inside

COMMAND, ANNOUNCEMENT = OF_MANIFEST
COLLECTIONS = {kind.collection for kind in OF_MANIFEST}
RICH: dict[str, Any] = {
    "profile": {"username": "Lantern", "discriminator": "4821"},
    "prefix": "/",
    "information": {
        "overview": "One bot for the whole server.",
        "description": "# One\n\n### Three\n\nText with `code`, [a link](https://a.example) and\n\n"
        "> a quote\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n1. one\n2. two\n\n---",
        "tags": ["music", "fun"],
    },
    "certificate": 1,
    "inviteURL": "https://chat.example/invite",
    "ratings": {"average": 4.6, "total": 38},
    "theme": {"enabled": True, "automatic": False, "color": "#d97706"},
    "commands": [
        {
            "name": f"command {number}",
            "description": "Does *it*. " * (number * 9 + 1),
            "syntax": f"/c {number}",
            "category": f"Category {number % 3}",
            "uses": number,
        }
        for number in range(9)
    ],
    "announcements": [
        {"title": f"News {number}", "description": "# It\n\nis out."} for number in range(5)
    ],
}
PLANNED = {"summary": "Plan: 1 to add.", "compared": "Compared with its list."}
COLOURS = ("#000000", "#ffffff", "#ffff00")


@pytest.fixture(scope="module")
def rich(site: Inside) -> Bot:
    bot, _ = site.add(RICH, {"profile": {"username": "Empty"}})
    bot.cast(*map(str, range(60)))
    return bot


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/?q=lantern&tags=fun&certified=true", "/?q=nothing", "/?page=9", "/?page=x"),
        *("/nothing", "{rich}", "{rich}/voters", "{rich}/voters?page=2", "{rich}/voters?page=9"),
        *("{empty}", "{empty}/voters"),
    ],
)
def test_a_page(site: Inside, rich: Bot, tab: Page, path: str) -> None:
    path = path.format(rich=f"/bot/{rich.id}", empty=f"/bot/{site.bot().id}")
    tab.goto(f"{site.url}{path}")
    unfold(tab)

    assert violations_in_both(tab) == []


@pytest.mark.parametrize("color", COLOURS)
def test_a_bot_of_any_colour(site: Inside, tab: Page, color: str) -> None:
    (bot,) = site.add({**RICH, "theme": {"enabled": True, "automatic": False, "color": color}})
    tab.goto(f"{site.url}/bot/{bot.id}")
    tab.get_by_role("link", name="Invite").hover()

    assert violations_in_both(tab) == []


def test_a_vote_and_a_refused_one(site: Inside, visits: Visits) -> None:
    page = visits.open(f"/bot/{site.bot().id}")
    again = visits.open(page.url.removeprefix(site.url), beside=page)
    found = []
    for tab in (page, again):
        tab.get_by_role("button", name="Vote").click()
        found += violations_in_both(tab)

    assert found == []


def test_a_filter_without_a_match(rich: Bot, visits: Visits) -> None:
    page = visits.open(f"/bot/{rich.id}")
    page.get_by_label("Filter commands").fill("nothing")

    assert violations_in_both(page) == []


def unfold(page: Page) -> None:
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true; })")


def test_the_check_would_notice(rich: Bot, visits: Visits) -> None:
    page = visits.open(f"/bot/{rich.id}")
    rule = "@media (prefers-color-scheme: dark) { .overview { color: #333 !important } }"
    page.evaluate(
        f"(all => all.insertRule('{rule}', all.cssRules.length))(document.styleSheets[0])"
    )
    in_light, in_both = violations(page), violations_in_both(page)
    page.evaluate("document.querySelector('.search label').remove()")
    page.evaluate("document.querySelector('.search input').placeholder = ''")
    page.evaluate("document.querySelector('.overview').style.color = '#bbb'")
    found = {violation.partition(":")[0] for violation in violations(page)}

    assert found == {"color-contrast", "label"}
    assert (in_light, [violation.partition(":")[0] for violation in in_both]) == (
        [],
        ["color-contrast"],
    )
