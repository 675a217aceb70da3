import re
from functools import cache
from itertools import cycle, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.pages.templates import BotPageContent, RecordRow, listed_rows, render_bot
from commandsync.records.display import readable
from commandsync.records.models import Bot
from commandsync.records.texts import OF_MANIFEST
from tests.support.pages import Outline, announcement, bot, bot_texts, command, texts, voter

COMMAND, ANNOUNCEMENT = OF_MANIFEST


def listed(
    record: Bot | None = None,
    commands: list[dict[str, Any]] | None = None,
    announcements: list[dict[str, Any]] | None = None,
    **others: Any,  # noqa: ANN401 - of the page
) -> BotPageContent:
    """Return the page of a bot as a service lists it."""
    rows = {
        COMMAND: listed_rows(COMMAND, commands or []),
        ANNOUNCEMENT: listed_rows(ANNOUNCEMENT, announcements or []),
    }
    return BotPageContent(**{"bot": record or bot(), "rows": rows, **others})


def page(*records: Any, **others: Any) -> str:  # noqa: ANN401 - as above
    return render_bot(listed(*records, **others))


def text_of(html: str) -> str:
    return Outline(html).words


def test_a_new_bot_has_a_page_that_says_what_is_missing() -> None:
    html = page()
    text = text_of(html)

    assert "No commands are listed yet." in text
    assert "Nobody has voted yet." in text
    assert "About" not in text
    assert "Announcements" not in text
    assert not re.search(r"\d Servers|\d ratings", text)
    assert not re.search("This month|This week|Today", text)


def test_what_the_bot_is_and_its_numbers_are_shown() -> None:
    record = bot(
        profile={"username": "Lantern", "discriminator": "4821"},
        prefix="!",
        information={"overview": "Lights up.", "description": "**Every** channel", "tags": ["fun"]},
        statistics={"servers": 1284, "totalVotes": 5120, "monthlyVotes": 402},
        ratings={"average": 4.55, "total": 1},
        certificate=1,
    )
    html = page(record, voters=[voter(username="Ann")])
    text = text_of(html)

    for words in (
        *("Lantern Certified Lights up. fun", "About Every channel", "Servers 1,284"),
        *("Votes 5,120", "Votes: This month 402", "1 rating 4.5"),
        *("Prefix !", "Platform discord", "Tag Lantern#4821", "Id 7", "Listed since 4 March 2026"),
        "Latest voters Ann 4 March 2026 All voters",
    ):
        assert words in text
    assert "<title>Lantern · Bot listing</title>" in html


def test_commands_are_grouped_with_a_link_to_each_category() -> None:
    listed = [
        command(1, category="Fun", uses=1),
        command(2, uses=1234),
        command(3, category="Music"),
        command(4, category="Fun"),
    ]
    html = page(commands=listed)
    text = text_of(html)

    assert "Commands 4" in text
    assert "All 4 Fun 2 Other 1 Music 1 Fun n1 /n1 1 use d1 n4 /n4 d4 Other n2 /n2" in text
    assert "1,234 uses" in text
    for number in (1, 2, 3):
        assert f'href="#category-{number}"' in html
        assert f'id="category-{number}"' in html
    assert '<a href="#command-c3">n3</a>' in html


def test_a_category_is_named_and_a_list_without_any_has_no_list_of_categories() -> None:
    html = page(commands=[command(1), command(2)])

    assert "Categories" not in html
    assert '<h3 class="unseen">All commands</h3>' in html
    assert "<h3>Fun</h3>" in page(commands=[command(1, category="Fun")])


@pytest.mark.promise("pages-markdown")
def test_descriptions_are_markdown_and_long_ones_are_folded() -> None:
    long = "**Begins** here. " + "Goes on. " * 60
    html = page(commands=[command(1, description="Is `bold`."), command(2, description=long)])

    assert '<div class="prose" dir="auto"><p>Is <code>bold</code>.</p>' in html
    summary, folded = re.findall(
        r"beginning.>(.*?)</span>.*?</summary>(.*?)</details>", html, re.DOTALL
    )[0]
    assert summary.startswith("Begins here. Goes on.")
    assert len(summary) < 200
    assert "<strong>Begins</strong>" in folded
    assert long[-40:].strip() in folded


def test_announcements_begin_with_the_newest_and_old_ones_are_folded() -> None:
    html = page(announcements=[announcement(number) for number in range(1, 6)])
    folded = html.index('<details class="older"><summary>2 older</summary>')

    assert re.findall(r"<h3>(t\d)", html) == ["t5", "t4", "t3", "t2", "t1"]
    assert html.index(">t3") < folded < html.index(">t2")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://chat.example/invite?bot=7", True),
        ("HTTP://chat.example", True),
        (" https://chat.example", False),
        ("javascript:alert(1)", False),
        ("//chat.example", False),
        ("", False),
    ],
)
def test_only_an_address_of_the_web_is_an_invitation(url: str, shown: bool) -> None:  # noqa: FBT001 - a parameter
    html = page(bot(inviteURL=url))

    assert (f'href="{url}" rel="nofollow noopener noreferrer ugc">Invite</a>' in html) is shown
    assert ("Invite" in html) is shown


def test_headings_follow_one_another_without_a_gap() -> None:
    record = bot(information={"description": "# a\n### b"})
    levels = Outline(
        page(record, [command(1)], [announcement(1, description="# c\n# d")], voters=[voter()])
    ).headings()

    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert levels.count(1) == 1


def test_every_anchor_of_the_page_is_there_and_once() -> None:
    html = page(commands=[command(1, category="a"), command(2)])
    anchors = re.findall(r'href="#([^"]+)"', html)
    places = re.findall(r' id="([^"]+)"', html)

    assert set(anchors) <= set(places)
    assert len(places) == len(set(places))
    assert {"command-c1", "command-c2", "main"} <= set(anchors)


def test_a_record_of_any_kind_is_shown_by_its_fields() -> None:
    texts = {kind: [f"{name} of it" for name in kind.fields] for kind in OF_MANIFEST}
    rows = {
        kind: [RecordRow(kind, dict(zip(kind.fields, texts[kind], strict=True)), f"{kind}-1")]
        for kind in OF_MANIFEST
    }
    text = text_of(render_bot(BotPageContent(bot=bot(), rows=rows)))

    for kind in OF_MANIFEST:
        assert kind.collection.capitalize() in text
        assert all(field in text for field in texts[kind])


FIELDS = (
    *("name", "overview", "tag", "prefix", "provider", "discriminated", "command", "syntax"),
    *("category", "title", "voter"),
)


def hostile_page(text: dict[str, str]) -> Outline:
    """Return a page with a text in every field that is shown as it is."""
    record = bot(
        profile={"username": text["name"], "tag": text["discriminated"]},
        information={"overview": text["overview"], "tags": [text["tag"]]},
        prefix=text["prefix"],
        provider=text["provider"],
    )
    first = command(
        1,
        name=text["command"],
        syntax=text["syntax"],
        category=text["category"],
    )
    shown = listed(
        record,
        [first],
        [announcement(title=text["title"])],
        voters=[voter(username=text["voter"])],
    )
    return Outline(render_bot(shown))


@cache
def harmless_page() -> Outline:
    return hostile_page(dict.fromkeys(FIELDS, "a"))


@pytest.mark.promise("pages-escape")
@given(some=st.tuples(bot_texts, bot_texts, bot_texts))
def test_no_text_changes_the_structure_of_the_page(some: tuple[str, ...]) -> None:
    fields = dict(zip(FIELDS, cycle(some), strict=False))
    written = hostile_page(fields)

    assert written.tags == harmless_page().tags
    assert all(readable(text) in written.text for text in some)
    for link in written.links:
        assert (link["href"] or "").startswith(("/", "#"))


HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
ENTITIES = ("&#x202e;", "&#8206;", "&lrm;", "&#27;", "&#x85;")


@pytest.mark.promise("pages-controls")
@given(
    some=st.lists(
        st.sampled_from(ENTITIES) | st.from_regex(HIDDEN, fullmatch=True) | texts,
        min_size=1,
        max_size=5,
    ).map("".join)
)
def test_no_page_contains_a_control_or_changes_the_direction_of_text(some: str) -> None:
    of_bot = some.replace("\x00", "") or "a"  # which has no NUL
    record = bot(information={"description": of_bot, "tags": [of_bot]})
    shown = hostile_page(dict.fromkeys(FIELDS, of_bot))
    marked = f"{some} **b**"
    marked_down = Outline(
        page(record, [command(description=marked)], [announcement(description=marked)])
    )

    for outline in (shown, marked_down):
        assert HIDDEN.findall("".join((outline.text, *outline.values))) == []


@given(tag=bot_texts)
def test_a_tag_leads_to_the_bots_that_have_it(tag: str) -> None:
    links = Outline(page(bot(information={"tags": [tag]}))).links
    (href,) = (link["href"] or "" for link in links if link.get("class") == "tag")

    assert re.fullmatch(r"/\?tags=[\w%+.~/-]+", href, re.ASCII)
