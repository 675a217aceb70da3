"""One odd value makes no page unreadable; errors are told in the service's own words."""

import json
import logging
import random
import string
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from commandsync import ApiError
from tests.support.clients import TOKEN, Open
from tests.support.listedbot import WHOLE
from tests.support.rawserver import RawServer, answering

Path = tuple[str, ...]

ODD: tuple[object, ...] = (
    *(None, True, False, 0, -7, 1e300, 0.5, "", "  ", "n/a", "12,345"),
    *([], [None], ["a", 7], {}),
)
ODDER: tuple[object, ...] = ({"id": []}, [{"a": 1}], "\ud800", 10**30, "NaN")


def places(node: dict[str, Any], above: Path = ()) -> Iterator[Path]:
    """Return where a value can be odd: every field, and every object as a whole."""
    for name, value in node.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from places(value, (*above, name))


def spoilt(place: Path, value: object, identifier: str) -> dict[str, Any]:
    """Return a bot with one odd value."""
    bot = deepcopy(WHOLE) | {"id": identifier}
    node = bot
    for name in place[:-1]:
        node = node[name]
    node[place[-1]] = value
    return bot


def odd_bots() -> list[dict[str, Any]]:
    cases = [(place, odd) for place in places(WHOLE) if place != ("id",) for odd in ODD + ODDER]
    return [spoilt(*case, str(1000 + n)) for n, case in enumerate(cases)]


def page(items: list[Any]) -> object:
    return {"success": True, "data": {"data": items, "queries": {"page": 1, "maxPage": 1}}}


def test_one_odd_value_makes_no_page_unreadable(open_client: Open, server: RawServer) -> None:
    bots = odd_bots()
    server.then(answering(page(bots)))

    listed = open_client(TOKEN, server.url, retries=0).list_bots(limit=100).bots

    assert [bot.id for bot in listed] == [bot["id"] for bot in bots]
    whole = listed[0].statistics
    assert (whole.servers, whole.total_votes, listed[0].information.tags) == (
        12,
        4,
        ("fun", "music"),
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_bot_full_of_odd_values_is_read(open_client: Open, server: RawServer, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    bot: dict[str, Any] = {name: rng.choice(ODD + ODDER) for name in WHOLE} | {"id": "42"}
    server.then(answering({"success": True, "data": bot}))

    assert open_client(TOKEN, server.url, retries=0).get_bot("42").id == "42"


NUMBERS: list[tuple[object, int | None]] = [
    (12345, 12345),
    (1.5, 1),
    (1e400, None),
    ("12345", 12345),
    ("12,345", 12345),
    ("1,234,567", 1234567),
    (" 12 345 ", 12345),
    ("0", 0),
]


def test_a_number_in_a_text_is_read(open_client: Open, server: RawServer) -> None:
    bots = [
        spoilt(("statistics", "servers"), text, str(n)) for n, (text, _) in enumerate(NUMBERS, 1)
    ]
    server.then(answering(page(bots)))

    listed = open_client(TOKEN, server.url, retries=0).list_bots().bots

    assert [bot.statistics.servers for bot in listed] == [number for _, number in NUMBERS]


@pytest.mark.parametrize("seed", range(3))
def test_tags_in_one_text_are_read(open_client: Open, server: RawServer, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    tags = ["".join(rng.choices(string.ascii_letters + " é-", k=9)).strip() for _ in range(4)]
    said = rng.choice([", ", ",", " , "]).join(tags)
    server.then(answering({"data": spoilt(("information", "tags"), said, "42")}))

    bot = open_client(TOKEN, server.url, retries=0).get_bot("42")

    assert bot.information.tags == tuple(tags)


@pytest.mark.parametrize("field", ["state", "certificate", "status"])
def test_what_cannot_be_read_is_none_with_a_debug_line_and_kept_in_raw(
    open_client: Open, server: RawServer, caplog: pytest.LogCaptureFixture, field: str
) -> None:
    caplog.set_level(logging.DEBUG, "commandsync")
    server.then(answering({"data": spoilt((field,), "online", "42")}))

    bot = open_client(TOKEN, server.url, retries=0).get_bot("42")

    assert getattr(bot, field) is None
    assert bot.raw[field] == "online"
    lines = [record for record in caplog.records if field in record.getMessage()]
    assert [record.levelno for record in lines] == [logging.DEBUG]


def test_one_odd_voter_makes_no_page_unreadable(open_client: Open, server: RawServer) -> None:
    voters = [{"id": str(n), "username": odd, "votes": odd} for n, odd in enumerate(ODD + ODDER, 1)]
    server.then(answering(page(voters)))

    listed = open_client(TOKEN, server.url, bot="42", retries=0).get_voters().voters

    assert [voter.id for voter in listed] == [voter["id"] for voter in voters]


def worded() -> dict[str, tuple[object, list[str]]]:
    """Return error answers, each with the words that are in it."""
    rng = random.Random(4)  # noqa: S311 - the same in every run
    letters = string.ascii_letters + " üñ'."

    def words() -> str:
        return " ".join("".join(rng.choices(letters, k=30)).split())

    one, two = words(), words()
    return {
        "an object": ({"error": {"message": one}}, [one]),
        "an object with a code": ({"error": {"code": 1013, "message": one}}, [one]),
        "an object beside success": ({"success": False, "error": {"message": one}}, [one]),
        "a list of texts": ({"errors": [one, two]}, [one, two]),
        "a list of objects": ({"errors": [{"message": one}, {"message": two}]}, [one, two]),
        "a list with fields": ({"errors": [{"field": "name", "message": two}]}, [two]),
        "a list of one": ({"success": False, "errors": [one]}, [one]),
    }


WORDED = worded()


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
@pytest.mark.parametrize(("body", "words"), WORDED.values(), ids=WORDED.keys())
def test_an_error_is_told_in_the_services_own_words(
    open_client: Open, server: RawServer, status: int, body: object, words: list[str]
) -> None:
    server.then(answering(json.dumps(body).encode(), status=status))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(ApiError) as caught:
        client.get_commands()

    assert all(word in str(caught.value) for word in words)
