"""The page of a bot in a real browser: what it shows, its filter, and its keys.

Votes in a real browser: the button, its refusal and the number that it changes.

Without JavaScript everything works but the filter.
"""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browser import Visits
from tests.support.inside import Inside

COMMANDS = [
    {"name": "play", "description": "Plays a song.", "syntax": "/play <song>", "category": "Music"},
    {"name": "ban", "description": "Bans a member.", "syntax": "/ban", "category": "Order"},
    {"name": "skip", "description": "Skips a song.", "syntax": "/skip", "category": "Music"},
    {"name": "café", "description": "Serves.", "syntax": "/cafe", "category": "Order"},
]


def opened(site: Inside, tab: Page, **fields: object) -> Page:
    (bot,) = site.add({"profile": {"username": "Lantern"}, **fields})
    tab.set_viewport_size({"width": 1280, "height": 720})
    tab.goto(f"{site.url}/bot/{bot.id}")
    return tab


def shown(rows: Locator) -> list[str]:
    # `inner_text` is empty where the browser has not laid out what is below the window.
    return [(row.text_content() or "").strip() for row in rows.all() if row.is_visible()]


def names(page: Page) -> list[str]:
    return shown(page.locator(".command h4"))


def counts(page: Page) -> list[str]:
    """Return the categories that are offered, with the numbers of their commands."""
    return [" ".join(text.split()) for text in shown(page.locator(".categories li"))]


def test_a_category_and_the_filter_work_together(site: Inside, tab: Page) -> None:
    page = opened(site, tab, commands=COMMANDS)
    status = page.locator(".section-head").get_by_role("status")
    links = page.get_by_role("navigation", name="Categories").get_by_role("link")
    chosen = page.locator(".categories [aria-current]")

    assert counts(page) == ["All 4", "Music 2", "Order 2"]
    page.get_by_label("Filter commands").fill("a song")
    assert counts(page) == ["All 2", "Music 2"]
    page.get_by_label("Filter commands").fill("a")
    links.filter(has_text="Order").click()
    expect(status).to_have_text("2 of 4")
    assert names(page) == ["ban", "café"]
    assert counts(page) == ["All 4", "Music 2", "Order 2"]
    page.get_by_label("Filter commands").fill("pl")
    expect(page.get_by_text("No command matches.")).to_be_visible()
    expect(chosen).to_have_text("Order 0")
    links.filter(has_text="Music").click()
    assert names(page) == ["play"]
    page.go_back()
    expect(chosen).to_have_text("Order 0")
    links.filter(has_text="All").click()
    expect(status).to_have_text("1 of 4")
    assert names(page) == ["play"]


def test_a_link_to_a_command_leads_through_the_filter(site: Inside, tab: Page) -> None:
    page = opened(site, tab, commands=COMMANDS)
    anchor = page.get_by_role("link", name="skip", exact=True).get_attribute("href")
    page.get_by_role("link", name="Order 2").click()
    page.get_by_label("Filter commands").fill("ban")
    page.evaluate("anchor => { location.hash = anchor; }", anchor)

    expect(page.get_by_role("heading", name="skip")).to_be_in_viewport()
    assert names(page) == ["play", "skip", "ban", "café"]


def test_on_a_phone_the_categories_are_a_select(site: Inside, tab: Page) -> None:
    many = [
        {**COMMANDS[0], "name": f"n{n}", "category": f"c{n // 20}", "uses": 1234}
        for n in range(100)
    ]
    page = opened(site, tab, commands=many)
    page.set_viewport_size({"width": 390, "height": 800})
    select = page.get_by_label("Category")

    expect(page.locator(".categories")).to_be_hidden()
    page.get_by_label("Filter commands").fill("n2")
    assert select.locator("option:not([hidden])").evaluate_all(
        "options => options.map(option => option.label)"
    ) == ["All (11)", "c0 (1)", "c1 (10)"]
    select.select_option(label="c1 (10)")
    assert names(page) == [f"n{n}" for n in range(20, 30)]
    page.get_by_label("Filter commands").fill("")
    page.mouse.wheel(0, 900)
    expect(select).to_be_in_viewport()
    places = page.locator(".command .uses").evaluate_all(
        "uses => [...new Set(uses.filter(each => each.checkVisibility()).map(each =>"
        " each.closest('.command').getBoundingClientRect().right"
        " - each.getBoundingClientRect().right))]"
    )
    assert len(places) == 1


def test_right_to_left_text_is_beside_its_name(site: Inside, tab: Page) -> None:
    arabic = {"name": "ban", "description": "يحظر عضوا.", "syntax": "/ban", "uses": 7}
    page = opened(site, tab, commands=[{**arabic, "category": each} for each in ("إدارة", "Staff")])

    for number, side in ((1, "right"), (2, "left")):
        edges = page.locator(f"#category-{number} :is(h4 a, .prose p)").evaluate_all(
            "(elements, side) => elements.map(element => {"
            " const range = document.createRange(); range.selectNodeContents(element);"
            " return Math.round(range.getBoundingClientRect()[side]); })",
            side,
        )
        assert abs(edges[0] - edges[1]) <= 1


def test_a_link_into_a_long_list_shows_its_category(site: Inside, tab: Page) -> None:
    many = [
        {"name": f"n{n}", "description": "d " * (n + 1), "syntax": "/n", "category": f"c{n // 100}"}
        for n in range(400)
    ]
    page = opened(site, tab, commands=many)
    page.get_by_role("link", name="c3 100").click()
    expect(page.locator(".group:visible")).to_have_count(1)
    heading = page.get_by_role("heading", name="c3", exact=True)

    expect(heading).to_be_in_viewport()
    place, head = heading.bounding_box(), page.locator(".section-head").bounding_box()
    assert place is not None
    assert head is not None
    assert head["y"] + head["height"] <= place["y"] < head["y"] + head["height"] + 100
    anchor = page.locator("h4 a", has_text="n250").get_attribute("href")
    page.evaluate("anchor => { location.hash = anchor; }", anchor)
    expect(page.get_by_role("heading", name="n250", exact=True)).to_be_in_viewport()


def test_the_filter_shows_what_contains_every_word(site: Inside, tab: Page) -> None:
    page = opened(site, tab, commands=COMMANDS)
    words = page.get_by_label("Filter commands")
    status = page.get_by_role("status")

    for typed, left, told in (
        ("song", ["play", "skip"], "2 of 4"),
        ("SONG pl", ["play"], "1 of 4"),
        ("cafe", ["café"], "1 of 4"),
        ("order", ["ban", "café"], "2 of 4"),
        ("nothing", [], "0 of 4"),
        ("", ["play", "skip", "ban", "café"], "4"),
    ):
        words.fill(typed)

        expect(status).to_have_text(told)
        assert names(page) == left
    words.fill("ban")
    words.press("Enter")
    assert names(page) == ["ban"]


def test_the_colour_of_the_bot_decorates_its_page(site: Inside, tab: Page) -> None:
    for color in ("#d97706", "#0f766e"):
        theme = {"enabled": True, "automatic": False, "color": color}
        page = opened(site, tab, theme=theme)

        expect(page.locator(".band stop").first).to_have_attribute("stop-color", color)
        expect(page.locator(".avatar rect")).to_have_attribute("stroke", color)


def test_a_keyboard_is_enough(site: Inside, tab: Page) -> None:
    """Every stop can be seen: the tests of accessibility do not look at the focus."""
    page = opened(site, tab, commands=COMMANDS)
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


def votes(page: Page) -> Locator:
    """Return the number of all votes."""
    return page.locator(".numbers div", has=page.get_by_text("Votes", exact=True)).locator("dd")


@pytest.mark.parametrize("width", [320, 390, 700, 768, 1280])
def test_a_vote_moves_no_button(site: Inside, visits: Visits, width: int) -> None:
    (bot,) = site.add({"profile": {"username": "Lantern"}, "inviteURL": "https://chat.example/i"})
    page = visits.open(f"/bot/{bot.id}", viewport={"width": width, "height": 900})
    places = [button.bounding_box() for button in page.locator(".actions .button").all()]
    page.get_by_role("button", name="Vote").click()
    expect(page.get_by_role("button", name="Voted")).to_be_disabled()

    assert len(places) == 2
    assert [button.bounding_box() for button in page.locator(".actions .button").all()] == places


def test_a_double_click_is_one_vote(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("button", name="Vote").dblclick()

    expect(page.get_by_role("button", name="Voted")).to_be_disabled()
    assert len(bot.voters()) == 1


def test_a_page_opened_from_the_history_shows_what_is_new(site: Inside, visits: Visits) -> None:
    bot = site.bot()
    page = visits.open(f"/bot/{bot.id}")
    page.get_by_role("link", name="Bot listing").click()
    bot.vote("1", "Ann")
    page.go_back()

    expect(votes(page)).to_have_text("1")


def test_a_visitor_searches_reads_and_votes(site: Inside, visits: Visits) -> None:
    commands = [
        {"name": name, "description": "Does it.", "syntax": f"/{name}"} for name in ("a", "b")
    ]
    bot, _ = site.add(
        {"profile": {"username": "Beacon"}, "statistics": {"servers": 10**6}, "commands": commands},
        {"profile": {"username": "Quay"}, "statistics": {"servers": 10**6 + 1}},
    )
    page = visits.open("/", java_script_enabled=False)
    page.get_by_label("Sort by").select_option("Most servers")
    page.get_by_role("button", name="Search").click()
    assert page.locator(".card h2 bdi").all_text_contents()[:2] == ["Quay", "Beacon"]
    page.get_by_label("Search bots").fill("beacon")
    page.get_by_label("Search bots").press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 bot for “beacon”")
    page.get_by_role("link", name="Beacon").click()
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
