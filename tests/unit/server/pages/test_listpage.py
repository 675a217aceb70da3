import re
from html import unescape
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from commandsync.server.pages.assets import served
from commandsync.server.pages.listpage import SORTS, address, render_list
from commandsync.server.pages.query import wanted_of
from commandsync.server.selection import SORT_PATTERN, Wanted
from tests.support.botpages import bot
from tests.support.hostile import texts
from tests.support.outline import Outline


def page(*bots: dict[str, Any], number: int | None = None, **wanted: Any) -> str:  # noqa: ANN401 - fields
    return render_list(
        bots,
        number=len(bots) if number is None else number,
        wanted=Wanted(**wanted),
        assets=served(),
    )


def read(link: str) -> Wanted:
    """What an address of the list asks for, read as the service reads it."""
    return wanted_of(QueryParams(link.partition("?")[2]))


@settings(max_examples=50)
@given(
    wanted=st.builds(
        Wanted,
        page=st.integers(1, 10**9),
        q=texts | st.just(""),
        sort=st.sampled_from([*SORTS]),
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
        ({"page": 7}, "There is no page 7 The list has 1 page. Go to the last one"),
    ],
)
def test_an_empty_list_says_why_and_what_to_do(wanted: dict[str, Any], words: str) -> None:
    assert words in Outline(page(**wanted)).words


def test_a_page_past_the_end_names_the_last_one() -> None:
    html = page(number=25, page=9, q="x")

    assert "The list has 3 pages" in html
    assert 'href="/?q=x&amp;page=3"' in html


def test_the_pages_before_and_after_are_linked() -> None:
    html = page(bot(), number=40, page=2)

    assert '<a class="button" rel="prev" href="/">' in html
    assert '<a class="button" rel="next" href="/?page=3">' in html
    assert '<a href="/?page=2" aria-current="page">' in html


@settings(max_examples=40)
@given(name=texts, overview=texts, tag=texts, q=texts)
def test_no_text_changes_the_structure_of_the_list(
    name: str, overview: str, tag: str, q: str
) -> None:
    def outline(name: str, overview: str, tag: str, q: str) -> Outline:
        listed = bot(profile={"username": name}, information={"overview": overview, "tags": [tag]})
        return Outline(page(listed, q=q, tags=(tag,)))

    written = outline(name, overview, tag, q)

    assert written.tags == outline("a", "a", "a", "a").tags
    for text in (name, overview, tag, q):
        assert text in written.text
    assert q in written.values


def test_numbers_are_grouped_and_missing_ratings_are_named() -> None:
    html = page(bot(statistics={"servers": 1234567}))
    text = Outline(html).text

    assert "1,234,567" in text
    assert "none" in text
