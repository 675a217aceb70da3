import threading
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from commandsync import (
    Forbidden,
    Invalid,
    NotFound,
    Ready,
    Reconnected,
    Reconnecting,
    Redirected,
    Reminder,
    TransportError,
    Unauthorized,
    UsageError,
    Vote,
)
from commandsync.diagnostics import Do
from commandsync.server.database import opened
from tests.support.bots import serving
from tests.support.clients import TOKEN, Open, Source, names, users
from tests.support.gateway import (
    BINARY,
    BOT,
    Gateway,
    Guest,
    closing,
    event,
    framed,
    half_open,
    staying,
    telling,
    vote,
)


def test_events_come_as_typed_values(open_client: Open, gateway: Gateway) -> None:
    said = {"user": {"id": 7, "username": "Ann", "avatar": "a1"}, "bot": BOT}
    gateway.then(telling(event("vote", said, folds=2), event("reminder", said, folds=0)))
    client = open_client(TOKEN, gateway.url, bot="42").listen()

    ready, voted, reminder = client.take(3)

    assert isinstance(ready, Ready)
    assert (ready.bot.id, ready.bot.username) == ("42", "Helper")
    assert isinstance(voted, Vote)
    assert (voted.user.id, voted.user.username, voted.bot.id) == ("7", "Ann", "42")
    assert voted.user.model_extra == {"avatar": "a1"}
    assert isinstance(reminder, Reminder)
    assert reminder.user == voted.user
    assert gateway.asked == [{"EIO": "4", "transport": "websocket", "token": TOKEN}]


def test_a_ping_is_answered_and_the_namespace_greeted(open_client: Open, gateway: Gateway) -> None:
    heard: list[str | None] = []

    def ping(guest: Guest) -> None:
        guest.welcome()
        heard.append(guest.hear())
        guest.say("2", "2probe")
        heard.extend([guest.hear(), guest.hear()])
        guest.say(vote(1))
        guest.stay()

    gateway.then(ping)
    client = open_client(TOKEN, gateway.url).listen()

    client.take(2)

    assert heard == ["40", "3", "3probe"]


def test_a_half_open_connection_is_noticed(open_client: Open, gateway: Gateway) -> None:
    gateway.then(half_open, telling(vote(2)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take(5)

    assert events[1] == Reconnecting(1006, "no heartbeat within 0.08 s")
    assert events[2] == Reconnected()
    assert users(events) == ["2"]
    assert gateway.guests[0].heard == ["40", "2"]


def test_garbage_is_passed_over(open_client: Open, gateway: Gateway) -> None:
    deep = "42" + "[" * 100_000
    garbage = ["", "9", "42", "42{", "42[]", '42["message"]', '42["message","{"]', "43[]", "451-[]"]
    odd = ["x", deep, "6", "5", "0[", '0{"pingInterval":"x"}', '42["message",{"event":"news"}]']
    wrong = [
        event("vote", None),
        event("vote", {"user": None}),
        event("other", {}),
        '42["other",{}]',
    ]

    def talk(guest: Guest) -> None:
        guest.welcome()
        guest.say(*garbage, *odd, *wrong)
        guest.exchange.send(framed(b"\x00\xff", BINARY))
        guest.say(vote(1))
        guest.stay()

    gateway.then(talk)
    client = open_client(TOKEN, gateway.url).listen()

    assert names(client.take(2)) == ["ready", "vote"]


def test_bytes_of_no_websocket_are_a_lost_connection(open_client: Open, gateway: Gateway) -> None:
    def babble(guest: Guest) -> None:
        guest.welcome()
        guest.exchange.send(b"\xff\xff\xff\xff garbage")
        guest.stay()

    gateway.then(babble, telling(vote(2)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take(5)

    assert names(events) == ["ready", "reconnecting", "reconnected", "ready", "vote"]


@pytest.mark.parametrize(
    "refusal",
    [
        closing(code=1008, welcome=False),
        closing(code=4001, reason=f"token {TOKEN} is invalid", welcome=False),
        closing("0{}", "40", code=1000, reason="invalid token", welcome=False),
        closing("0{}", '44{"message":"invalid token"}', welcome=False),
        closing("0{}", '44/,"invalid token"', welcome=False),
        closing("0{}", "44", welcome=False),
        *(
            closing("0{}", "40", "41", code=code, reason="invalid token", welcome=False)
            for code in (1008, 4001, 4401, 1000)
        ),
    ],
    ids=[
        *("policy", "own code", "a reason", "socket.io 5", "socket.io 4", "without a word"),
        *("disconnect 1008", "disconnect 4001", "disconnect 4401", "disconnect 1000"),
    ],
)
def test_a_refused_token_is_an_error_and_not_tried_again(
    open_client: Open, gateway: Gateway, refusal: Callable[[Guest], object]
) -> None:
    gateway.then(refusal)  # type: ignore[arg-type]  # an act
    client = open_client(TOKEN, gateway.url).listen()

    error = client.ended()

    assert isinstance(error, Unauthorized)
    assert "token" in str(error)
    assert TOKEN not in str(error)
    assert len(gateway.guests) == 1


def test_a_client_without_a_token_is_not_refused(open_client: Open, gateway: Gateway) -> None:
    gateway.then(closing(code=4001, reason="who are you?", welcome=False))
    client = open_client(None, gateway.url, bot="42").listen()

    error = client.ended()

    assert isinstance(error, Unauthorized)
    assert "(4001:" in str(error)
    assert error.hint == Do.GIVE_TOKEN()


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, Unauthorized), (403, Forbidden), (302, Redirected), (405, Invalid), (200, Invalid)],
)
def test_a_refused_handshake_that_cannot_get_better_is_an_error(
    open_client: Open, gateway: Gateway, status: int, kind: type[Exception]
) -> None:
    gateway.status = [status]
    client = open_client(TOKEN, gateway.url).listen()

    assert type(client.ended()) is kind
    assert len(gateway.asked) == 1


def test_a_service_in_trouble_is_tried_until_well(open_client: Open, gateway: Gateway) -> None:
    gateway.status = [503, 500, 429]
    gateway.then(staying)
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take(3)

    assert names(events) == ["reconnecting", "reconnected", "ready"]
    assert isinstance(events[0], Reconnecting)
    assert events[0].code == 503
    assert client.waited == [1.5, 2.5, 4.5]


def test_a_vote_during_a_restart_is_caught_up(open_client: Open, database_url: str) -> None:
    with serving(database_url) as first:
        bot = first.bot()
        client = open_client(bot.token, first.url).listen()
        client.take(1)
        bot.cast("1")
        before = client.take(1)
    lost = client.take(1)
    with opened(database_url) as database:
        replace(bot, database=database).cast("2")
    with serving(database_url, port=urlsplit(first.url).port or 0) as second:
        after = client.take(3)
        replace(bot, database=second.database).cast("3")
        after += client.take(1)
        client.close()

    assert users(before) == ["1"]
    assert lost == [Reconnecting(1012, "the service restarts")]
    assert names(after) == ["reconnected", "ready", "vote", "vote"]
    assert users(after) == ["2", "3"]
    assert client.ended() is None


def test_a_version_that_is_not_spoken_is_left_out(open_client: Open, gateway: Gateway) -> None:
    gateway.status = [400]
    gateway.then(telling(vote(1)))
    client = open_client(TOKEN, gateway.url).listen()

    assert names(client.take(2)) == ["ready", "vote"]
    assert "EIO" not in gateway.asked[1]
    assert gateway.guests[0].heard == []


def test_without_a_gateway_the_voters_are_read(
    open_client: Open, gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    ann, bob = {"id": "1", "username": "Ann"}, {"id": "2", "username": "Bob"}
    gateway.voters = [[ann], [ann, bob], [bob], [bob, ann], 503, 400, [bob], [], [ann], 401]
    client = open_client(TOKEN, gateway.url, bot="42", retries=0).listen()

    events = client.take(4)

    assert users(events) == ["2", "1"]
    assert names(events) == ["vote", "reconnecting", "reconnected", "vote"]
    assert isinstance(client.ended(), Unauthorized)
    assert client.waited[:2] == [60.0, 60.0]
    assert caplog.text.count("no gateway") == 1


def test_without_a_gateway_an_unknown_bot_is_an_error(open_client: Open, gateway: Gateway) -> None:
    gateway.voters = [404]
    client = open_client(TOKEN, gateway.url, bot="42").listen()

    assert isinstance(client.ended(), NotFound)


def test_without_gateway_and_bot_no_voters_are_read(open_client: Open, gateway: Gateway) -> None:
    client = open_client(TOKEN, gateway.url).listen()

    ended = client.ended()

    assert isinstance(ended, UsageError)
    assert "which bot" in str(ended)


def test_an_impossible_proxy_is_told(open_client: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "ftp://127.0.0.1:9")
    client = open_client(TOKEN, "https://listing.example").listen()

    assert isinstance(client.ended(), TransportError)


def test_handlers_are_called_and_may_fail(
    open_client: Open, source: Source, caplog: pytest.LogCaptureFixture
) -> None:
    client = open_client(source.token, source.url)
    thanked: list[str] = []
    second = threading.Event()

    @client.client.on("vote")
    def thank(one: Vote) -> None:
        thanked.append(one.user.username)
        if len(thanked) > 1:
            second.set()
        raise RuntimeError("no thanks")

    client.listen()
    client.take(1)
    source.vote("1", "2")
    client.take(2)

    assert second.wait(10)
    assert thanked == ["u1", "u2"]
    assert caplog.text.count("thank failed") == 2
    assert thank.__name__ == "thank"


def test_a_closed_client_has_no_events(open_client: Open, gateway: Gateway) -> None:
    client = open_client(TOKEN, gateway.url)
    client.close()
    client.listen()

    assert client.ended() is None
    assert gateway.guests == []
