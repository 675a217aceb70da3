from hypothesis import given, settings

from commandsync.server.pages.assets import served
from commandsync.server.pages.voterspage import render_voters
from tests.support.botpages import bot, voter
from tests.support.hostile import texts
from tests.support.outline import Outline


def page(*names: str, number: int = 1, last: int = 1, bot_name: str = "Lantern") -> str:
    return render_voters(
        bot(profile={"username": bot_name}, statistics={"totalVotes": len(names)}),
        [voter(username=name) for name in names],
        page=number,
        last=last,
        assets=served(),
    )


def test_each_vote_is_listed_with_its_day() -> None:
    text = Outline(page("Ann", "Bob")).words

    assert "Voters Lantern , 2 votes Ann 4 March 2026 Bob 4 March 2026" in text


def test_a_bot_without_votes_asks_for_the_first() -> None:
    html = page()

    assert "Nobody has voted yet" in html
    assert 'href="/bot/7">Be the first one</a>' in html


def test_a_page_past_the_end_names_the_last_one() -> None:
    html = page(number=4, last=3)

    assert "There is no page 4" in html
    assert 'href="?page=3">Go to the last one</a>' in html


def test_the_pages_before_and_after_are_linked() -> None:
    html = page("Ann", number=2, last=3)

    assert 'rel="prev" href="?page=1"' in html
    assert 'rel="next" href="?page=3"' in html


@settings(max_examples=20)
@given(name=texts, user=texts)
def test_no_name_changes_the_structure_of_the_page(name: str, user: str) -> None:
    written = Outline(page(user, bot_name=name))

    assert written.tags == Outline(page("a", bot_name="a")).tags
    assert name in written.text
    assert user in written.text
