"""The token for Discord: from one variable of the environment, and never another service's."""

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import pytest

from commandsync.errors import DecodeError, UsageError
from commandsync.sync.registrations import read_registered
from commandsync.sync.settings import Settings
from tests.support.plans import day
from tests.support.rawserver import RawServer, answering

TOKEN = "NzcxMjM0NTY3ODkwMTIzNDU2.X5hvTg.marked-token-7f3a9c1e"
CLAIMS = urlsafe_b64encode(b'{"id": "1"}').decode()
LISTING_TOKEN = f"eyJhbGciOiJIUzI1NiJ9.{CLAIMS}.signature"
SETTINGS = Settings(now=day(1), base_url="http://127.0.0.1:9", timeout=20.0, retries=0)


@pytest.fixture(autouse=True)
def no_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "DISCORD_APPLICATION_ID", "DISCORD_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COMMANDSYNC_TOKEN", LISTING_TOKEN)


@pytest.mark.promise("discord-token-source")
def test_it_is_read_from_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", f" {TOKEN}\n")
    command = {"id": "7", "name": "ping", "description_localizations": {"de": "Hallo"}}

    seen: list[Any] = []
    settings = replace(SETTINGS, on_progress=seen.append)

    with RawServer() as server:
        server.then(answering({"id": "42"}), answering([command]))
        monkeypatch.setenv("DISCORD_BASE_URL", server.url)
        reading = read_registered(settings, "de")

    (entry,) = reading.entries
    assert (entry.syntax, entry.description) == ("/ping", "Hallo")
    assert entry.place is None
    assert {request.headers["authorization"] for request in server.requests} == {f"Bot {TOKEN}"}
    assert {progress.operation.name for progress in seen} == {
        "read application",
        "list application commands",
    }
    assert {(progress.site.token_from, progress.site.bot) for progress in seen} == {
        ("DISCORD_TOKEN", "")
    }


@pytest.mark.promise("import-without-requests")
@pytest.mark.promise("discord-token-names")
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
        monkeypatch.setenv("DISCORD_BASE_URL", server.url)
        with pytest.raises(UsageError) as caught:
            read_registered(SETTINGS)
        assert server.requests == []
    assert caught.value.message.startswith(message)
    assert "developer portal" in str(caught.value.hint)


def test_an_answer_with_something_else_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)

    with RawServer() as server:
        server.then(answering(json.dumps([{"nome": "ping"}]).encode()))
        monkeypatch.setenv("DISCORD_BASE_URL", server.url)
        monkeypatch.setenv("DISCORD_APPLICATION_ID", "42")
        with pytest.raises(DecodeError, match=r"Discord: .* a command without an id or a name"):
            read_registered(SETTINGS)
