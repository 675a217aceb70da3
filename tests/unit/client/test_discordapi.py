"""The commands that a bot registered, read from a real server that answers like Discord."""

import logging
from traceback import TracebackException
from typing import Any

import pytest

from commandsync.api.credentials import Token
from commandsync.client.connection import registered_commands
from commandsync.errors import (
    CommandsyncError,
    DecodeError,
    Forbidden,
    Invalid,
    ListingError,
    NotFound,
    PlainHttpError,
    RateLimited,
    Redirected,
    ServerError,
    Unauthorized,
    UsageError,
)
from commandsync.services.discord import discord_address
from tests.support.rawserver import Act, RawServer, answer, answering, sending

TOKEN = "NzcxMjM0NTY3ODkwMTIzNDU2.X5hvTg.marked-token-7f3a9c1e"
PING = {"id": "1", "application_id": "42", "name": "ping", "description": "Pings", "type": 1}
SELF = {"id": "42", "name": "My bot"}


def read(server: RawServer, **options: Any) -> bytes:  # noqa: ANN401 - arguments of the function
    address = discord_address(options.pop("base_url", f"{server.url}/api"))
    given: dict[str, Any] = {"retries": 0, "timeout": 20.0} | options
    return registered_commands(address, Token(TOKEN), **given)


def refusal(server: RawServer, *acts: Act, **options: Any) -> ListingError:  # noqa: ANN401 - as above
    server.then(*acts)
    with pytest.raises(ListingError) as caught:
        read(server, **{"application": "42", **options})
    return caught.value


@pytest.mark.promise("discord-requests")
@pytest.mark.parametrize("path", ["", "/api", "/api/v10/"])
def test_one_request_reads_commands_and_localizations(server: RawServer, path: str) -> None:
    server.then(answering([PING]))

    body = read(server, application="42", base_url=server.url + path)

    assert b'"ping"' in body
    (request,) = server.requests
    assert (request.method, request.path) == ("GET", "/api/v10/applications/42/commands")
    assert request.query == {"with_localizations": "true"}
    assert request.headers["authorization"] == f"Bot {TOKEN}"
    assert request.headers["user-agent"].startswith("DiscordBot (https://")


def test_without_an_application_discord_is_asked_which(server: RawServer) -> None:
    server.then(answering(SELF), answering([]))

    assert read(server) == b"[]"
    assert [request.path for request in server.requests] == [
        "/api/v10/applications/@me",
        "/api/v10/applications/42/commands",
    ]


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (401, "401: Unauthorized", Unauthorized),
        (403, "Missing Access", Forbidden),
        (404, "Unknown Application", NotFound),
        (429, "slow down", RateLimited),
        (400, "odd", Invalid),
        (302, "", Redirected),
        (503, "", ServerError),
    ],
)
def test_a_refusal_says_what_and_what_to_do(
    server: RawServer, status: int, words: str, kind: type[ListingError]
) -> None:
    headers = {"Location": f"{server.url}/elsewhere", "Retry-After": "999"}
    body = {"message": words, "code": 0} if words else b""

    error = refusal(server, answering(body, status=status, headers=headers))

    assert type(error) is kind
    assert error.message.startswith("Discord: ")
    assert str(status) in error.message
    assert words in error.message
    assert bool(error.hint) is (status != 400)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"commands": []}, "the answer contains no list of application commands"),
        ("text", "the answer contains no list of application commands"),
        (b"<html>", "the answer is an HTML page (HTTP 200)"),
        (b"[" * 99_999, "the answer is not valid JSON (HTTP 200)"),
    ],
    ids=["object", "string", "HTML", "nested"],
)
def test_what_is_not_a_list_is_an_error(server: RawServer, body: object, message: str) -> None:
    error = refusal(server, answering(body))

    assert isinstance(error, DecodeError)
    assert error.message == f"Discord: {message}"
    assert error.hint == "run again later"


@pytest.mark.parametrize("body", [[], {}, {"id": None}, {"id": "../x"}, {"id": "9" * 99}])
def test_an_application_without_an_id_is_an_error(server: RawServer, body: object) -> None:
    error = refusal(server, answering(body), application="")

    assert isinstance(error, DecodeError)
    assert "no application" in error.message


def test_it_is_tried_again_after_a_failure_that_passes(server: RawServer) -> None:
    server.then(
        answering({"retry_after": 0.01}, status=429, headers={"Retry-After": "0"}),
        answering([PING]),
    )

    assert b"ping" in read(server, application="42", retries=1)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"base_url": "http://discord.example/api"}, PlainHttpError, "is plain http to another"),
        ({"base_url": "https://discord.com/api/v9"}, UsageError, "another version than /v10"),
        ({"base_url": "discord.com"}, UsageError, "is not an http or https URL"),
        ({"application": "../users/1"}, UsageError, "'../users/1' is not an application's id"),
        ({"application": "٤٢"}, UsageError, "is not an application's id"),
    ],
)
def test_what_is_not_valid_is_refused_before_any_request(
    server: RawServer, options: dict[str, Any], kind: type[CommandsyncError], message: str
) -> None:
    with pytest.raises(kind, match=message) as caught:
        read(server, **options)

    assert caught.value.hint
    assert server.requests == []


ECHOES: dict[str, Act] = {
    **{
        str(status): answering(
            {"message": f"You sent Bot {TOKEN}"}, status=status, headers={"X-Echo": TOKEN}
        )
        for status in (302, 401, 403, 404, 429, 500)
    },
    "no list": answering({"commands": TOKEN}),
    "no HTTP": sending(f"{TOKEN} Bot {TOKEN}\r\n\r\n".encode()),
    "cut off": sending(answer(b"[", headers={"Content-Length": "99"})),
}


@pytest.mark.promise("discord-token-rules")
@pytest.mark.parametrize("what", ECHOES)
def test_no_error_shows_the_token(
    server: RawServer, caplog: pytest.LogCaptureFixture, what: str
) -> None:
    caplog.set_level(logging.NOTSET)

    error = refusal(server, ECHOES[what])

    assert error.__traceback__ is not None
    frames = error.__traceback__.tb_next  # without this test's own, which knows the token
    assert frames is not None
    shown = [caplog.text]
    inner: BaseException | None = error
    while inner is not None:
        below = frames.tb_next
        shown += TracebackException(type(inner), inner, below, capture_locals=True).format()
        shown += [repr(inner), repr(vars(inner)), repr(inner.args)]
        inner = inner.__cause__ or inner.__context__
    assert TOKEN not in "\n".join(shown)
    assert server.requests[0].headers["authorization"] == f"Bot {TOKEN}"
