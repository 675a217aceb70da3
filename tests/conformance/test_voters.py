"""Both clients read and check the votes of a real service, and report statistics to it."""

from datetime import UTC, datetime, timedelta

import pytest

from commandsync import Invalid
from commandsync.api.operations import cast_vote
from commandsync.server import votes
from tests.support.bots import Bot, Service
from tests.support.clients import Open
from tests.support.votes import user

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def voted(service: Service, bot: Bot, voters: list[str]) -> None:
    """Cast votes, each of them a day after the one before."""
    with service.database.writing() as connection:
        for days, voter in enumerate(voters):
            at = BEGIN + timedelta(days=days)
            votes.cast(connection, bot.id, user(voter), at=at)


def test_a_vote_that_is_cast_is_checked_listed_and_counted(
    open_client: Open, service: Service
) -> None:
    bot = service.bot()
    client = open_client(bot.token, bot.url)
    before = client.check_vote("7"), client.has_voted("8")
    client.call(cast_vote(bot.id, "7", username="Ann"))
    (voter,) = client.get_voters().voters
    statistics = client.get_bot().statistics

    assert before == (False, False)
    assert client.check_vote(7) is client.has_voted("7") is True
    assert open_client(None, bot.url).check_vote("7", bot=bot.id) is True
    assert (voter.id, voter.username) == ("7", "Ann")
    assert (statistics.daily_votes, statistics.total_votes) == (1, 1)


def test_a_second_vote_is_an_error_in_the_words_of_the_service(
    open_client: Open, service: Service
) -> None:
    bot = service.bot()
    client = open_client(bot.token, bot.url)
    client.call(cast_vote(bot.id, "7"))

    with pytest.raises(Invalid, match="409: user 7 has") as refused:
        client.call(cast_vote(bot.id, "7"))
    assert int(refused.value.reply.headers["retry-after"]) > 43_000
    assert client.waited == []


@pytest.mark.parametrize(
    "voters",
    [
        [str(number) for number in range(250)],
        ["1"] * 250,
        ["1", "2"] * 125,
        [*("1", "2", "3") * 33, "4"] * 3,
        [],
    ],
    ids=["all different", "one", "two in turn", "equal pages", "none"],
)
def test_every_vote_is_read_however_often_its_voter_voted(
    open_client: Open, service: Service, voters: list[str]
) -> None:
    bot = service.bot()
    voted(service, bot, voters)
    client = open_client(bot.token, bot.url)

    assert [voter.id for voter in client.iter_voters()] == voters[::-1]


def test_statistics_are_reported(open_client: Open, service: Service) -> None:
    bot = service.bot()
    client = open_client(bot.token, bot.url)
    client.post_stats(servers=1284, shards=2)
    client.post_stats(servers=1285)
    statistics = client.get_bot().statistics

    assert (statistics.servers, statistics.shards) == (1285, 2)
