import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import validate_call
from starlette.datastructures import QueryParams

from commandsync.pages.templates import render
from commandsync.records.display import readable
from commandsync.records.models import Bot
from commandsync.server.endpoint import wanted_of
from commandsync.server.page_routes import SORTS, address, pages_of, render_list
from commandsync.server.search import SORT_PATTERN, FoundBots, Wanted
from tests.support.pages import Outline, bot, bot_texts, texts, voter


def page(*bots: Bot, number: int | None = None, is_more: bool = False, **wanted: Any) -> str:  # noqa: ANN401 - fields
    return render_list(
        bots,
        found=FoundBots([], len(bots) if number is None else number, is_more=is_more),
        wanted=Wanted(**wanted),
    )


def read(link: str) -> Wanted:
    """What an address of the list asks for, read as the service reads it."""
    parameters: dict[str, Any] = dict(QueryParams(link.partition("?")[2]))
    return validate_call(wanted_of)(**parameters)


@given(
    wanted=st.builds(
        Wanted,
        page=st.integers(1, 10**9),
        q=texts | st.just(""),
        sort=st.sampled_from([*SORTS]),
        limit=st.integers(1, 100),
        ids=st.none() | st.just(("7", "8")),
        certified=st.none() | st.booleans(),
        tags=st.lists(st.sampled_from(["music", "a b", "&", "é"]), unique=True).map(tuple),
    )
)
def test_the_state_of_the_list_is_in_its_address(wanted: Wanted) -> None:
    assert read(address(wanted, page=wanted.page)) == wanted


def test_every_order_that_is_offered_is_one_of_the_interface() -> None:
    assert all(re.fullmatch(SORT_PATTERN, sort) for sort in SORTS)


def test_the_form_shows_what_was_asked_for() -> None:
    html = page(bot(), q='"x"', tags=("a", "b"), sort="-servers", certified=False)

    assert 'value="&#34;x&#34;"' in html
    assert 'value="a, b"' in html
    assert '<option value="-servers" selected>' in html
    assert '<option value="false" selected>' in html


def test_an_order_of_the_interface_that_is_not_offered_stays_selected() -> None:
    assert '<option value="-state" selected>-state</option>' in page(bot(), sort="-state")


def test_a_tag_adds_to_the_tags_of_the_list_and_leads_to_its_first_page() -> None:
    html = page(bot(information={"tags": ["fun", "music"]}), number=40, page=2, tags=("music",))
    links = [unescape(link) for link in re.findall(r'class="tag" href="([^"]+)"', html)]

    assert links == ["/", "/?tags=music%2Cfun", "/?tags=music"]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({}, "No bot is listed yet Add the first one with commandsync bots add ID --name NAME ."),
        ({"q": "x"}, "No bot matches Try fewer words or tags, or show all bots ."),
        ({"certified": True}, "No bot matches Try fewer words or tags, or show all bots ."),
        ({"page": 7}, "Page 7 does not exist The list has 1 page. Go to the last one"),
    ],
)
def test_an_empty_list_says_why_and_what_to_do(wanted: dict[str, Any], words: str) -> None:
    assert words in Outline(page(**wanted)).words


def test_the_pages_before_and_after_are_linked() -> None:
    html = page(bot(), number=40, page=2)

    assert '<a class="button" rel="prev" href="/">' in html
    assert '<a class="button" rel="next" href="/?page=3">' in html
    assert '<a href="/?page=2" aria-current="page">' in html


def test_a_search_that_finds_many_bots_says_so_and_shows_the_pages_after_the_counted_ones() -> None:
    counted = page(bot(), number=1_000, is_more=True, q="x")
    later = page(bot(), number=1_000, is_more=True, q="x", page=90)

    assert "more than 1,000 bots for" in Outline(counted).words
    assert '<a href="/?q=x&amp;page=84">' in counted
    assert '<a href="/?q=x&amp;page=90" aria-current="page">' in later


@given(name=bot_texts, overview=bot_texts, tag=bot_texts, q=texts)
def test_no_text_changes_the_lists_structure(name: str, overview: str, tag: str, q: str) -> None:
    def outline(name: str, overview: str, tag: str, q: str) -> Outline:
        listed = bot(profile={"username": name}, information={"overview": overview, "tags": [tag]})
        return Outline(page(listed, q=q, tags=(tag,)))

    written = outline(name, overview, tag, q)

    assert written.tags == outline("a", "a", "a", "a").tags
    for text in (name, overview, tag, q):
        assert readable(text) in written.text
    assert readable(q) in written.values


def test_numbers_are_grouped_and_those_that_say_nothing_are_left_out() -> None:
    html = page(bot(statistics={"servers": 1234567}), bot("8"))

    assert "No description yet. Servers 1,234,567 L Lantern No description yet." in (
        Outline(html).words
    )
    assert "Rating" not in html
    assert html.count("<dl") == 1


@pytest.mark.parametrize(
    ("page", "last", "linked", "earlier", "later"),
    [
        (1, 1, [1], None, None),
        (1, 2, [1, 2], None, "2"),
        (2, 2, [1, 2], "1", None),
        (5, 9, [1, 3, 4, 5, 6, 7, 9], "4", "6"),
        (9, 9, [1, 7, 8, 9], "8", None),
        (12, 9, [1, 9], None, None),
    ],
)
def test_the_first_the_last_and_the_near_pages_are_linked(
    page: int, last: int, linked: list[int], earlier: str | None, later: str | None
) -> None:
    paging = pages_of(page, last, str)

    assert [number for number, _ in paging.pages] == linked
    assert all(address == str(number) for number, address in paging.pages)
    assert (paging.earlier, paging.later) == (earlier, later)


def voters_page(*names: str, bot_name: str = "Lantern", total: int | None = None) -> str:
    votes = len(names) if total is None else total
    return render(
        "voters",
        bot=bot(profile={"username": bot_name}, statistics={"totalVotes": votes}),
        voters=[voter(username=name) for name in names],
        paging=pages_of(1, 1, "?page={}".format),
    )


def test_each_vote_is_listed_with_its_day() -> None:
    text = Outline(voters_page("Ann", "Bob")).words

    assert "Voters Lantern , 2 votes Ann 4 March 2026 Bob 4 March 2026" in text


def test_a_bot_without_votes_asks_for_the_first() -> None:
    html = voters_page()

    assert "Nobody has voted yet" in html
    assert 'href="/bot/7">Be the first one</a>' in html


def test_votes_without_recorded_voters_do_not_read_as_no_votes() -> None:
    text = Outline(voters_page(total=5120)).words

    assert "5,120 votes" in text
    assert "No voters are recorded" in text
    assert "Nobody has voted yet" not in text


@settings(max_examples=20)
@given(name=bot_texts, user=texts)
def test_no_name_changes_the_structure_of_the_voters_page(name: str, user: str) -> None:
    written = Outline(voters_page(user, bot_name=name))

    assert written.tags == Outline(voters_page("a", bot_name="a")).tags
    assert readable(name) in written.text
    assert readable(user) in written.text
