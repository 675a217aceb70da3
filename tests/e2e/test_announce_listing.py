"""`announce --post --listing`: one request to a service that does not return what was posted."""

from collections.abc import Iterator

import pytest

from commandsync.testing import SimulatedListing, serve_simulation
from tests.support.home import Home, Ran, fields

NOTES = "Slash commands work everywhere now.\n"


@pytest.fixture
def top_gg(home: Home) -> Iterator[SimulatedListing]:
    with serve_simulation("top.gg") as listing:
        home.variable(listing.variable, listing.token)
        home.write(f"{fields(('help',))}{listing.manifest}")
        home.write(NOTES, "news.md")
        yield listing


def post(home: Home, *more: str, exits: int | None = None) -> Ran:
    where = more or ("--listing", "top.gg")
    given = ("--title", "Slash commands", "--notes-file", "news.md", "--post", "--yes")
    return home.run("announce", *given, *where, exits=exits)


def test_it_is_posted_in_one_request(home: Home, top_gg: SimulatedListing) -> None:
    before = home.read("commands.yaml")

    ran = post(home, exits=0)

    (posted,) = top_gg.announcements
    assert ran.out == 'posted "Slash commands" at top.gg\n'
    assert "Slash commands work everywhere now." in ran.err
    assert (posted["title"], posted["content"]) == (
        "Slash commands",
        "Slash commands work everywhere now.",
    )
    assert [each.method for each in top_gg.requests] == ["POST"]
    assert home.read("commands.yaml") == before
    assert top_gg.token not in ran.said


@pytest.mark.parametrize("after_write", [True, False], ids=["posted", "not posted"])
def test_a_lost_answer_is_incomplete_and_it_is_not_posted_again(
    home: Home, top_gg: SimulatedListing, *, after_write: bool
) -> None:
    top_gg.lose_next(after_write=after_write)

    ran = post(home, exits=6)

    assert "result is unknown" in ran.err
    assert "page at top.gg" in ran.err
    assert len(top_gg.requests) == 1
    assert len(top_gg.announcements) == after_write


def test_after_405_it_is_posted_with_the_other_method(home: Home) -> None:
    with serve_simulation("top.gg", announcements="put") as listing:
        home.variable(listing.variable, listing.token)
        home.write(f"{fields(('help',))}{listing.manifest}")
        home.write(NOTES, "news.md")

        post(home, exits=0)

        assert [each.method for each in listing.requests] == ["POST", "PUT"]
        assert len(listing.announcements) == 1


@pytest.mark.parametrize("status", [401, 429])
def test_what_was_refused_was_not_posted(home: Home, top_gg: SimulatedListing, status: int) -> None:
    top_gg.fail_next(status)

    assert post(home).code == 1
    assert len(top_gg.requests) == 1
    assert top_gg.announcements == []


@pytest.mark.parametrize(
    ("line", "notes", "code", "message"),
    [
        ("--listing top.gg", "Short.", 2, "top.gg has 10 to 2,000 characters"),
        ("--listing top.gg", "The secret is {token} today.", 5, "contains a token"),
        ("--listing top.gg", "It is a-token-for-discord today.", 5, "contains a token"),
        ("--listing telegram", "", 2, "services that do: top.gg"),
        ("--listing listing.example", "", 2, "is not one service in listings:"),
        ("--listing top.gg --listing telegram", "", 2, "top.gg, telegram is not one service"),
    ],
)
def test_what_cannot_be_posted_is_not_sent(
    home: Home, top_gg: SimulatedListing, line: str, notes: str, code: int, message: str
) -> None:
    home.write(f"{home.read('commands.yaml')}  - service: telegram\n")
    home.variable("DISCORD_TOKEN", "a-token-for-discord")
    if notes:
        home.write(f"{notes.format(token=top_gg.token)}\n", "news.md")

    ran = post(home, *line.split(), exits=code)

    assert top_gg.requests == []
    assert top_gg.token not in ran.said
    assert message in ran.err


def test_without_a_token_nothing_is_sent(home: Home, top_gg: SimulatedListing) -> None:
    home.forget(top_gg.variable)

    ran = post(home, exits=2)

    assert "for top.gg" in ran.err
    assert top_gg.requests == []


def test_a_refused_token_of_top_gg_gets_the_place_of_the_right_one(
    home: Home, top_gg: SimulatedListing
) -> None:
    home.variable(top_gg.variable, "a-token-of-the-interface-v0")

    ran = post(home, exits=1)

    assert "tokens of the interface v0 are not accepted" in ran.err
    assert "Integrations & API" in ran.err
