"""The token for Discord: from one variable of the environment, and never another service's."""

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import pytest

from commandsync.errors import FileError, UsageError
from commandsync.sync.importsource import read_registered
from commandsync.sync.settings import Settings
from tests.support.plans import day
from tests.support.rawserver import RawServer, answering

TOKEN = "NzcxMjM0NTY3ODkwMTIzNDU2.X5hvTg.marked-token-7f3a9c1e"
CLAIMS = urlsafe_b64encode(b'{"id": "1"}').decode()
LISTING_TOKEN = f"eyJhbGciOiJIUzI1NiJ9.{CLAIMS}.signature"
SETTINGS = Settings(now=day(1), base_url="http://127.0.0.1:9", timeout=20.0, retries=0)


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "OTHER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COMMANDSYNC_TOKEN", LISTING_TOKEN)


@pytest.mark.promise("discord-token-source")
@pytest.mark.parametrize(
    ("variable", "options"), [("DISCORD_TOKEN", {}), ("OTHER_TOKEN", {"variable": "OTHER_TOKEN"})]
)
def test_it_is_read_from_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, options: dict[str, str]
) -> None:
    monkeypatch.setenv(variable, f" {TOKEN}\n")
    command = {"id": "7", "name": "ping", "description_localizations": {"de": "Hallo"}}

    seen: list[Any] = []
    settings = replace(SETTINGS, on_progress=seen.append)

    with RawServer() as server:
        server.then(answering({"id": "42"}), answering([command]))
        reading = read_registered(settings, base_url=server.url, locale="de", **options)

    (entry,) = reading.entries
    assert (entry.syntax, entry.description) == ("/ping", "Hallo")
    assert (entry.key, entry.place) == ("discord:7", None)
    assert {request.headers["authorization"] for request in server.requests} == {f"Bot {TOKEN}"}
    assert {progress.operation.name for progress in seen} == {
        "get application",
        "list application commands",
    }
    assert {(progress.site.token_from, progress.site.bot) for progress in seen} == {(variable, "")}


@pytest.mark.promise("import-without-requests")
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("", "the variable DISCORD_TOKEN is not set"),
        (" \n", "the variable DISCORD_TOKEN is not set"),
        ("two words", "DISCORD_TOKEN: the token contains a space, a control character or a letter"),
        (LISTING_TOKEN, "DISCORD_TOKEN contains the token of a listing service"),
    ],
)
def test_without_a_token_for_discord_no_request_is_made(
    monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", value)

    with RawServer() as server:
        with pytest.raises(UsageError) as caught:
            read_registered(SETTINGS, base_url=server.url)

        assert server.requests == []
    assert caught.value.message.startswith(message)
    assert "developer portal" in str(caught.value.hint)


@pytest.mark.promise("discord-token-names")
@pytest.mark.parametrize("variable", ["COMMANDSYNC_TOKEN", "commandsync_token_x"])
def test_the_token_of_a_listing_service_is_never_sent_to_discord(variable: str) -> None:
    with pytest.raises(UsageError, match=f"the variable {variable} is for the token of a listing"):
        read_registered(SETTINGS, variable=variable)


def test_an_answer_with_something_else_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)

    with RawServer() as server:
        server.then(answering(json.dumps([{"nome": "ping"}]).encode()))
        with pytest.raises(FileError, match=r"the answer: not an application command"):
            read_registered(SETTINGS, base_url=server.url, application="42")
