import asyncio
from collections.abc import Callable
from threading import Event, Thread

import pytest

import commandsync
from commandsync import Client, Reminder, ServerError, UsageError, Vote
from commandsync.testing import Listing

PING = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
NEWS = {"title": "v2", "description": "It is out."}


def events_of(
    client: Client, enough: Callable[[list[commandsync.Event]], bool]
) -> tuple[Thread, list[commandsync.Event]]:
    """Collect a client's events in a thread until they are enough."""
    events: list[commandsync.Event] = []

    def collect() -> None:
        for event in client.events():
            events.append(event)
            if enough(events):
                return

    thread = Thread(target=collect)
    thread.start()
    return thread, events


# Bots


def test_a_bot_has_its_records_and_may_write(listing: Listing) -> None:
    bot = listing.bot("Lantern", commands=[PING], announcements=[NEWS])
    with bot.client() as client:
        client.add_command("pong", "Says ping.", "/pong")
        names = [command.name for command in client.get_commands()]
        titles = [announcement.title for announcement in client.get_announcements()]
        profile = client.get_bot().profile

    assert (names, titles) == (["ping", "pong"], ["v2"])
    assert profile is not None
    assert (profile.username, client.bot) == ("Lantern", bot.id)
    assert bot.token not in repr(bot)


def test_bots_are_apart_also_with_one_name(listing: Listing) -> None:
    first, second = listing.bot(), listing.bot()
    with first.client() as client:
        client.add_command("ping", "Says pong.", "/ping")
    with second.client() as client:
        commands = client.get_commands()

    assert first.id != second.id
    assert first.token != second.token
    assert commands == ()


# Votes


def test_a_vote_reaches_the_connected_client_and_is_counted(listing: Listing) -> None:
    bot = listing.bot("Lantern")
    with bot.client() as client:
        thread, events = events_of(client, lambda events: isinstance(events[-1], Vote))
        listing.wait_until_connected()
        listing.wait_until_connected(timeout=0)
        listing.vote(1234, username="Ann")
        thread.join(timeout=30)
        voted = [client.check_vote(user) for user in (1234, 5678)]
        statistics = client.get_bot().statistics

    ready, vote = events
    assert ready.name == "ready"
    assert isinstance(vote, Vote)
    assert (vote.user.id, vote.user.username, vote.bot.id) == ("1234", "Ann", bot.id)
    assert voted == [True, False]
    assert statistics is not None
    assert statistics.total_votes == 1


def test_a_user_votes_again_after_12_hours_and_a_reminder_comes(listing: Listing) -> None:
    bot = listing.bot()
    listing.vote("ann")
    with pytest.raises(UsageError, match="user ann has voted") as caught:
        listing.vote("ann")
    with bot.client() as client:
        thread, events = events_of(client, lambda events: len(events) == 3)
        listing.wait_until_connected(bot)
        listing.pass_time(hours=12)
        listing.vote("ann")
        thread.join(timeout=30)

    assert "pass_time(hours=12)" in str(caught.value.hint)
    assert [type(event) for event in events[1:]] == [Reminder, Vote]


def test_a_vote_after_each_restart_of_the_bot_reaches_its_new_client(listing: Listing) -> None:
    bot = listing.bot()
    for user in range(30):
        voted = Event()
        with bot.client() as client:

            @client.on(Vote)
            def tell(_: Vote, voted: Event = voted) -> None:
                voted.set()

            Thread(target=client.listen).start()
            listing.wait_until_connected()
            listing.vote(user)

            assert voted.wait(timeout=10)


def test_a_vote_after_each_restart_reaches_an_asynchronous_client(listing: Listing) -> None:
    bot = listing.bot()

    async def vote(user: int) -> None:
        async with bot.async_client() as client:
            waiting = asyncio.create_task(client.wait_for(Vote, timeout=10))
            await listing.wait_until_connected_async()
            listing.vote(user)

            assert (await waiting).user.id == str(user)

    for user in range(30):
        asyncio.run(vote(user))
    with pytest.raises(TimeoutError):
        asyncio.run(listing.wait_until_connected_async(bot, timeout=0.01))


def test_with_several_bots_the_bot_has_to_be_given(listing: Listing) -> None:
    with pytest.raises(UsageError, match="the service has 0 bots"):
        listing.vote("ann")
    lantern = listing.bot("Lantern")
    with pytest.raises(TimeoutError, match=r"no client of Lantern was connected in 0\.01 seconds"):
        listing.wait_until_connected(timeout=0.01)
    harbor = listing.bot("Harbor")
    with pytest.raises(UsageError, match="the service has 2 bots"):
        listing.wait_until_connected()
    listing.vote("ann", bot=harbor)
    voted = []
    for bot in (lantern, harbor):
        with bot.client() as client:
            voted.append(client.check_vote("ann"))

    assert voted == [False, True]


# Failures and requests


@pytest.mark.parametrize(("after_write", "listed"), [(False, 0), (True, 1)])
def test_a_request_fails_either_way(listing: Listing, *, after_write: bool, listed: int) -> None:
    bot = listing.bot()
    listing.fail_next(500, after_write=after_write)
    with bot.client(retries=0) as client:
        with pytest.raises(ServerError) as caught:
            client.add_command("ping", "Says pong.", "/ping")
        commands = client.get_commands()

    assert caught.value.status == 500
    assert len(commands) == listed


def test_so_many_requests_fail_and_no_more(listing: Listing) -> None:
    bot = listing.bot()
    listing.fail_next(times=2)
    with bot.client(retries=0) as client:
        for _ in range(2):
            with pytest.raises(ServerError, match="503"):
                client.get_commands()

        assert client.get_commands() == ()


def test_the_requests_are_shown_without_tokens(listing: Listing) -> None:
    bot = listing.bot()
    with bot.client() as client:
        client.get_voters(page=2)
        client.add_announcement("v2", "It is out.")
    paths = [(request.method, request.path) for request in listing.requests]

    assert paths[0] == ("GET", f"/v1/bot/{bot.id}/voters?page=2&limit=100")
    assert paths[1] == ("POST", f"/v1/bot/{bot.id}/announcements")
    assert [request.body for request in listing.requests] == [None, NEWS]
    assert bot.token not in repr(listing.requests)
