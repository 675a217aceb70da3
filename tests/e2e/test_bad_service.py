"""Services that are down, wrong or strange: the message, and an unchanged listing."""

import re
import socket
import ssl
from contextlib import closing

import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.home import Home, checked, failed, fields
from tests.support.rawserver import RawServer

HTML = b"<!doctype html><title>Welcome</title><h1>Welcome to the listing</h1>"

STRANGE = {
    "HTML": (Instead(200, HTML, {"Content-Type": "text/html"}), "service"),
    "HTML of a proxy": (Instead(502, HTML), "network"),
    "truncated JSON": (Instead(200, b'{"success": true, "data": [{"id": "1", "na'), "service"),
    "an empty body": (Instead(200, b""), "service"),
    "success: false": (Instead(200, {"success": False, "message": "No such bot."}), "service"),
    "success: false with a list": (Instead(200, {"success": False, "data": []}), "service"),
    "data: null": (Instead(200, {"success": True, "data": None}), "service"),
    "data: an object": (Instead(200, {"success": True, "data": {"id": "1"}}), "service"),
    "records without a name": (Instead(200, {"data": [{"id": "1", "syntax": "x"}]}), "service"),
    "more pages than one": (
        Instead(200, {"data": {"data": [], "queries": {"page": 1, "maxPage": 4}}}),
        "service",
    ),
    "401": (Instead(401, {"error": "The entered bot token is invalid."}), "auth"),
    "403": (Instead(403, {"error": "This token is another bot's."}), "auth"),
    "404": (Instead(404, {"error": "There is no such bot."}), "service"),
    "500": (Instead(500, {"error": "Internal Server Error"}), "network"),
    "a redirect": (Instead(302, b"", {"Location": "https://other.example/"}), "service"),
}


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("help", "Reworded."), ("new",)))
    return home.knows(service.bot(["help", "play"], ["v2"]), url=proxy.url)


READING = (
    *("plan", "plan --format json", "pull", "apply --dry-run"),
    *("pull --format json", "apply --dry-run --plan plan.json", "bots show"),
)


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("command", READING)
def test_a_needed_token_is_reported(home: Home, proxy: Proxy, command: str, status: int) -> None:
    assert home.run("plan", "--out", "plan.json").code == 0
    proxy.rule = lambda _: Instead(status, {"error": "Who are you?"})

    with_token = home.run(*command.split())
    home.forget("COMMANDSYNC_TOKEN")
    without = home.run(*command.split())

    assert (with_token.code, without.code) == (1, 1)
    for words in ("no token", f"({status}: Who are you?)", "COMMANDSYNC_TOKEN", "--token-file"):
        assert words in without.said
    assert "accept the token" not in without.said
    assert "no token" not in with_token.said


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["apply --yes", "apply --yes --plan plan.json", "vote 7"])
def test_a_write_reports_that_no_token_was_given(home: Home, proxy: Proxy, command: str) -> None:
    assert home.run("plan", "--out", "plan.json").code == 0
    home.forget("COMMANDSYNC_TOKEN")
    proxy.requests.clear()

    ran = home.run(*command.split(), exits=2)

    assert "no token" in ran.err
    assert proxy.requests == []


@pytest.mark.promise("complete-lists")
@pytest.mark.parametrize("what", STRANGE)
def test_a_strange_answer_is_an_error(home: Home, bot: Bot, proxy: Proxy, what: str) -> None:
    strange, kind = STRANGE[what]
    proxy.rule = lambda _: strange
    before = bot.everything()

    ran = home.run("apply", "--yes", "--max-deletes", "all", "--retries", "0", "--format", "json")

    assert ran.code == 1
    assert failed(ran, kind)
    assert checked(ran, "result")["error"]["hint"]

    read = home.run("plan", "--retries", "0")

    assert (read.code, read.out) == (1, "")
    assert re.fullmatch(r"error: .+\n  hint: .+\n", read.err)
    assert proxy.writes == []
    assert bot.everything() == before


def test_a_429_for_ever_is_given_up_after_the_retries(home: Home, bot: Bot, proxy: Proxy) -> None:
    proxy.rule = lambda _: Instead(429, {"error": "Slow down."}, {"Retry-After": "0"})
    before = bot.everything()

    ran = home.run("apply", "--yes", "--retries", "2", "--format", "json", exits=1)

    assert failed(ran, "rate-limited")
    assert proxy.shorts() == ["GET commands"] * 3
    assert bot.everything() == before


@pytest.mark.promise("certificates")
@pytest.mark.usefixtures("bot")
def test_an_untrusted_certificate_is_reported_without_a_retry(home: Home) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with RawServer(tls=context) as server:
        ran = home.run("plan", "--base-url", server.url, "--format", "json")

    assert ran.code == 1
    host = server.url.removeprefix("https://")
    assert failed(ran, "network").startswith(f"the certificate of {host} is not trusted: ")
    assert server.connections == 1
    assert server.requests == []


@pytest.mark.usefixtures("bot")
def test_an_answer_that_never_comes_ends_with_the_time_out(home: Home) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}"
        ran = home.run("plan", "--base-url", url, "--retries", "0", "--timeout", "0.2")

    assert ran.code == 1
    assert "0.2" in ran.err


@settings(max_examples=2)
@given(adds=st.integers(1, 80), edits=st.integers(0, 9), deletes=st.integers(0, 9))
def test_a_service_that_hangs_up_after_each_answer_costs_no_tries_and_no_certainty(
    home: Home, service: Service, proxy: Proxy, adds: int, edits: int, deletes: int
) -> None:
    listed = [f"listed {n}" for n in range(edits + deletes)]
    bot = home.knows(service.bot(listed), url=proxy.url)
    wanted = [*((name, "Reworded.") for name in listed[:edits]), *((f"n{n}",) for n in range(adds))]
    home.write(fields(*wanted))
    proxy.hangs_up = True
    proxy.requests.clear()

    ran = home.run("apply", "--yes", "--max-deletes", "all", "--retries", "0", "--format", "json")

    assert ran.code == 0, ran.said
    assert checked(ran, "result")["verified"] is True
    assert bot.names() == [name for name, *_ in wanted]
    assert proxy.shorts().count("POST commands") >= adds + edits


@settings(max_examples=2)
@given(count=st.integers(3, 30), status=st.sampled_from([500, 502, 503]))
def test_a_service_that_reads_well_and_fails_every_add_is_left_alone_after_five(
    home: Home, bot: Bot, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, count: int, status: int
) -> None:
    monkeypatch.setattr("commandsync.apply.run.REREADS", (0.0, 0.0, 0.0))
    proxy.rule = lambda seen: Instead(status, {"error": "Oh."}) if seen.writes else None
    home.write(fields(*((f"command {n}",) for n in range(count)), ("help",), ("play",)))
    before = bot.everything()
    proxy.requests.clear()

    ran = home.run("apply", "--yes", "--format", "json")

    outcomes = checked(ran, "result")["outcomes"]
    assert ran.code in {1, 6}
    assert len(proxy.writes) == 5
    assert outcomes["done"] == 0
    assert outcomes["skipped"] == count - 3
    assert bot.everything() == before


@settings(max_examples=3)
@given(data=st.data(), count=st.integers(2, 9), status=st.sampled_from([500, 502, 503]))
def test_one_change_that_always_fails_stops_none_of_the_others(
    *,
    home: Home,
    service: Service,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
    count: int,
    status: int,
) -> None:
    monkeypatch.setattr("commandsync.api.policy._FIRST_WAIT", 0.0)
    monkeypatch.setattr("commandsync.apply.run.REREADS", (0.0, 0.0, 0.0))
    names = [f"command {n}" for n in range(count)]
    failing = data.draw(st.sampled_from(names))
    home.knows(service.bot(names), url=proxy.url)
    home.write(fields(*((name, "Reworded.") for name in names)))
    proxy.rule = lambda seen: Instead(status, {"error": "Oh."}) if failing in str(seen) else None

    ran = home.run("apply", "--yes", "--concurrency", "1", "--format", "json", exits=6)

    outcomes = checked(ran, "result")["outcomes"]
    assert (outcomes["done"], outcomes["failed"]) == (count - 1, 1)
    assert outcomes["skipped"] == outcomes["unknown"] == 0
