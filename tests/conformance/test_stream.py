"""A stream of events ends only when it is closed, or the token is refused."""

import random
import string
from collections.abc import Callable
from itertools import cycle

import pytest

from commandsync import ApiError, Forbidden, Reconnecting, Unauthorized
from tests.support.clients import TOKEN, Open, names, users
from tests.support.gateway import READY, Act, Gateway, Guest, closing, event, telling, vote

WORDS = ("invalid token", "not authorized", "token expired", "overloaded", "bye", "")


Ending = tuple[tuple[str, ...], int, str]


def closes() -> dict[str, Ending]:
    """Return how a service may close: what it sends last, its close code and its reason."""
    rng = random.Random(10)  # noqa: S311 - the same in every run
    codes = [1000, 1001, 1008, 1011, 1012, 1013, 3000, 3003, 4001, 4003, 4401, 4403]
    codes += rng.sample(range(3000, 5000), 6)
    return {str(code): ((), code, rng.choice(WORDS)) for code in codes}


DISCONNECTS: dict[str, Ending] = {
    "41": (("41",), 1000, ""),
    "41 and a refusal": (("41",), 4401, "invalid token"),
    "1": (("1",), 1000, ""),
    "1 and a refusal": (("1",), 4401, "invalid token"),
}
CONNECT_ERRORS: dict[str, Ending] = {
    "nothing": (("44",), 1000, ""),
    "an object": (('44{"message":"invalid token"}',), 1000, ""),
    "a text": (('44"not authorized"',), 1008, "invalid token"),
}
CLOSES = closes()
REFUSALS = CONNECT_ERRORS | {
    name: ending for name, ending in CLOSES.items() if ending[1] in {1008, 3000, 4001, 4401}
}
LOST = CLOSES | DISCONNECTS


def socket_io_error(*, code: int, reason: str, welcome: bool) -> Act:
    return closing("0{}", f'44{{"message":"{reason}"}}', code=code, welcome=welcome)


@pytest.mark.parametrize(
    ("frames", "code", "reason"),
    (LOST | CONNECT_ERRORS).values(),
    ids=(LOST | CONNECT_ERRORS).keys(),
)
def test_a_close_or_an_error_after_good_service_is_a_lost_connection(
    open_client: Open, gateway: Gateway, frames: tuple[str, ...], code: int, reason: str
) -> None:
    gateway.then(closing(vote(1), *frames, code=code, reason=reason), telling(vote(2)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("2")

    assert names(events) == ["ready", "vote", "reconnecting", "reconnected", "ready", "vote"]
    assert users(events) == ["1", "2"]
    assert client.waited == [1.5]


@pytest.mark.parametrize(("frames", "code", "reason"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_reconnect_that_is_refused_is_tried_again(
    open_client: Open, gateway: Gateway, frames: tuple[str, ...], code: int, reason: str
) -> None:
    refused = closing("0{}", *frames, code=code, reason=reason or "no", welcome=False)
    restart = closing(vote(1), code=1012, reason="restart")
    gateway.then(restart, refused, refused, restart, refused, telling(vote(2)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("2")

    assert users(events) == ["1", "1", "2"]
    assert len(gateway.guests) == 6


def restarting(gateway: Gateway, user: int, *statuses: int) -> Act:
    """Welcome, tell of a vote and close; the next handshakes are answered with these statuses."""

    def act(guest: Guest) -> None:
        guest.welcome()
        guest.say(vote(user))
        gateway.status.extend(statuses)
        guest.leave(1012, "")

    return act


@pytest.mark.parametrize("status", [401, 403])
def test_four_lost_handshakes_end_nothing(open_client: Open, gateway: Gateway, status: int) -> None:
    lost = [restarting(gateway, user, *[status] * 4) for user in (1, 2)]
    gateway.then(*lost, telling(vote(3)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("3")

    assert users(events) == ["1", "2", "3"]
    assert names(events).count("reconnecting") == names(events).count("reconnected") == 2
    assert len(gateway.asked) == 3 + 2 * 4


@pytest.mark.parametrize(("status", "kind"), [(401, Unauthorized), (403, Forbidden)])
def test_five_refused_handshakes_in_a_row_end_the_stream(
    open_client: Open, gateway: Gateway, status: int, kind: type[ApiError]
) -> None:
    gateway.then(restarting(gateway, 1, *[status] * 5), telling(vote(2)))
    client = open_client(TOKEN, gateway.url).listen()

    before = names(client.take(3))
    ended = client.ended()

    assert before == ["ready", "vote", "reconnecting"]
    assert type(ended) is kind
    assert len(gateway.asked) == 1 + 5


TEMPORARY = [
    (1000, "server restarting"),
    *((code, "") for code in (1000, 1002, 1003, 1009, 4000, 4029)),
    (1008, "rate limited"),
    (4000, "shutting down"),
    (4029, "too many connections"),
]
BEFORE_IT: list[tuple[str, ...]] = [(), ("0{}", "40"), ("0{}", "41")]


@pytest.mark.parametrize(
    ("frames", "code", "reason"),
    [(frames, *each) for frames, each in zip(cycle(BEFORE_IT), TEMPORARY, strict=False)],
)
def test_a_first_connection_that_is_closed_for_another_reason_than_the_token_is_tried_again(
    open_client: Open, gateway: Gateway, frames: tuple[str, ...], code: int, reason: str
) -> None:
    closed = closing(*frames, code=code, reason=reason, welcome=False)
    gateway.then(*[closed] * 4, telling(vote(1)))
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("1")

    assert [name for name in names(events) if name in {"ready", "vote"}] == ["ready", "vote"]
    first = events[0]
    assert isinstance(first, Reconnecting)
    assert first.reason.removeprefix("the connection was ") == (reason or "closed")
    assert first.code == code
    assert len(gateway.guests) == 5


@pytest.mark.parametrize("refusal", [closing, socket_io_error])
def test_five_closes_with_a_reason_before_any_event_are_a_refused_token(
    open_client: Open, gateway: Gateway, refusal: Callable[..., Act]
) -> None:
    restarting = closing(code=1012, reason="restart", welcome=False)
    closed = refusal(code=4321, reason="come back later", welcome=False)
    gateway.then(*[closed] * 4, restarting, *[closed] * 5, telling(vote(1)))
    client = open_client(TOKEN, gateway.url).listen()

    assert [event.name for event in client.take(1)] == ["reconnecting"]
    error = client.ended()

    assert isinstance(error, Unauthorized)
    assert "come back later" in str(error)
    assert len(gateway.guests) == 10


def namespaces() -> list[str]:
    rng = random.Random(3)  # noqa: S311 - the same in every run
    letters = string.ascii_letters + string.digits + "-_"
    return ["/" + "".join(rng.choices(letters, k=rng.randint(1, 20))) for _ in range(5)]


@pytest.mark.parametrize("space", namespaces())
def test_another_namespace_is_passed_over(open_client: Open, gateway: Gateway, space: str) -> None:
    other = event("vote", {"user": {"id": "13"}, "bot": {"id": "42"}}).removeprefix("42")
    packets = [
        *(f'40{space},{{"sid":"x"}}', f'44{space},{{"message":"invalid token"}}'),
        *(f"42{space},{other}", f"42{space},17{other}", f"41{space},"),
    ]

    def act(guest: Guest) -> None:
        guest.say("0{}", "40", *packets, READY, *packets, vote(1))
        guest.stay()

    gateway.then(act)
    client = open_client(TOKEN, gateway.url).listen()

    events = client.take_until("1")

    assert names(events) == ["ready", "vote"]
    assert len(gateway.guests) == 1
