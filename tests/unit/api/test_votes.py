"""A vote is what is called one: `voted` decides, `success` only where nothing else does."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from commandsync.api import answers
from commandsync.errors import DecodeError, Invalid, Reply

Body = dict[str, Any]

SPELLINGS: list[tuple[object, bool]] = [(True, True), (1, True), (False, False), (0, False)]
NEITHER: tuple[object, ...] = (
    *(None, "true", "false", "yes", "", "1", 2, -1, 0.5),
    *([], [True], {}, {"voted": True}),
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


def checked(body: object, status: int = 200) -> bool:
    return answers.voted(Reply(status, json.dumps(body).encode()))


def test_voted_decides_wherever_it_is() -> None:
    wrong = [body for body, voted in generated(SPELLINGS) if checked(body) is not voted]

    assert wrong == []


@pytest.mark.parametrize("depth", range(3))
def test_voted_with_another_value_is_neither_yes_nor_no(depth: int) -> None:
    rng = random.Random(depth)  # noqa: S311 - the same in every run
    for word in NEITHER:
        with pytest.raises(DecodeError, match="neither yes nor no"):
            checked(placed({"voted": word}, depth, rng) | {"success": True})


@pytest.mark.parametrize("data", [False, True, None, 0, 1, "no", []], ids=json.dumps)
def test_data_that_says_nothing_of_a_vote_is_neither_yes_nor_no(data: object) -> None:
    with pytest.raises(DecodeError, match="neither yes nor no"):
        checked({"success": True, "data": data})


@pytest.mark.parametrize("body", [{}, {"data": []}, [], True])
def test_an_answer_that_says_nothing_is_neither_yes_nor_no(body: object) -> None:
    with pytest.raises(DecodeError, match="neither yes nor no"):
        checked(body)


@pytest.mark.parametrize(
    ("body", "status", "voted"),
    [
        ({"success": True}, 200, True),
        ({"success": True, "message": "ok"}, 200, True),
        ({"success": True, "error": None}, 200, True),
        ({"success": True, "message": "odd"}, 404, False),
        *(
            ({"success": False} | words, status, False)
            for status in (200, 404)
            for words in ({}, {"message": "User has not voted in the last 12 hours"})
        ),
        ({"voted": False}, 404, False),
    ],
)
def test_success_decides_where_nothing_else_is_said(
    body: object, status: int, *, voted: bool
) -> None:
    assert checked(body, status) is voted


@pytest.mark.parametrize(
    "words",
    [
        "The entered bot token is invalid",
        "Invalid bot token.",
        "TOKEN EXPIRED",
        "No token was provided",
    ],
)
def test_a_token_that_is_refused_in_words_is_an_error_and_never_no(words: str) -> None:
    with pytest.raises(Invalid, match=words):
        checked({"success": False, "message": words})
