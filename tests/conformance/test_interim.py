"""Interim answers (RFC 9110, 15.2) are passed over: the answer is what comes after them."""

import random

import pytest

from commandsync import ListingError, TransportError
from tests.support.clients import TOKEN, Open
from tests.support.rawserver import RawServer, answer, dripping, keeping, sending

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
def test_each_caller_gets_its_own_answer_after_interim_ones(
    open_client: Open, server: RawServer, seed: int
) -> None:
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


def test_a_switch_of_protocols_that_nobody_asked_for_is_an_error(
    open_client: Open, server: RawServer
) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    server.then(sending(head + answer({"voted": True})))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(ListingError):
        client.check_vote("7")
