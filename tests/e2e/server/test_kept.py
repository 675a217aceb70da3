"""A kept answer is the answer that would be made now, whoever has written."""

import re
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from commandsync.records.texts import Resource
from commandsync.server import storage
from commandsync.server.app import create_app
from commandsync.server.conditions import Conditions
from commandsync.server.database import opened
from commandsync.server.kept import MOST_KEPT, KeptAnswers
from commandsync.server.runner import running
from tests.support.bots import Bot, Service
from tests.support.callers import Caller
from tests.support.home import LONGEST
from tests.support.inside import statements_with

ONE, TWO = (1, date(2026, 3, 1)), (2, date(2026, 3, 1))
COMMAND = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}


def read(url: str, bot: str, collection: str = "commands") -> tuple[int, dict[str, Any]]:
    return Caller(url, bot, "").ask("GET", f"/{collection}")


def test_an_answer_is_kept_and_has_its_own_passing_time(service: Service) -> None:
    bot = service.bot(["help", "ping"])
    _, first = read(bot.url, bot.id)
    with statements_with("ORDER BY commands.seq") as queries:
        _, second = read(bot.url, bot.id)

    assert queries == []
    assert list(second) == ["success", "message", "data", "passingTime"]
    assert {**second, "passingTime": ""} == {**first, "passingTime": ""}
    assert all(re.fullmatch(r"\d+\.\d\dms", one["passingTime"]) for one in (first, second))


def test_each_list_has_an_answer_of_its_own(service: Service) -> None:
    one, other = service.bot(["help"], ["v1"]), service.bot(["ping"])
    expected = [(["help"], 1), (["ping"], 0)]
    for _ in range(2):
        assert [(bot.names(), len(bot.announcements())) for bot in (one, other)] == expected


def test_every_write_is_read_at_once(service: Service) -> None:
    bot: Bot = service.bot(["help"])
    for number in range(20):
        bot.post("commands", **{**COMMAND, "name": f"new {number}"})

        assert len(bot.names()) == number + 2
        assert bot.names() == bot.names()


def test_a_write_of_another_process_is_read_at_once(tmp_path: Path) -> None:
    path = tmp_path / "listing.db"
    with running(str(path)) as service, closing(sqlite3.connect(path)) as other:
        with opened(str(path)) as database, database.writing() as connection:
            storage.add_bot(connection, "42", {})
            storage.add(connection, "42", Resource.COMMAND, COMMAND)
        before = [read(service.url, "42")[1]["data"][0]["name"] for _ in range(2)]
        other.execute("UPDATE commands SET name = 'pong'")
        other.commit()
        after = [read(service.url, "42")[1]["data"][0]["name"] for _ in range(2)]

    assert (before, after) == (["ping"] * 2, ["pong"] * 2)


def test_a_refusal_is_not_kept(service: Service) -> None:
    bot = service.bot()

    assert [read(bot.url, "nobody")[0] for _ in range(2)] == [404, 404]


def test_answers_of_a_database_in_memory_are_made_each_time() -> None:
    with opened(":memory:") as database:
        assert database.state() is None
    with running() as service:
        assert [read(service.url, "nobody")[0] for _ in range(2)] == [404, 404]


def test_answers_of_postgresql_are_made_each_time(postgres_url: str) -> None:
    with opened(postgres_url) as database:
        assert database.state() is None


def test_a_file_that_cannot_be_watched_keeps_no_answer(tmp_path: Path) -> None:
    with opened(str(tmp_path / "listing.db")) as database:
        assert database.state() == database.state() is not None
        database.close()

        assert database.state() is None


def test_an_answer_belongs_to_the_state_that_was_read_before_it_was_made() -> None:
    kept = KeptAnswers()
    kept.add("/a", None, b"made")
    without_a_state = kept.get("/a", None)
    kept.add("/a", ONE, b"old")
    kept.add("/b", TWO, b"new")

    assert without_a_state is None
    assert [kept.get("/a", state) for state in (ONE, TWO, None)] == [None, None, None]
    assert [kept.get("/b", state) for state in (ONE, TWO, None)] == [None, b"new", None]


@pytest.mark.parametrize(("size", "left"), [(MOST_KEPT // 2, ["/a", "/b"]), (MOST_KEPT, ["/b"])])
def test_all_kept_answers_together_have_a_limit(size: int, left: list[str]) -> None:
    kept = KeptAnswers()
    for path in ("/a", "/b"):
        kept.add(path, ONE, bytes(size))

    assert [path for path in ("/a", "/b") if kept.get(path, ONE)] == left


def test_an_answer_that_shows_a_write_late_is_not_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "listing.db")
    application = partial(create_app, conditions=Conditions(lag=1))
    with running(path, application=application) as service, opened(path) as store:
        bot = Service(service.url, store).bot(["help"])
        bot.post("commands", **COMMAND)
        deadline = monotonic() + LONGEST
        seen: list[int] = []
        while seen[-1:] != [2] and monotonic() < deadline:
            seen.append(len(read(bot.url, bot.id)[1]["data"]))

    assert seen == [*[1] * (len(seen) - 1), 2]
    assert len(seen) > 1


def test_the_list_of_bots_is_kept_by_its_query_and_for_the_day(tmp_path: Path) -> None:
    path, midnight = str(tmp_path / "listing.db"), datetime(2026, 3, 3, tzinfo=UTC)
    moments = [midnight - timedelta(seconds=1)]
    application = partial(create_app, now=lambda: moments[-1])

    def page(query: str) -> list[tuple[str, int]]:
        _, answer = Caller(service.url, "", "").ask_anywhere("GET", f"/v1/bots?{query}")
        bots = answer["data"]["data"]
        return [(bot["id"], bot["statistics"]["dailyVotes"]) for bot in bots]

    with running(path, application=application) as service, opened(path) as store:
        first, second = (Service(service.url, store).bot() for _ in range(2))
        empty = page("sort=-dailyVotes&limit=1")
        second.vote("1", "Ann")
        voted = [page(f"sort=-dailyVotes&limit=1&page={number}") for number in (1, 2, 1)]
        moments.append(midnight)
        next_day = page("sort=-dailyVotes&limit=1")

    assert empty == [(second.id, 0)]
    assert voted == [[(second.id, 1)], [(first.id, 0)], [(second.id, 1)]]
    assert next_day == [(second.id, 0)]
