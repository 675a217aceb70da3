"""Both clients read and check the votes of a service, and catch up those that they missed."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from commandsync import Event, Reconnected, Vote
from commandsync.server import votes
from tests.support.bots import Bot, Service
from tests.support.clients import TOKEN, Open
from tests.support.gateway import Act, Gateway, Guest, telling, vote
from tests.support.inside import user

Voters = list[dict[str, Any]]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)

LAST = "last"
POLLS = 300  # reads after which a client that has not tried the gateway again never will


def seen(events: list[Event]) -> list[tuple[str, bool]]:
    """Return the voters, and whether each vote was caught up."""
    return [
        (event.user.id, getattr(event, "caught_up", False))
        for event in events
        if isinstance(event, Vote)
    ]


def voters(*users: int | str) -> Voters:
    return [{"id": str(user), "username": f"u{user}"} for user in users]


def read(gateway: Gateway) -> None:
    """Wait for a read of the voters, for a time that is enough to make one."""
    for _ in range(100):
        if len(gateway.voters) == 1 or gateway.released.wait(0.02):
            return


def losing(gateway: Gateway, live: list[int], listed: Voters | int) -> Act:
    """Welcome, tell of votes, and be gone; the voters are listed so from then on."""

    def act(guest: Guest) -> None:
        guest.welcome()
        read(gateway)
        guest.say(*[vote(user) for user in live])
        gateway.voters[:] = [listed, listed]
        guest.leave(1012, "restart")

    return act


def back(gateway: Gateway, *live: int) -> Act:
    """Welcome, tell of votes once the voters are read, and stay."""

    def act(guest: Guest) -> None:
        guest.welcome()
        read(gateway)
        guest.say(*[vote(user) for user in live], vote(LAST))
        guest.stay()

    return act


def order(listed: Voters) -> Voters:
    """Return a list as the service has it, with the newest vote in front."""
    return listed[::-1]


@pytest.mark.parametrize("known", [4, 1, 0])  # with none, the first votes that a bot ever gets
def test_missed_votes_are_caught_up_once(open_client: Open, gateway: Gateway, known: int) -> None:
    users = random.Random(known).sample(range(10**6), 12)  # noqa: S311 - the same in every run
    before, live, missed, after = users[:known], users[4:6], users[6:9], users[9:]
    gateway.voters = [order(voters(*before))] * 2
    listed = order(voters(*before, *live, *missed))
    gateway.then(losing(gateway, live, listed), back(gateway, *after))
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()

    events = client.take_until(LAST)[:-1]

    caught_up = [(str(user), True) for user in missed]
    assert [vote for vote in seen(events) if vote[1]] == caught_up
    told_live = [(str(user), False) for user in live + after]
    assert [vote for vote in seen(events) if not vote[1]] == told_live
    again = next(n for n, event in enumerate(events) if isinstance(event, Reconnected))
    assert all(caught not in seen(events[:again]) for caught in caught_up)


@pytest.mark.parametrize("listed", [404, 500, 403, []], ids=str)
def test_a_list_that_tells_nothing_of_the_gap_ends_nothing_and_that_is_said(
    open_client: Open, gateway: Gateway, caplog: pytest.LogCaptureFixture, listed: Voters | int
) -> None:
    gateway.voters = [voters(1)] * 2
    gateway.then(losing(gateway, [2], listed), back(gateway, 3))
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()

    assert seen(client.take_until(LAST)[:-1]) == [("2", False), ("3", False)]
    assert ("missed votes cannot be caught up: " in caplog.text) is isinstance(listed, int)


def histories() -> Iterator[list[int]]:
    """Return reads of a list that grows, as the numbers of its entries in each."""
    rng = random.Random(1)  # noqa: S311 - the same in every run
    for _ in range(3):
        sizes = [5]  # enough to tell on which side a list grows
        while sizes[-1] < 20:
            sizes.append(sizes[-1] + rng.choice([0, 0, 1, 1, 2, 3]))
        yield sizes


@pytest.mark.parametrize("sizes", list(histories()), ids=["one", "two", "three"])
def test_polling_tells_every_vote_in_order(
    open_client: Open, gateway: Gateway, sizes: list[int]
) -> None:
    rng = random.Random(2)  # noqa: S311 - the same in every run
    first = list(range(1, 1 + sizes[0]))
    history = voters(*first, *rng.choices(first, k=sizes[-1] - sizes[0]))
    end = order([*history, *voters(LAST)])
    gateway.voters = [*[order(history[:size]) for size in sizes], end]
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()

    events = client.take_until(LAST)[:-1]

    assert [user for user, _ in seen(events)] == [voter["id"] for voter in history[sizes[0] :]]


def test_polling_ends_when_the_gateway_is_there_again(open_client: Open, gateway: Gateway) -> None:
    gateway.voters = [voters(1), voters(1, 2)]
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()

    polled = client.take(1)
    gateway.then(telling(vote(3), vote(LAST)))
    gateway.voters[:] = [voters(1, 2)] * POLLS + [voters(1, 2, LAST)]
    events = client.take_until(LAST)[:-1]

    assert [user for user, _ in seen(polled)] == ["2"]
    assert "ready" in [event.name for event in events]
    assert [user for user, _ in seen(events)] == ["3"]


def voted(service: Service, bot: Bot, voters: list[str]) -> None:
    """Cast votes, each of them a day after the one before."""
    with service.database.writing() as connection:
        for days, voter in enumerate(voters):
            at = BEGIN + timedelta(days=days)
            votes.cast(connection, bot.id, user(voter), at=at)


@pytest.mark.parametrize(
    "voters",
    [
        [str(number) for number in range(201)],
        ["1"] * 201,
        [*("1", "2", "3") * 33, "4"] * 3,
        [],
    ],
    ids=["all different", "one", "equal pages", "none"],
)
def test_every_vote_is_read_however_often_its_voter_voted(
    open_client: Open, service: Service, voters: list[str]
) -> None:
    bot = service.bot()
    voted(service, bot, voters)
    client = open_client(bot.token, bot.url)

    assert [voter.id for voter in client.iter_voters()] == voters[::-1]
