"""The tokens of lists: each goes to its own service only, and no output has one."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from commandsync.services.catalogue import LISTS
from tests.support.bots import Instead
from tests.support.destination import LOST, SERVICES, Destination, destination
from tests.support.home import Home, failed
from tests.support.rawserver import RawServer, sending

HOST = "lists.example"
DENIED = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def outside(home: Home) -> Iterator[RawServer]:
    """What every request to another machine goes to, which connects to none."""
    with RawServer() as server:
        server.acts += [sending(DENIED)] * 50
        home.variable("HTTPS_PROXY", server.url)
        yield server


def elsewhere(place: Destination, *, token_env: str = "", host: str = HOST) -> None:
    """Let the manifest name another host for the list."""
    place.write("ping")
    text = place.home.read("commands.yaml").replace(place.proxy.url, f"https://{host}")
    if token_env and "token_env" in text:
        text = re.sub(r"token_env: \w+", f"token_env: {token_env}", text)
    elif token_env:
        text = f"{text}    token_env: {token_env}\n"
    place.home.write(text)


@pytest.mark.promise("named-hosts")
@pytest.mark.parametrize("hosts", ["", "example", "other.example", f"www.{HOST}"])
def test_a_manifests_host_gets_no_token(place: Destination, outside: RawServer, hosts: str) -> None:
    variable = "COMMANDSYNC_TOKEN_OWN"
    place.home.variable(variable, place.listing.token)
    place.home.variable("COMMANDSYNC_HOSTS", hosts)
    elsewhere(place, token_env=variable)

    ran = place.apply("--unseen", form="text", exits=5)

    assert f"COMMANDSYNC_HOSTS={HOST}" in ran.err
    assert outside.requests == []
    assert place.secret not in ran.said


@pytest.mark.promise("host-variables")
@pytest.mark.parametrize("variable", ["", "COMMANDSYNC_TOKEN", "COMMANDSYNC_TOKEN_TOPGG"])
def test_a_host_of_the_manifest_gets_a_token_of_its_own_only(
    place: Destination, outside: RawServer, variable: str
) -> None:
    for name in ("COMMANDSYNC_TOKEN", "COMMANDSYNC_TOKEN_TOPGG"):
        place.home.variable(name, place.listing.token)
    place.home.variable("COMMANDSYNC_HOSTS", HOST)
    elsewhere(place, token_env=variable)
    if not variable and place.listing.service == "disq.ink":
        pytest.skip("a declared service has a token_env")

    ran = place.apply("--unseen", form="text", exits=5)

    assert "of its own" in ran.err
    assert outside.requests == []


@pytest.mark.promise("host-variables")
@pytest.mark.parametrize("host", [HOST, "127.0.0.1:9"])
@pytest.mark.parametrize("variable", ["COMMANDSYNC_TOKEN", "COMMANDSYNC_TOKEN_MINE"])
def test_a_host_of_the_manifest_never_gets_the_token_of_the_page(
    place: Destination, outside: RawServer, *, host: str, variable: str
) -> None:
    place.home.variable(variable, place.listing.token)
    place.home.variable("COMMANDSYNC_HOSTS", HOST)
    elsewhere(place, token_env=variable, host=host)
    place.home.write(f"token_env: COMMANDSYNC_TOKEN_MINE\n{place.home.read('commands.yaml')}")

    ran = place.apply("--unseen", form="text", exits=5)

    assert "of its own" in ran.err
    assert outside.requests == []


@pytest.mark.parametrize(
    "variable", sorted({name for service in LISTS.values() for name in service.variables})
)
def test_the_token_of_a_service_is_hidden_in_what_the_user_wrote(home: Home, variable: str) -> None:
    secret = "8120454873:a-secret-of-a-service"
    home.variable(variable, secret)
    home.write("version: 1\n" + f"commands: [{{name: ping, '{secret}': 1}}]\n")

    ran = home.run("validate", exits=4)

    assert secret not in ran.said


@pytest.mark.promise("hosts-variable")
def test_a_host_of_the_environment_gets_its_token(place: Destination, outside: RawServer) -> None:
    place.home.variable("COMMANDSYNC_TOKEN_OWN", place.listing.token)
    place.home.variable("COMMANDSYNC_HOSTS", f"other.example, {HOST.upper()}")
    elsewhere(place, token_env="COMMANDSYNC_TOKEN_OWN")

    ran = place.apply("--unseen", "--retries", "0", "-vv", form="text", exits=1)

    assert {request.method for request in outside.requests} == {"CONNECT"}
    assert all(request.target == f"{HOST}:443" for request in outside.requests)
    assert place.listing.token not in str([each.headers for each in outside.requests])
    assert place.secret not in ran.said


@pytest.mark.promise("token-in-path")
@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
@pytest.mark.usefixtures("outside")
def test_no_output_has_a_token(
    place: Destination, caplog: pytest.LogCaptureFixture, form: str
) -> None:
    """Also not the log of the HTTP library, or a message of an exception."""
    caplog.set_level(logging.DEBUG)
    token, home = place.listing.token, place.home
    echo = {"error": f"bad {token}", "message": f"/bot{token}/setMyCommands", "ok": False}
    place.write("ping", "ban")
    said = [
        home.run("plan", *options, "-vv", "--format", form) for options in ((), ("--requests",))
    ]
    answers = (
        Instead(400, echo),
        Instead(500, echo),
        Instead(200, f"<html>{token}</html>".encode()),
        Instead(307, headers={"Location": f"http://127.0.0.1:9/bot{token}/x"}),
        Instead(404, {"description": token}),
        LOST,
    )
    for reads in (False, True):
        for answer in answers:
            place.fail(lambda _, answer=answer: answer, reads=reads)  # type: ignore[misc]  # bound
            said.append(place.apply("--unseen", "-vv", "--retries", "1", form=form))
    place.proxy.rule = lambda _: None
    said.append(place.apply("--unseen", "-vv", form=form))
    sent = len(place.proxy.writes)
    place.write(("ping", f"The token is {token}."), "kick")
    said += [home.run("plan", "--requests"), place.apply("--unseen", "-vv", form=form)]
    assert (said[-1].code, len(place.proxy.writes)) == (5, sent)
    place.write("ping", "kick")
    place.proxy.__exit__(None, None, None)  # nobody listens there any more
    said.append(place.apply("--unseen", "-vv", "--retries", "0", form=form))

    everything = "".join(ran.said for ran in said) + caplog.text
    everything += "".join(f"{record.msg} {record.args}" for record in caplog.records)
    assert said[-1].code == 1
    assert place.proxy.requests
    assert "urllib3" in caplog.text
    assert place.secret not in everything


@pytest.mark.promise("one-token-two-lists")
def test_a_token_for_two_lists_of_a_service_is_refused(home: Home) -> None:
    with destination(home, "discordbotlist.com") as first:
        entry = f"""  - service: discordbotlist.com
    bot: "812045337190064139"
    base_url: {first.proxy.url}
"""
        first.write("ping", more=entry)
        ran = first.apply("--unseen", form="text")

        assert ran.code == 2
        assert "two listings of discordbotlist.com" in ran.err
        assert first.secret not in ran.said
        assert first.proxy.requests == []


def test_a_token_of_another_bot_is_refused_before_a_request(telegram: Destination) -> None:
    telegram.write("ping", more='    bot: "99"\n')

    ran = telegram.apply(exits=5)

    assert "belongs to bot 8120454873, not to bot 99" in failed(ran, "refused")
    assert telegram.proxy.requests == []


def test_the_bot_of_the_manifest_is_not_that_of_telegram(telegram: Destination) -> None:
    telegram.write("ping")
    text = telegram.home.read("commands.yaml").replace(telegram.listing.bot, "99", 1)
    telegram.home.write(text)

    assert telegram.apply().code == 0


@pytest.mark.promise("differing-variables")
def test_two_variables_that_differ_are_refused(topgg: Destination, home: Home) -> None:
    topgg.write("ping")
    text = home.read("commands.yaml").replace(f"    base_url: {topgg.proxy.url}\n", "")
    home.write(text)
    home.variable("TOPGG_TOKEN", "another-Token-0123456789")

    ran = home.run("plan", exits=2)

    assert "COMMANDSYNC_TOKEN_TOPGG and TOPGG_TOKEN" in ran.err
    assert "another-Token" not in ran.said
    assert topgg.secret not in ran.said


def test_an_address_of_the_manifest_gets_no_token_of_another_program(topgg: Destination) -> None:
    topgg.home.variable("TOPGG_TOKEN", "another-Token-0123456789")
    topgg.write("ping")

    assert topgg.apply("--unseen").code == 0
    (request,) = topgg.proxy.requests
    assert request.headers["authorization"] == f"Bearer {topgg.listing.token}"


@pytest.mark.promise("token-of-each-listing", "known-hosts")
def test_each_list_gets_its_own_token_and_no_other(home: Home) -> None:
    with ExitStack() as opened:
        places = [opened.enter_context(destination(home, name)) for name in SERVICES]
        places[0].write("ping", more="".join(place.entry for place in places[1:]))
        ran = places[0].apply("--unseen")

        assert ran.code == 0
        for place in places:
            sent = str([(each.target, each.headers, each.body) for each in place.proxy.requests])
            assert place.listing.token in sent
            assert all(other.secret not in sent for other in places if other is not place)
