"""The list of bots of the embedded service, as both clients read it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commandsync import ApiError
from commandsync.server.runner import running
from tests.support.clients import Either

Open = Callable[..., Either]

BOTS = [
    {
        "id": str(number),
        "profile": {"username": f"Bot {number}"},
        "information": {"tags": ["even" if number % 2 == 0 else "odd", "bot"]},
        "statistics": {"servers": number % 7, "totalVotes": number},
        "certificate": number % 2,
    }
    for number in range(25)
]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    seed: Path = tmp_path_factory.mktemp("seed") / "seed.json"
    seed.write_text(json.dumps({"bots": BOTS}), encoding="utf-8")
    with running(seed=seed) as service:
        yield service.url


def test_all_bots_are_read_page_after_page(open_client: Open, url: str) -> None:
    client = open_client("none", url)

    assert [bot.id for bot in client.iter_bots(limit=4)] == [bot["id"] for bot in BOTS]


def test_bots_are_searched_restricted_and_sorted(open_client: Open, url: str) -> None:
    client = open_client("none", url)
    page = client.list_bots(
        q="BOT 1", sort="-totalVotes", certified=True, tags=["odd", "Bot"], limit=3, page=2
    )

    assert [bot.statistics.total_votes for bot in page.bots] == [15, 13, 11]
    assert (page.queries.page, page.queries.limit, page.queries.max_page) == (2, 3, 3)


def test_bots_are_read_by_their_ids(open_client: Open, url: str) -> None:
    client = open_client("none", url)

    assert [bot.id for bot in client.iter_bots(ids=["3", "24", "999"])] == ["3", "24"]


def test_a_refused_field_is_named(open_client: Open, url: str) -> None:
    client = open_client("none", url)
    with pytest.raises(ApiError, match=r"sort must be one of .*statistics\.totalVotes"):
        client.list_bots(sort="uses")
