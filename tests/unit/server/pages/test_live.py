"""The live counters of a page, over a real database and a real connection."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import text

from commandsync.server import votes
from commandsync.server.administration import remove_bot
from commandsync.server.broadcast import delivering
from commandsync.server.pages import live
from commandsync.server.pages import stream as stream_module
from tests.support.bots import Bot, Service
from tests.support.inside import Inside, seen_inside, statements_with
from tests.support.livestream import LiveStream, opened_stream
from tests.support.votes import user

LONGEST = 30  # seconds


def opened(bot: Bot, *, method: str = "GET") -> AbstractContextManager[LiveStream]:
    return opened_stream(bot.url, f"/bot/{bot.id}/live", method=method)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "listing.db")


@pytest.fixture
def inside(path: str) -> Iterator[Inside]:
    with seen_inside(path) as service:
        yield service


def test_a_page_is_sent_the_counters_now_and_after_every_vote(service: Service) -> None:
    bot, other = service.bot(), service.bot()
    bot.vote("1", "Ann")
    with opened(bot) as stream:
        first = stream.state()
        other.vote("1", "Ann")
        bot.vote("2", "Ben")
        second = stream.votes()
        bot.cast("3", "4")  # as another process does
        third = stream.votes()

    names = ("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")
    assert first == {"votes": dict.fromkeys(names, 1)}
    assert (second, third) == (2, 4)


def test_a_stream_is_kept_by_nobody(service: Service) -> None:
    with opened(service.bot()) as stream:
        headers = stream.response.headers

    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-store"


def test_an_unknown_bot_has_no_stream(service: Service) -> None:
    bot = service.bot()
    remove_bot(service.database, bot.id)
    with opened(bot) as stream:
        assert stream.response.status == 404


def test_head_has_an_end(service: Service) -> None:
    with opened(service.bot(), method="HEAD") as stream:
        assert (stream.response.status, stream.event()) == (200, b"")


def test_one_read_serves_all_pages_and_all_votes_that_come_together(inside: Inside) -> None:
    bot = inside.bot()
    with ExitStack() as stack:
        streams = [stack.enter_context(opened(bot)) for _ in range(20)]
        before = [stream.votes() for stream in streams]
        reads = stack.enter_context(statements_with("FROM vote_days", inside.database))
        bot.cast(*map(str, range(50)))
        after = [stream.votes() for stream in streams]

    assert (before, after) == ([0] * 20, [50] * 20)
    assert len(reads) == 1


def test_pages_that_are_opened_together_share_what_they_are_told(inside: Inside) -> None:
    bot = inside.bot()

    async def watch() -> bool:
        async with delivering(inside.database) as delivery:
            pages = live.Live(inside.database, delivery, lambda: datetime.now(UTC))
            both = pages.watching(bot.id), pages.watching(bot.id)
            first, second = await asyncio.gather(*(page.__aenter__() for page in both))
            for page in both:
                await page.__aexit__(None, None, None)
            return first is second

    assert asyncio.run(watch())


def test_more_pages_than_the_limit_are_told_to_come_later(
    inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MOST_STREAMS", 1)
    bot = inside.bot()
    with opened(bot) as stream, opened(inside.bot()) as refused:
        assert stream.votes() == 0
        assert (refused.response.status, refused.response.headers["retry-after"]) == (503, "60")
        assert b"Too many pages" in refused.rest()
    while _is_refused(bot):  # until the service sees that the first page was closed
        pass


def _is_refused(bot: Bot) -> bool:
    with opened(bot) as stream:
        return stream.response.status == 503


def test_a_silent_stream_is_kept_alive(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "KEEP_ALIVE", 0.001)
    with opened(service.bot()) as stream:
        first = stream.votes()
        comments = {stream.event() for _ in range(3)}

    assert (first, comments) == (0, {b":\n"})


def test_counters_that_cannot_be_read_are_read_later(
    inside: Inside,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    noted: Event,
) -> None:
    monkeypatch.setattr(live, "_RETRY", 0.001)
    bot = inside.bot()
    with opened(bot) as stream:
        before = stream.votes()
        with inside.database.writing() as connection:
            votes.cast(connection, bot.id, user("1"), at=datetime.now(UTC))
            connection.execute(text("ALTER TABLE vote_days RENAME TO away"))
        noted.wait(LONGEST)
        with inside.database.writing() as connection:
            connection.execute(text("ALTER TABLE away RENAME TO vote_days"))
        after = stream.votes()

    assert (before, after) == (0, 1)
    assert re.match("counters .* retried: Operational", caplog.messages[0])


def test_the_page_of_a_bot_that_was_removed_stays_as_it_is(inside: Inside, path: str) -> None:
    bot = inside.bot()
    with opened(bot) as stream:
        before = stream.votes()
        remove_bot(inside.database, bot.id)
        with closing(sqlite3.connect(path)) as connection:  # which checks no references
            connection.execute(
                "INSERT INTO outbox (bot, event, data, created_at) VALUES (?, 'vote', '{}', '')",
                [bot.id],
            )
            connection.commit()

        assert (before, stream.event()) == (0, b":\n")
