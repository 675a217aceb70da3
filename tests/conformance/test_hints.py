"""Hints of the library name arguments and exceptions; a closed client is called closed."""

import re

import pytest

from commandsync import CommandsyncError, StoppedError
from tests.support.clients import TOKEN, Either, Open
from tests.support.rawserver import Act, RawServer, answering, closing, hanging, resetting, sending

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6IjQyIn0.c2ln"
OF_THE_COMMAND_LINE = re.compile(r"--[a-z]|COMMANDSYNC_|token_env")

ENDS: dict[str, tuple[Act, str]] = {
    "429": (
        answering({"error": "slow"}, status=429, headers={"Retry-After": "999"}),
        "concurrency",
    ),
    "time-out": (hanging, "timeout"),
    "400": (answering({"error": "no"}, status=400), ""),
    "403": (answering({"error": "no"}, status=403), ""),
    "404": (answering({"error": "no"}, status=404), ""),
    "500": (answering({"error": "no"}, status=500), ""),
    "302": (answering(b"", status=302, headers={"Location": "/elsewhere"}), ""),
    "success false": (answering({"success": False, "message": "no"}), ""),
    "no JSON": (answering(b"<html>"), ""),
    "reset": (resetting, ""),
    "closed": (closing, ""),
    "not HTTP": (sending(b"\x15\x03\x01\r\n\r\n"), ""),
}


def assert_speaks_python(error: CommandsyncError) -> None:
    said = f"{error} {error.hint}"

    assert not OF_THE_COMMAND_LINE.search(said), said


@pytest.mark.parametrize(("act", "argument"), ENDS.values(), ids=ENDS.keys())
def test_a_hint_on_a_failed_request_names_an_argument_and_no_flag(
    open_client: Open, server: RawServer, act: Act, argument: str
) -> None:
    server.then(act)
    client = open_client(TOKEN, server.url, bot="42", retries=0, timeout=0.5)

    with pytest.raises(CommandsyncError) as caught:
        client.get_commands()

    assert not argument or re.search(rf"\b{argument}\b", str(caught.value.hint))
    assert_speaks_python(caught.value)


@pytest.mark.parametrize("status", [401, 403])
def test_a_hint_names_the_argument(open_client: Open, server: RawServer, status: int) -> None:
    server.then(answering({"error": "who are you?"}, status=status))
    client = open_client(None, server.url, bot="42")

    with pytest.raises(CommandsyncError) as caught:
        client.get_commands()

    assert "token=" in str(caught.value.hint)
    assert_speaks_python(caught.value)


def test_a_token_in_the_place_of_the_base_url_is_told_of_the_argument(open_client: Open) -> None:
    with pytest.raises(CommandsyncError) as caught:
        open_client(None, JWT, bot="42")

    assert "token" in str(caught.value.hint)
    assert_speaks_python(caught.value)


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("get_commands", ()),
        ("check_vote", ("7",)),
        ("add_command", ("help", "Shows it.", "/help")),
        ("delete_command", ("c1",)),
    ],
)
def test_a_closed_client_says_that_it_is_closed(
    client: Either, server: RawServer, method: str, arguments: tuple[str, ...]
) -> None:
    client.close()

    with pytest.raises(StoppedError, match="closed") as caught:
        getattr(client, method)(*arguments)

    assert_speaks_python(caught.value)
    assert server.requests == []
