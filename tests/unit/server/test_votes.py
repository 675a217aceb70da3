from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from threading import Barrier

import pytest

from commandsync.server import storage, votes
from commandsync.server.administration import remove_bot
from commandsync.server.database import Database, opened
from commandsync.server.storage import UnknownError
from commandsync.server.votes import TooEarlyError, with_counts
from tests.support.inside import BOT, NOON, cast, entries, told, user, with_bots

pytestmark = pytest.mark.usefixtures("two_bots")
HALF_DAY = timedelta(hours=12)
MOMENT = timedelta(milliseconds=1)


def counters(database: Database, at: datetime, bot: str = "42") -> tuple[int, int, int, int]:
    """Return the votes of the day, the week, the month, and all."""
    with database.reading() as connection:
        (record,) = with_counts(connection, [storage.bot_of(connection, bot)], at=at)
    counted = record["statistics"]
    names = ("dailyVotes", "weeklyVotes", "monthlyVotes", "totalVotes")
    daily, weekly, monthly, total = (counted[name] for name in names)
    return daily, weekly, monthly, total


def listed(database: Database, page: int = 1, limit: int = 10) -> tuple[list[str], int]:
    with database.reading() as connection:
        records, pages = votes.voters_of(connection, "42", page=page, limit=limit)
    return [record["id"] for record in records], pages


def has_voted(database: Database, voter: str, at: datetime, bot: str = "42") -> bool:
    with database.reading() as connection:
        return votes.has_voted(connection, bot, voter, at=at)


# The interval


def test_each_user_and_each_bot_has_an_interval_of_its_own(database: Database) -> None:
    cast(database, "1", NOON)
    cast(database, "2", NOON)
    cast(database, "1", NOON, bot="43")

    assert counters(database, NOON) == (2, 2, 2, 2)
    assert counters(database, NOON, "43") == (1, 1, 1, 1)
    assert not has_voted(database, "2", NOON, "43")


def test_of_votes_at_once_one_counts(database: Database) -> None:
    together, refused = Barrier(8), list[int]()

    def vote() -> None:
        together.wait()
        try:
            cast(database, "1", NOON)
        except TooEarlyError as error:
            refused.append(error.seconds)

    with ThreadPoolExecutor(8) as pool:
        for voting in [pool.submit(vote) for _ in range(8)]:
            voting.result()

    assert refused == [12 * 3600] * 7
    assert told(database) == [("vote", "1")]
    assert counters(database, NOON) == (1, 1, 1, 1)


def test_a_bot_is_removed_while_its_voters_vote(database: Database) -> None:
    voted = Barrier(5)

    def vote(voter: str) -> None:
        cast(database, voter, NOON, interval=timedelta())
        voted.wait()
        for _ in range(1_000):  # until the bot is unknown; without an interval, at once again
            cast(database, voter, NOON, interval=timedelta())

    with ThreadPoolExecutor(4) as pool:
        votings = [pool.submit(vote, str(number)) for number in range(4)]
        voted.wait()
        remove_bot(database, "42")
        ends = [voting.exception() for voting in votings]

    assert [type(end) for end in ends] == [UnknownError] * 4
    assert entries(database) == []


# The list


def test_votes_are_listed_with_the_newest_first(database: Database) -> None:
    for number in range(5):
        cast(database, str(number), NOON + number * MOMENT)
    for voter in "0a":  # of one moment, the last one is the newest
        cast(database, voter, NOON + HALF_DAY)

    assert listed(database) == (["a", "0", "4", "3", "2", "1", "0"], 1)


def test_a_voter_is_listed_as_of_the_last_vote(database: Database) -> None:
    cast(database, "1", NOON)
    renamed = {"id": "1", "username": "Ann", "avatar": "a1"}
    with database.writing() as connection:
        votes.cast(connection, "42", renamed, at=NOON + HALF_DAY)
    with database.reading() as connection:
        records, _ = votes.voters_of(connection, "42", page=1, limit=10)

    times = ["2026-03-05T00:00:00.000Z", "2026-03-04T12:00:00.000Z"]
    assert records == [{**renamed, "votedAt": time} for time in times]


# The counters


MIDNIGHT = datetime(2026, 3, 4, tzinfo=UTC)  # of a Wednesday


def test_days_are_those_of_utc(database: Database) -> None:
    there = timezone(timedelta(hours=8))
    cast(database, "1", (MIDNIGHT - MOMENT).astimezone(there))

    assert counters(database, MIDNIGHT.astimezone(there)) == (0, 1, 1, 1)
    assert counters(database, (MIDNIGHT - MOMENT).astimezone(there)) == (1, 1, 1, 1)


def test_a_seed_gives_votes_from_before_to_the_total_alone(database: Database) -> None:
    with_bots(database, "44", total=5120)
    before = counters(database, NOON, "44")
    cast(database, "1", NOON, bot="44")

    assert (before, counters(database, NOON, "44")) == ((0, 0, 0, 5120), (1, 1, 1, 5121))


BOTS = {"42", "43"}


def reminded(database: Database) -> list[str]:
    return [voter for event, voter in told(database) if event == "reminder"]


def test_a_reminder_is_sent_when_due_and_connected(database: Database) -> None:
    cast(database, "1", NOON)
    early = votes.send_due(database, BOTS, NOON + HALF_DAY - MOMENT), reminded(database)
    away = votes.send_due(database, {"43"}, NOON + HALF_DAY), reminded(database)
    late = votes.send_due(database, BOTS, NOON + HALF_DAY), reminded(database)

    assert (early, away, late) == ((0, []), (0, []), (1, ["1"]))
    assert entries(database)[-1].data == {"user": user("1"), "bot": BOT}


def test_processes_send_each_reminder_once(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(votes, "MOST_AT_ONCE", 100)
    together = Barrier(2)
    with opened(database_url) as other:
        for number in range(150):
            cast(database, str(number), NOON)

        def send(handle: Database) -> None:
            together.wait()
            for _ in range(2):
                votes.send_due(handle, BOTS, NOON + HALF_DAY)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(send, (database, other)))

        assert sorted(reminded(database)) == sorted(str(number) for number in range(150))


def test_old_events_are_deleted_with_the_next_reminder(database: Database) -> None:
    with database.writing() as connection:
        votes.add_event(connection, "42", "vote", {}, at=NOON - timedelta(days=2))
    cast(database, "1", NOON)
    votes.send_due(database, BOTS, NOON + HALF_DAY)

    assert told(database) == [("vote", "1"), ("reminder", "1")]
