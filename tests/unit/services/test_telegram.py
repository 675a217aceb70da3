"""Telegram's requests, which never have the token, and its answers."""

from __future__ import annotations

import json

import pytest

from commandsync.diagnostics import Do
from commandsync.errors import ApiError, DecodeError, Invalid, RateLimited, Reply, Unauthorized
from commandsync.records.snapshot import Entry, Snapshot
from commandsync.records.texts import CommandText, Resource
from commandsync.services.fit import as_listed
from commandsync.services.telegram import TELEGRAM

LIST = Snapshot({Resource.COMMAND: (Entry(CommandText("ban", "Bans.", "")),)})
COMMANDS = b'{"ok": true, "result": [{"command": "ban", "description": " Bans. "}]}'


def ok(result: object) -> Reply:
    return Reply(200, json.dumps({"ok": True, "result": result}).encode())


def test_a_list_is_replaced_in_one_request() -> None:
    operation = TELEGRAM.replace("", LIST)

    assert (operation.method, operation.path) == ("POST", "/bot{token}/setMyCommands")
    assert operation.body == {"commands": [{"command": "ban", "description": "Bans."}]}
    assert operation.idempotent
    assert TELEGRAM.authorization == ""
    assert operation.read(ok(result=True)) is None


def test_an_empty_list_deletes_the_commands() -> None:
    operation = TELEGRAM.replace("", Snapshot({Resource.COMMAND: ()}))

    assert (operation.method, operation.path) == ("POST", "/bot{token}/deleteMyCommands")
    assert operation.body == {}
    with pytest.raises(ValueError, match="not managed"):
        TELEGRAM.replace("", Snapshot())


def test_a_list_is_read_as_it_was_sent() -> None:
    operation = TELEGRAM.read("", Resource.COMMAND)

    assert (operation.method, operation.path) == ("GET", "/bot{token}/getMyCommands")
    entries = operation.read(Reply(200, COMMANDS))
    assert Snapshot({Resource.COMMAND: entries}) == as_listed(LIST)
    assert entries[0].id == "ban"
    assert operation.read(ok([])) == ()


@pytest.mark.parametrize(
    "body",
    [
        b'{"ok": true}',
        b'{"ok": true, "result": {}}',
        b'{"ok": true, "result": null}',
        b'{"ok": true, "result": ["ban"]}',
        b'{"ok": true, "result": [{"command": "ban"}]}',
        b'{"ok": true, "result": [{"command": 1, "description": "Bans."}]}',
        b'{"result": []}',
        b"[]",
        b"",
        b"<html>",
    ],
)
def test_what_is_not_a_list_is_not_an_empty_list(body: bytes) -> None:
    with pytest.raises(DecodeError):
        TELEGRAM.read("", Resource.COMMAND).read(Reply(200, body))


@pytest.mark.parametrize("body", [b"", b"{}", b'{"ok": true}', b'{"ok": true, "result": false}'])
def test_an_answer_that_does_not_say_so_is_no_success(body: bytes) -> None:
    with pytest.raises(DecodeError):
        TELEGRAM.replace("", LIST).read(Reply(200, body))


def test_the_token_is_checked_by_reading_its_bot() -> None:
    assert TELEGRAM.check is not None
    operation = TELEGRAM.check()

    assert (operation.method, operation.path) == ("GET", "/bot{token}/getMe")
    assert operation.read(ok({"id": 1, "username": "lantern_bot"})) == "@lantern_bot"
    assert operation.read(ok({"id": 1})) == ""
    assert operation.read(ok([])) == ""


@pytest.mark.parametrize(
    ("status", "description", "error", "message"),
    [
        (400, "Bad Request: BOT_COMMAND_INVALID", Invalid, "400: Bad Request: BOT_COMMAND_INVALID"),
        (401, "Unauthorized", Unauthorized, "does not accept the token"),
        (404, "Not Found", Unauthorized, r"does not accept the token \(HTTP 404\)"),
        (200, "Bad Request", Invalid, "Bad Request"),
    ],
)
def test_a_refusal_is_in_telegrams_words(
    status: int, description: str, error: type[ApiError], message: str
) -> None:
    body = json.dumps({"ok": False, "error_code": status, "description": description}).encode()
    with pytest.raises(error, match=message) as refusal:
        TELEGRAM.replace("", LIST).read(Reply(status, body))

    assert refusal.value.status == status
    assert (error is Unauthorized) == (refusal.value.hint == Do.RENEW_TOKEN())


def test_the_seconds_to_wait_are_in_the_body() -> None:
    body = b'{"ok": false, "description": "Too Many Requests", "parameters": {"retry_after": 460}}'
    with pytest.raises(RateLimited) as refusal:
        TELEGRAM.replace("", LIST).read(Reply(429, body))

    assert refusal.value.retry_after == 460
