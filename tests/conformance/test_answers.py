"""One odd value makes no page unreadable, and interim answers (RFC 9110, 15.2) are passed over."""

import logging
import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from commandsync import ListingError, TransportError
from tests.support.bots import WHOLE
from tests.support.clients import TOKEN, Open
from tests.support.rawserver import RawServer, answer, answering, dripping, keeping, sending

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


SWITCHING = 101


def interim(rng: random.Random) -> bytes:
    """Return up to four interim answers, those that are in use more often than others."""
    unused = [status for status in range(104, 200) if status != SWITCHING]
    sent = b""
    for _ in range(rng.randint(1, 4)):
        status = rng.choice([100, 102, 103, 103, 103, rng.choice(unused)])
        links = "".join(
            f"Link: </{rng.randrange(10**6)}.css>; rel=preload\r\n"
            for _ in range(rng.randint(0, 3))
        )
        sent += f"HTTP/1.1 {status} Wait\r\n{links}\r\n".encode()
    return sent


@pytest.mark.parametrize("seed", range(5))
def test_each_caller_gets_its_own_answer(open_client: Open, server: RawServer, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same in every run
    votes = {str(rng.randrange(10**17, 10**18)): rng.random() < 0.5 for _ in range(10)}
    server.then(*[keeping(interim(rng) + answer({"voted": voted})) for voted in votes.values()])
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    told = {user: client.check_vote(user) for user in votes}

    assert told == votes
    assert {request.connection for request in server.requests} == {1}


def test_interim_answers_without_end_are_a_time_out(open_client: Open, server: RawServer) -> None:
    server.then(dripping(b"", tail=b"HTTP/1.1 102 Processing\r\n\r\n"))
    client = open_client(TOKEN, server.url, bot="42", retries=0, timeout=0.5)

    with pytest.raises(TransportError, match=r"within 0\.5 s"):
        client.get_commands()


def test_an_unrequested_switch_of_protocol_fails(open_client: Open, server: RawServer) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    server.then(sending(head + answer({"voted": True})))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(ListingError):
        client.check_vote("7")
