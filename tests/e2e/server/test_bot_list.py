"""GET /v1/bots, to the letter of the interface; what is listed is tested beside the catalogue."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import text

from commandsync.server import search
from commandsync.server.service import running
from tests.support.callers import ROOT, Caller

LANTERN, HARBOR = "779641401482805289", "812045337190064138"


@pytest.fixture(scope="module")
def reader() -> Iterator[Caller]:
    """Somebody who has no bot, at the service with the two bots of the example."""
    with running(seed=ROOT / "examples" / "seed.json") as service:
        yield Caller(service.url, LANTERN, "none")


def page(reader: Caller, **query: object) -> tuple[dict[str, Any], list[str]]:
    status, answer = reader.ask_anywhere("GET", f"/v1/bots?{urlencode(query)}")
    assert status == 200, answer
    return answer["data"]["queries"], [bot["id"] for bot in answer["data"]["data"]]


def test_all_queries_are_answered_in_the_documented_types(reader: Caller) -> None:
    queries, bots = page(reader)

    assert queries == {
        "page": 1,
        "limit": 12,
        "sort": "",
        "q": "",
        "certified": "false",
        "tags": "",
        "ids": 0,
        "maxPage": 1,
        "isSafety": True,
    }
    assert bots == [HARBOR, LANTERN]


def test_queries_are_answered_as_they_were_sent(reader: Caller) -> None:
    sent = {
        "page": 2,
        "limit": 1,
        "sort": "-servers",
        "q": "Music!",
        "certified": "true",
        "tags": "music,Fun",
        "ids": f"{LANTERN},{HARBOR}",
    }
    queries, bots = page(reader, **sent)

    assert queries == {**sent, "maxPage": 1, "isSafety": True}
    assert bots == []


def test_the_last_page_is_named_and_reached(reader: Caller) -> None:
    queries, bots = page(reader, limit=1, page=2, sort="username")

    assert (queries["maxPage"], bots) == (2, [LANTERN])
    assert page(reader, limit=1, page=3)[1] == page(reader, page=10**9)[1] == []


def test_a_listed_bot_is_the_bot(reader: Caller) -> None:
    _, bot = reader.ask("GET")
    _, answer = reader.ask_anywhere("GET", "/v1/bots?q=lantern")

    assert answer["data"]["data"] == [bot["data"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"certified": "false"}, [HARBOR]),
        ({"certified": "true"}, [LANTERN]),
        ({"ids": HARBOR}, [HARBOR]),
        ({"ids": ","}, []),
        ({"ids": "", "tags": "", "q": "", "sort": ""}, [HARBOR, LANTERN]),
        ({"q": "little magic"}, [LANTERN]),
        ({"sort": "-statistics.totalVotes"}, [LANTERN, HARBOR]),
        ({"sort": "totalVotes"}, [HARBOR, LANTERN]),
        ({"unknown": "parameter"}, [HARBOR, LANTERN]),
    ],
)
def test_parameters_restrict_and_sort(
    reader: Caller, query: dict[str, str], expected: list[str]
) -> None:
    assert page(reader, **query)[1] == expected


def test_an_empty_page_or_limit_is_an_absent_one(reader: Caller) -> None:
    for path in ("/v1/bots", f"/v1/bot/{reader.bot}/voters"):
        (_, absent), (status, empty) = (
            reader.ask_anywhere("GET", f"{path}{query}") for query in ("", "?page=&limit=")
        )

        assert (status, empty["data"]) == (200, absent["data"])


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("limit=0", "limit must be at least 1"),
        ("limit=101", "limit must be at most 100"),
        ("limit=x", "limit must be a whole number"),
        ("limit=1.5", "limit must be a whole number"),
        ("page=0", "page must be at least 1"),
        ("page=-1", "page must be at least 1"),
        ("page=1000000001", "page must be at most 1000000000"),
        pytest.param(f"page={'9' * 5_000}", "page is not valid", id="many digits"),
        ("page=%20", "page must be a whole number"),
        ("certified=yes", "certified must be 'true' or 'false'"),
        ("limit=0&page=0", "limit must be at least 1; page must be at least 1"),
        ("sort=votes", "sort must be one of id, provider, prefix, inviteURL,"),
        ("sort=-", "sort must be one of id,"),
    ],
)
def test_a_wrong_parameter_is_named(reader: Caller, query: str, problem: str) -> None:
    status, answer = reader.ask_anywhere("GET", f"/v1/bots?{query}")

    assert status == 400
    assert answer["error"].startswith(problem)


def test_a_slow_query_is_refused(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000000)"
        " SELECT count(*) FROM n"
    )
    with running(database_url, seed=ROOT / "examples" / "seed.json") as service:
        caller = Caller(service.url, service.bots[0].id, service.bots[0].token)
        with monkeypatch.context() as patch:
            patch.setattr(search, "LONGEST_QUERY", 0.05)
            patch.setattr(search, "_count", lambda *_: text(slow))
            refused = caller.raw("GET", "/v1/bots")
        queries, _ = page(caller)

    assert refused.status == 503
    assert "took longer than 2 seconds" in json.loads(refused.content)["error"]
    assert refused.headers["retry-after"] == "1"
    assert queries["maxPage"] == 1
