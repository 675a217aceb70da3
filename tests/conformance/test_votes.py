"""A vote is what is called one: `voted` decides, `success` only where nothing else does."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from commandsync import ApiError, DecodeError
from tests.support.clients import Either
from tests.support.rawserver import RawServer, answering

Open = Callable[..., Either]
Body = dict[str, Any]

TOKEN = "marked-token-7f3a9c1e"
SPELLINGS: list[tuple[object, bool]] = [(True, True), (1, True), (False, False), (0, False)]
NEITHER: tuple[object, ...] = (
    None,
    "true",
    "false",
    "yes",
    "",
    "1",
    2,
    -1,
    0.5,
    [],
    [True],
    {},
    {"voted": True},
)


def placed(said: Body, depth: int, rng: random.Random) -> Body:
    """Return an answer with `voted` so deep, `success` beside it or not, and other fields."""
    body = said
    for level in range(depth + 1):
        noise: Body = {"passingTime": f"{rng.randint(1, 99)}ms", "user": str(rng.randrange(10**9))}
        body = {name: noise[name] for name in noise if rng.random() < 0.5} | body
        if level < depth:
            body = {"data": body}
    return rng.choice([{}, {"success": True}, {"success": False}]) | body


def generated(spellings: list[tuple[object, bool]]) -> Iterator[tuple[Body, bool]]:
    rng = random.Random(7)  # noqa: S311 - the same in every run
    for depth in range(3):
        for word, voted in spellings:
            for _ in range(6):
                yield placed({"voted": word}, depth, rng), voted


def test_voted_decides_wherever_it_is(open_client: Open, server: RawServer) -> None:
    cases = list(generated(SPELLINGS))
    server.then(*[answering(body) for body, _ in cases])
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    wrong = [body for body, voted in cases if client.check_vote("7") is not voted]

    assert wrong == []


@pytest.mark.parametrize("depth", range(3))
def test_voted_with_another_value_is_neither_yes_nor_no(
    open_client: Open, server: RawServer, depth: int
) -> None:
    rng = random.Random(depth)  # noqa: S311 - the same in every run
    cases = [placed({"voted": word}, depth, rng) | {"success": True} for word in NEITHER]
    server.then(*[answering(body) for body in cases])
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    for _ in cases:
        with pytest.raises(DecodeError):
            client.check_vote("7")


@pytest.mark.parametrize("data", [False, True, None, 0, 1, "no", []], ids=json.dumps)
def test_data_that_says_nothing_of_a_vote_is_neither_yes_nor_no(
    open_client: Open, server: RawServer, data: object
) -> None:
    server.then(answering({"success": True, "data": data}))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(DecodeError):
        client.check_vote("7")


@pytest.mark.parametrize("status", [200, 404])
def test_success_decides_where_nothing_else_is_said(
    open_client: Open, server: RawServer, status: int
) -> None:
    words = {"message": "User has not voted in the last 12 hours"}
    no = [{"success": False}, {"success": False} | words]
    yes = [] if status == 404 else [{"success": True}, {"success": True, "message": "ok"}]
    server.then(*[answering(body, status=status) for body in no + yes])
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    told = [client.check_vote("7") for _ in no + yes]

    assert told == [False] * len(no) + [True] * len(yes)


@pytest.mark.parametrize(
    "words",
    [
        "The entered bot token is invalid",
        "Invalid bot token.",
        "TOKEN EXPIRED",
        "No token was provided",
    ],
)
def test_a_token_that_is_refused_in_words_is_an_error_and_never_no(
    open_client: Open, server: RawServer, words: str
) -> None:
    server.then(answering({"success": False, "message": words}))
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(ApiError, match=words):
        client.check_vote("7")
