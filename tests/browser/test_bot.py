"""The page of a bot in a real browser: what it shows, its filter, and its keys."""

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Visits
from tests.support.inside import Inside

COMMANDS = [
    {"name": "play", "description": "Plays a song.", "syntax": "/play <song>", "category": "Music"},
    {"name": "ban", "description": "Bans a member.", "syntax": "/ban", "category": "Order"},
    {"name": "skip", "description": "Skips a song.", "syntax": "/skip", "category": "Music"},
    {"name": "café", "description": "Serves.", "syntax": "/cafe", "category": "Order"},
]


def opened(site: Inside, visits: Visits, **fields: object) -> Page:
    (bot,) = site.add({"profile": {"username": "Lantern"}, **fields})
    return visits.open(f"/bot/{bot.id}")


def shown(rows: Locator) -> list[str]:
    # `inner_text` is empty where the browser has not laid out what is below the window.
    return [(row.text_content() or "").strip() for row in rows.all() if row.is_visible()]


def names(page: Page) -> list[str]:
    return shown(page.locator(".command h4"))


def test_commands_are_shown_by_category_in_the_order_of_the_listing(
    site: Inside, visits: Visits
) -> None:
    page = opened(site, visits, commands=COMMANDS)

    assert shown(page.locator(".group h3")) == ["Music", "Order"]
    assert names(page) == ["play", "skip", "ban", "café"]
    page.get_by_role("navigation", name="Categories").get_by_role("link", name="Order").click()
    expect(page.locator("#category-2")).to_be_in_viewport()


def test_a_link_into_a_long_list_shows_the_category_below_the_filter(
    site: Inside, visits: Visits
) -> None:
    many = [
        {"name": f"n{n}", "description": "d " * (n + 1), "syntax": "/n", "category": f"c{n // 100}"}
        for n in range(400)
    ]
    page = opened(site, visits, commands=many)
    page.get_by_role("link", name="c3 100").click()
    heading = page.get_by_role("heading", name="c3", exact=True)

    expect(heading).to_be_in_viewport()
    place, head = heading.bounding_box(), page.locator(".section-head").bounding_box()
    assert place is not None
    assert head is not None
    assert head["y"] + head["height"] <= place["y"] < head["y"] + head["height"] + 100


def test_the_filter_shows_what_contains_every_word(site: Inside, visits: Visits) -> None:
    page = opened(site, visits, commands=COMMANDS)
    words = page.get_by_label("Filter commands")
    status = page.get_by_role("status")

    for typed, left, told in (
        ("song", ["play", "skip"], "2 of 4 match"),
        ("SONG pl", ["play"], "1 of 4 match"),
        ("cafe", ["café"], "1 of 4 match"),
        ("order", ["ban", "café"], "2 of 4 match"),
        ("nothing", [], "0 of 4 match"),
        ("", ["play", "skip", "ban", "café"], "4"),
    ):
        words.fill(typed)

        expect(status).to_have_text(told)
        assert names(page) == left
    words.fill("ban")
    words.press("Enter")
    assert names(page) == ["ban"]


def test_the_colour_of_the_bot_is_that_of_its_page(site: Inside, visits: Visits) -> None:
    fills = {
        opened(site, visits, theme={"enabled": True, "automatic": False, "color": color})
        .locator("html")
        .evaluate("element => getComputedStyle(element).getPropertyValue('--fill')")
        for color in ("#d97706", "#0f766e")
    }

    assert len(fills) == 2


def test_a_keyboard_is_enough(site: Inside, visits: Visits) -> None:
    """Every stop can be seen: the tests of accessibility do not look at the focus."""
    page = opened(site, visits, commands=COMMANDS)
    keys = page.keyboard
    keys.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    keys.press("Enter")
    keys.press("Tab")
    expect(page.get_by_role("button", name="Vote")).to_be_focused()
    outline = "element => getComputedStyle(element).outlineStyle"
    assert page.get_by_role("button", name="Vote").evaluate(outline) == "solid"
    keys.press("Tab")
    expect(page.get_by_label("Filter commands")).to_be_focused()
    keys.type("skip")
    assert names(page) == ["skip"]
    keys.press("Shift+Tab")
    keys.press("Enter")

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()


def test_motion_is_left_out_where_it_is_not_wanted(site: Inside, visits: Visits) -> None:
    (bot,) = site.add({"profile": {"username": "Lantern"}})
    seconds = {
        wish: visits.open(f"/bot/{bot.id}", reduced_motion=wish)
        .locator(".vote button")
        .evaluate("element => getComputedStyle(element).transitionDuration")
        for wish in ("reduce", "no-preference")
    }

    assert seconds == {"reduce": "0s", "no-preference": "0.12s, 0.12s"}
