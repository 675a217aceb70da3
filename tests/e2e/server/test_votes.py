"""Votes and statistics over HTTP: who may cast one, how they are listed, checked and counted."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from commandsync.server import votes
from commandsync.server.database import opened
from commandsync.server.service import running
from tests.support.bots import Service
from tests.support.callers import Caller
from tests.support.gateway import Listener

ANN = {"id": "80351110224678912", "username": "Ann", "avatar": "a1"}


def vote(caller: Caller, user: object = ANN) -> tuple[int, Any]:
    return caller.ask("POST", "/votes", {"user": user})


def test_a_vote_is_listed_checked_and_counted(caller: Caller) -> None:
    status, answer = vote(caller)
    _, voters = caller.ask("GET", "/voters", Authorization=None)
    _, check = caller.ask("GET", f"/voters/{ANN['id']}", Authorization=None)
    _, bot = caller.ask("GET")
    (voter,) = voters["data"]["data"]

    assert (status, set(answer)) == (200, {"success", "message", "passingTime"})
    assert voters["data"]["queries"] == {"page": 1, "limit": 10, "maxPage": 1}
    assert {**ANN, "votedAt": voter["votedAt"]} == voter
    assert (check["success"], check["voted"]) == (True, True)
    assert bot["data"]["statistics"] == {
        **dict.fromkeys(("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes"), 1),
        "servers": 0,
    }


def test_a_second_vote_is_refused_with_the_time_left(caller: Caller) -> None:
    vote(caller)
    headers, body = caller.headers(), json.dumps({"user": ANN}).encode()
    refusal = caller.raw("POST", f"/v1/bot/{caller.bot}/votes", body, headers)
    left = int(refusal.headers["retry-after"])

    assert (refusal.status, 12 * 3600 - 60 < left <= 12 * 3600) == (409, True)
    assert vote(caller)[0] == 409
    assert json.loads(refusal.content) == {
        "error": f"user {ANN['id']} has voted, and may vote again in 12 h"
    }


def test_who_has_not_voted_is_a_no_in_both_forms(caller: Caller) -> None:
    for user in ("1", "nobody", "%00", "%FF", "a%20b", "%F0%9F%A4%96"):
        status, check = caller.ask("GET", f"/voters/{user}")

        assert (status, check["success"], check["voted"]) == (200, False, False)


def test_a_user_without_a_name_is_called_by_the_id(caller: Caller) -> None:
    vote(caller, {"id": "7", "username": None, "discriminator": "0"})
    (voter,) = caller.ask("GET", "/voters")[1]["data"]["data"]

    assert (voter["id"], voter["username"], voter["avatar"]) == ("7", "7", "")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "user is missing"),
        ([], "the body (application/json) must be a JSON object"),
        ({"user": "7"}, "user must be a JSON object"),
        ({"user": {}}, "user.id is missing"),
        ({"user": {"id": 7}}, "user.id must be a string"),
        ({"user": {"id": "a/b"}}, "user.id is not valid"),
        ({"user": {"id": "7", "username": ""}}, "user.username must not be empty"),
        ({"user": {"id": "7", "avatar": "\ud800"}}, "user.avatar contains half of a surrogate"),
    ],
)
def test_a_vote_that_is_not_valid_is_refused(caller: Caller, body: object, problem: str) -> None:
    status, answer = caller.ask("POST", "/votes", body)

    assert status == 400
    assert answer["error"].startswith(problem)


# Statistics


def test_statistics_are_shown_as_reported(caller: Caller) -> None:
    vote(caller)
    before = caller.ask("GET")[1]["data"]
    caller.ask("POST", "/stats", {"servers": 1284, "shards": 3})
    status, _ = caller.ask("POST", "/stats", {"servers": 1285, "shards": None, "totalVotes": 9})
    after = caller.ask("GET")[1]["data"]
    statistics = {**before["statistics"], "servers": 1285, "shards": 3}

    assert (status, after) == (200, {**before, "statistics": statistics})


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"shards": 1}, "servers is missing"),
        ({"servers": -1}, "servers must be at least 0"),
        ({"servers": "1"}, "servers must be a whole number"),
        ({"servers": 1, "shards": 2**53}, "shards must be at most 9007199254740991"),
    ],
)
def test_invalid_statistics_are_refused(caller: Caller, body: object, problem: str) -> None:
    assert caller.ask("POST", "/stats", body) == (400, {"error": problem})


# The interval of a service, and its reminders


def test_late_reminders_go_to_the_first_connection_once(database_url: str) -> None:
    users = [str(number) for number in range(150)]  # more than one transaction sends
    with opened(database_url) as store:
        bot = Service("", store).bot()
        with store.writing() as connection:
            for number, user in enumerate(users):
                at = datetime.now(UTC) - timedelta(days=1, seconds=-number)
                votes.cast(connection, bot.id, {**ANN, "id": user}, at=at)
        for _ in range(2):
            with running(database_url):
                pass  # nobody is connected
        with (
            running(database_url) as service,
            Listener(service.url, {"token": bot.token}) as first,
        ):
            assert first.greeted().users(len(users)) == users
            with Listener(service.url, {"token": bot.token}) as second:
                second.greeted()
                bot.cast("151")

                assert (first.users(1), second.users(1)) == (["151"], ["151"])
