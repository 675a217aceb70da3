"""Services that are down, wrong or strange: the message, and an unchanged listing."""

import re
import ssl

import pytest
import trustme

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
