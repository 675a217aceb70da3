"""axe-core finds nothing wrong with any page, in light and in dark."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from commandsync.diagnostics import Location, Problem
from commandsync.pages.botpage import BotPage, ListingTab, Mark, Preview, Row
from commandsync.records.texts import Resource
from commandsync.server.live_preview import preview_server
from tests.support.bots import Bot
from tests.support.browser import Visits, violations, violations_in_both, visiting
from tests.support.inside import Inside
from tests.support.pages import bot

COMMAND, ANNOUNCEMENT = Resource
COLLECTIONS = {kind.collection for kind in Resource}
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


def previewed() -> BotPage:
    """Return every kind of change, and problems."""
    marks = {
        0: (Mark.NEW, {}),
        1: (Mark.EDITED, {"description": "Did it once."}),
        2: (Mark.RENAMED, {"name": "other"}),
    }
    lost = {"name": "old", "description": "Is old.", "syntax": "/old"}
    listed = [
        *(Row(COMMAND, c, f"l{n}", *marks.get(n, ())) for n, c in enumerate(RICH["commands"])),
        Row(COMMAND, RICH["commands"][3], "parts", Mark.EDITED, parts=("song choices",)),
        Row(COMMAND, lost, "gone-l", Mark.GONE),
    ]
    tabs = [
        ListingTab(name=f"a-listing-{n}.example", rows=listed, losses=("no categories",), **PLANNED)
        for n in range(6)
    ]
    return BotPage(
        bot=bot(**{name: value for name, value in RICH.items() if name not in COLLECTIONS}),
        rows={
            COMMAND: [
                *(
                    Row(COMMAND, c, f"c{n}", *marks.get(n, ()))
                    for n, c in enumerate(RICH["commands"])
                ),
                Row(COMMAND, lost, "gone-c", Mark.GONE),
            ],
            ANNOUNCEMENT: [
                *(
                    Row(ANNOUNCEMENT, a, f"a{n}", None if n else Mark.NEW)
                    for n, a in enumerate(RICH["announcements"])
                ),
                Row(ANNOUNCEMENT, {"title": "v1", "description": "Was."}, "gone-a", Mark.GONE),
            ],
        },
        preview=Preview(
            summary="Plan: 1 to add, 2 to edit, 1 to delete, 5 unchanged.",
            refusal="apply would refuse this plan",
            notices=("would delete 4 of 9 listed commands",),
            problems=(Problem(Location("commands.yaml"), "is wrong", "fix it"),),
        ),
        listings=tabs,
    )


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


def test_a_preview(browser: Browser) -> None:
    with preview_server(previewed()) as server, visiting(browser, server.url) as visits:
        page = visits.open("/")
        page.set_viewport_size({"width": 360, "height": 740})
        unfold(page)

        assert page.locator(".mark").count() > 5
        assert violations_in_both(page) == []
        page.get_by_text("a-listing-5.example").first.click()
        unfold(page)
        assert page.locator(".command .mark:visible").all_text_contents() == [
            *("new", "edited", "renamed", "edited", "gone")
        ]
        expect(page.get_by_text("song choices").last).to_be_visible()
        assert violations_in_both(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 360


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
