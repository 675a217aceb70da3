"""Handlers that come and go, waiting for one event, and who has voted lately."""

import random
import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from commandsync import Account, ArgumentError, Event, Ready, StoppedError, Unauthorized, Vote
from tests.support.clients import LONGEST, TOKEN, Either, Open, Source, begun
from tests.support.gateway import BOT, Gateway, Guest, closing, event, telling, vote
from tests.support.rawserver import Exchange, RawServer, answering


def listened(client: Either, count: int) -> list[Event]:
    """Listen, and return so many events; the handlers of all but the last were called."""
    client.listen()
    return client.take(count)


def test_a_handler_is_chosen_by_type_or_by_name(open_client: Open, source: Source) -> None:
    client = open_client(source.token, source.url)
    called: list[tuple[str, str]] = []

    @client.client.on(Vote)
    def by_type(event: Vote) -> None:
        called.append(("type", event.user.id))

    @client.client.on("vote")
    def by_name(event: Vote) -> None:
        called.append(("name", event.user.id))

    @client.client.on
    def on_vote(event: Vote) -> None:
        called.append(("on_vote", event.user.id))

    @client.client.on()
    def ready(event: Ready) -> None:
        called.append(("ready", event.bot.id))

    @client.client.once(Vote)
    def once(event: Vote) -> None:
        called.append(("once", event.user.id))
        client.client.off(by_name)

    listened(client, 1)
    source.vote("1", "2", "last")
    client.take(3)

    assert called[:5] == [
        ("ready", source.bot),
        ("type", "1"),
        ("name", "1"),
        ("on_vote", "1"),
        ("once", "1"),
    ]
    assert called[5:7] == [("type", "2"), ("on_vote", "2")]
    assert (by_type.__name__, on_vote.__name__, once.__name__) == ("by_type", "on_vote", "once")


@pytest.mark.parametrize("name", ["thank", "on_votes", "on_"])
def test_a_handler_whose_name_is_no_event_is_an_error(open_client: Open, name: str) -> None:
    client = open_client(TOKEN, "http://127.0.0.1:9")

    def handler(_: Any) -> None: ...  # noqa: ANN401 - of any event

    handler.__name__ = name
    with pytest.raises(ArgumentError, match="not an event") as caught:
        client.client.on(handler)

    assert str(caught.value.hint).startswith("one of: ready, vote")
    with pytest.raises(ArgumentError, match=f"'{name}' is not"):
        client.client.on(name)(handler)  # type: ignore[call-overload]  # no such event


def test_a_handler_that_is_not_there_can_be_taken_off(open_client: Open) -> None:
    open_client(TOKEN, "http://127.0.0.1:9").client.off(print)


def test_waiting_returns_the_event_that_is_waited_for(open_client: Open, gateway: Gateway) -> None:
    users = random.Random(4).sample(range(100), 20)  # noqa: S311 - the same in every run
    gateway.then(telling(*[vote(user) for user in users]))
    client = open_client(TOKEN, gateway.url)

    voted = client.wait_for(Vote, check=lambda vote: vote.user.id == str(users[13]))

    assert voted.user.id == str(users[13])
    assert len(gateway.guests) == 1


def test_waiting_shares_the_listeners_connection(open_client: Open, gateway: Gateway) -> None:
    more = threading.Event()

    def act(guest: Guest) -> None:
        guest.welcome()
        more.wait(LONGEST)
        guest.say(vote(1))
        guest.stay()

    gateway.then(act)
    client = open_client(TOKEN, gateway.url)
    listened(client, 1)

    waiting = begun(client.wait_for, Vote, timeout=LONGEST)
    with pytest.raises(TimeoutError, match="in time"):
        client.wait_for(Vote, timeout=0.2)
    more.set()

    assert waiting.result(LONGEST).user.id == "1"
    assert [event.name for event in client.take(1)] == ["vote"]
    assert len(gateway.guests) == 1


def test_waiting_ends_when_the_client_is_closed(open_client: Open, source: Source) -> None:
    client = open_client(source.token, source.url)
    listened(client, 1)
    waiting = begun(client.wait_for, Vote)

    client.close()

    with pytest.raises(StoppedError, match="closed"):
        waiting.result(LONGEST)


@pytest.mark.parametrize("kind", [int, Event, "vote", None, Vote(Account(), Account())], ids=str)
def test_waiting_for_another_type_is_an_error(open_client: Open, kind: object) -> None:
    client = open_client(TOKEN, "http://127.0.0.1:9")

    with pytest.raises(ArgumentError, match="not an event"):
        client.wait_for(kind)


def test_waiting_raises_what_ends_the_stream(open_client: Open, gateway: Gateway) -> None:
    gateway.then(closing(code=4401, reason="who are you?", welcome=False))
    client = open_client(TOKEN, gateway.url)

    with pytest.raises(Unauthorized):
        client.wait_for(Vote)


@pytest.mark.parametrize("voted", [True, False])
def test_an_answer_is_kept_for_a_time(client: Either, server: RawServer, *, voted: bool) -> None:
    server.then(*[answering({"voted": voted})] * 2, answering({"voted": not voted}))

    first = [client.has_voted("7") for _ in range(3)]
    other = client.has_voted("8")
    again = client.has_voted("7", max_age=0)

    assert first == [voted] * 3
    assert (other, again) == (voted, not voted)
    assert len(server.requests) == 3


def test_an_event_counts_at_once(open_client: Open, gateway: Gateway) -> None:
    user = {"id": "7", "username": "Ann"}
    gateway.then(telling(vote(7), vote(8), event("reminder", {"user": user, "bot": BOT})))
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()
    client.take(4)

    assert client.has_voted("8") is True
    assert client.has_voted("7") is False
    assert [request.short for request in gateway.requests][-1] == "GET voters/7"


@pytest.mark.parametrize("voted", [True, False])
def test_has_voted_uses_a_check_again(client: Either, server: RawServer, *, voted: bool) -> None:
    server.then(answering({"voted": not voted}), answering({"voted": voted}))

    checked = [client.check_vote("7"), client.check_vote("7")]

    assert checked == [not voted, voted]
    assert client.has_voted("7") is voted
    assert len(server.requests) == 2


def test_an_answer_about_another_bot_is_not_used(client: Either, server: RawServer) -> None:
    server.then(answering({"voted": True}), answering({"voted": False}))

    assert client.check_vote("7", bot="43") is True
    assert client.has_voted("7") is False
    assert [request.path for request in server.requests] == [
        "/v1/bot/43/voters/7",
        "/v1/bot/42/voters/7",
    ]


@dataclass
class LateAnswers(Gateway):
    """Answers the check of a vote only when it is let."""

    asked_about: threading.Event = field(default_factory=threading.Event)
    let: threading.Event = field(default_factory=threading.Event)

    def handle(self, exchange: Exchange) -> None:
        if exchange.request.path == "/v1/bot/42/voters/7":
            self.asked_about.set()
            self.let.wait(LONGEST)
        super().handle(exchange)


def test_a_late_answer_does_not_replace_the_event_that_arrived_before_it(open_client: Open) -> None:
    with LateAnswers() as gateway:

        def act(guest: Guest) -> None:
            guest.welcome()
            gateway.asked_about.wait(LONGEST)
            guest.say(vote(7))
            guest.stay()

        gateway.then(act)
        client = open_client(TOKEN, gateway.url, bot="42")
        listened(client, 1)
        checked = begun(client.check_vote, 7)
        client.take(1)
        gateway.let.set()

        assert checked.result(LONGEST) is False
        assert client.has_voted(7) is True
        assert gateway.shorts().count("GET voters/7") == 1
        client.close()


def test_no_more_than_ten_thousand_users_are_kept(open_client: Open, gateway: Gateway) -> None:
    gateway.then(telling(*[vote(number) for number in range(10_001)]))
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()
    client.take(10_002)

    assert client.has_voted("1") is True
    assert len(client.client._votes) == 10_000  # noqa: SLF001 - memory has no other sign


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_buffer_for_no_event_is_an_error(open_client: Open, size: object) -> None:
    with pytest.raises(ArgumentError, match="event_buffer"):
        open_client(TOKEN, "http://127.0.0.1:9", event_buffer=size)
