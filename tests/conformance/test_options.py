"""Clients of the environment, clients with other limits, deadlines, and the limit on requests."""

import threading
import time
from email.utils import formatdate
from typing import Any

import pytest

from commandsync import (
    ArgumentError,
    AsyncClient,
    Client,
    RateLimit,
    RateLimited,
    ServerError,
    StoppedError,
    TransportError,
    UsageError,
)
from tests.support.clients import LONGEST, TOKEN, Either, HastyAsyncClient, HastyClient, Open, begun
from tests.support.rawserver import Act, Exchange, RawServer, answering, dripping, hanging

SOON = 10.0  # seconds: far less than without the deadline
VOTED = answering({"voted": True})
BUSY = answering({"error": "slow"}, status=429, headers={"Retry-After": "100"})


@pytest.mark.parametrize("kind", [HastyClient, HastyAsyncClient])
def test_a_client_is_made_of_the_environment(
    kind: type[HastyClient | HastyAsyncClient], server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMANDSYNC_TOKEN", TOKEN)
    monkeypatch.setenv("COMMANDSYNC_BASE_URL", server.url)
    monkeypatch.setenv("COMMANDSYNC_BOT", "42")
    server.then(VOTED)
    client = Either(kind.from_env(timeout=5, retries=0))

    assert client.check_vote(7)
    assert server.requests[0].path == "/v1/bot/42/voters/7"
    assert server.requests[0].headers["authorization"] == f"Bot {TOKEN}"
    assert (client.client.connection.timeout, client.client.connection.retries) == (5, 0)
    client.end()


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("missing", ["COMMANDSYNC_TOKEN", "COMMANDSYNC_BASE_URL"])
def test_a_variable_that_is_not_set_is_named(
    kind: type[Client | AsyncClient], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMMANDSYNC_TOKEN", TOKEN)
    monkeypatch.setenv("COMMANDSYNC_BASE_URL", "https://listing.example")
    monkeypatch.delenv("COMMANDSYNC_BOT", raising=False)
    assert kind.from_env().bot == ""
    monkeypatch.setenv(missing, "")

    with pytest.raises(UsageError, match=f"{missing} is not set"):
        kind.from_env()


def test_a_client_with_other_limits_shares_it(client: Either, server: RawServer) -> None:
    server.then(VOTED, VOTED, answering({}, status=500))

    assert client.check_vote(7)
    once = client.with_options(retries=0)
    assert once.check_vote(7)
    with pytest.raises(ServerError):
        once.check_vote(7)
    once.close()
    with pytest.raises(StoppedError, match="closed"):
        client.check_vote(7)

    assert {request.connection for request in server.requests} == {1}


def test_a_call_has_its_own_time_out(open_client: Open, server: RawServer) -> None:
    server.then(hanging, VOTED)
    client = open_client(TOKEN, server.url, bot="42", retries=0)

    with pytest.raises(TransportError, match=r"within 0\.5 s"):
        client.with_options(timeout=0.5).check_vote(7)
    assert client.check_vote(7)


ENDLESS: dict[str, tuple[Act, type[Exception]]] = {
    "no answer": (hanging, TransportError),
    "an answer in drops": (dripping(b"HTTP/1.1 200 OK\r\n\r\n", tail=b" "), TransportError),
    "a limit on requests": (BUSY, RateLimited),
    "a failure": (answering({"error": "db"}, status=500), ServerError),
}


@pytest.mark.parametrize(("act", "kind"), ENDLESS.values(), ids=ENDLESS.keys())
def test_a_call_ends_at_its_deadline_with_the_last_error(
    open_client: Open, server: RawServer, act: Act, kind: type[Exception]
) -> None:
    server.then(*[act] * 20)
    client = open_client(TOKEN, server.url, bot="42", retries=20).with_options(deadline=0.7)

    start = time.monotonic()
    with pytest.raises(kind):
        client.check_vote(7)

    assert time.monotonic() - start < SOON
    server.acts.clear()


def test_a_call_without_a_place_ends_at_its_deadline(open_client: Open, server: RawServer) -> None:
    arrived, let = threading.Event(), threading.Event()

    def held(exchange: Exchange) -> None:
        arrived.set()
        let.wait(LONGEST)
        VOTED(exchange)

    server.then(held)
    client = open_client(TOKEN, server.url, bot="42", concurrency=1)
    first = begun(client.check_vote, 7)
    assert arrived.wait(LONGEST)

    with pytest.raises(TransportError, match="the deadline passed") as caught:
        client.with_options(deadline=0.3).add_command("help", "Shows it.", "/help")
    let.set()

    assert first.result(LONGEST)
    assert not caught.value.sent
    assert not caught.value.hint
    assert len(server.requests) == 1


def test_no_pause_is_waited_for_beyond_a_deadline(client: Either, server: RawServer) -> None:
    server.then(BUSY)
    paused = begun(client.check_vote, 7)
    server.wait_for(1, writes=False)
    while client.client.rate_limit is None:
        time.sleep(0.01)

    with pytest.raises(TransportError, match="the deadline passed"):
        client.with_options(deadline=0.3).check_vote(7)
    client.close()

    assert isinstance(paused.exception(LONGEST), RateLimited)


@pytest.mark.parametrize(
    "mistaken", [{"timeout": 0}, {"retries": -1}, {"deadline": 0}, {"deadline": True}], ids=str
)
def test_limits_are_checked(client: Either, mistaken: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=f"^{next(iter(mistaken))} is"):
        client.with_options(**mistaken)


NOW = 1_700_000_000
LIMITS: dict[str, tuple[dict[str, str], RateLimit | None]] = {
    "none": ({}, None),
    "seconds": (
        {"RateLimit-Limit": "60", "RateLimit-Remaining": "59", "RateLimit-Reset": "30"},
        RateLimit(60, 59, 30.0),
    ),
    "a time": (
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(NOW + 5)},
        RateLimit(remaining=0, reset=5.0),
    ),
    "a wait": ({"Retry-After": formatdate(NOW + 7, usegmt=True)}, RateLimit(retry_after=7.0)),
    "not numbers": ({"RateLimit-Limit": "many", "X-RateLimit-Reset": "-1"}, None),
}


@pytest.mark.parametrize(("headers", "limit"), LIMITS.values(), ids=LIMITS.keys())
def test_the_limit_on_requests_is_what_the_service_last_reported(
    client: Either, server: RawServer, headers: dict[str, str], limit: RateLimit | None
) -> None:
    dated = headers | {"Date": formatdate(NOW, usegmt=True)}
    server.then(answering({"voted": True}, headers=dated), VOTED)

    assert client.client.rate_limit is None
    client.check_vote(7)
    client.check_vote(7)

    assert client.client.rate_limit == limit
