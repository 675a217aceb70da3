"""What the service does not do: who may not write, what is not there, what is not a good body."""

import json
from dataclasses import replace
from typing import Any

import jwt
import pytest

from commandsync.server.bodies import LARGEST_BODY
from tests.support.callers import COMMAND, NOBODY, NOTICE, Caller
from tests.support.wording import Wording

Record = dict[str, Any]

ON_NOBODY: list[tuple[str, str, Record | None]] = [
    ("POST", "/commands", {**COMMAND, "id": NOBODY}),
    ("PUT", "/commands", {**COMMAND, "id": NOBODY}),
    ("DELETE", f"/commands/{NOBODY}", None),
    ("PUT", f"/commands/{NOBODY}/uses", {"uses": 1}),
    ("DELETE", f"/announcements/{NOBODY}", None),
]
WRITES = [*ON_NOBODY, ("POST", "/commands", COMMAND), ("POST", "/announcements", NOTICE)]


# Who may write


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_a_write_needs_this_bots_token(
    caller: Caller, stranger: Caller, method: str, path: str, body: Record | None
) -> None:
    head, payload, _ = caller.token.split(".")
    unsigned = f"eyJhbGciOiJub25lIn0.{payload}."
    forged = jwt.encode({"id": caller.bot, "iat": 1}, "guess " * 10, algorithm="HS256")
    bad = ("x.y.z", unsigned, f"{head}.{payload}.AAAA", forged)
    statuses = [
        caller.ask(method, path, body, Authorization=header)[0]
        for header in (None, "", "Bot", caller.token, *(f"Bot {token}" for token in bad))
    ]
    strangers, _ = caller.ask(method, path, body, Authorization=f"Bot {stranger.token}")

    assert (set(statuses), strangers) == ({401}, 403)
    assert caller.listed() == caller.listed("announcements") == []


def test_a_refused_token_names_the_scheme(caller: Caller) -> None:
    reply = caller.raw("DELETE", f"/v1/bot/{caller.bot}/commands/x")

    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bot")
    assert "Bot <token>" in json.loads(reply.content)["error"]


# What is not there


def test_a_write_to_an_unknown_bot_is_not_found(caller: Caller, wording: Wording) -> None:
    status, answer = replace(caller, bot="4711").ask("POST", "/commands", COMMAND)

    assert status == 404
    wording(answer)


def test_a_record_of_another_bot_cannot_be_reached_through_ones_own(
    caller: Caller, stranger: Caller
) -> None:
    theirs = stranger.added()
    statuses = [
        caller.ask("POST", "/commands", {**COMMAND, "id": theirs["id"], "name": "mine"})[0],
        caller.ask("DELETE", f"/commands/{theirs['id']}")[0],
        caller.ask("PUT", f"/commands/{theirs['id']}/uses", {"uses": 1})[0],
    ]

    assert statuses == [404, 404, 404]
    assert stranger.listed() == [theirs]


# Bad bodies

BAD: dict[str, object] = {
    "nothing": b"",
    "not-json": b"{",
    "byte-order-mark": b"\xff\xfe",
    "not-utf-8": b'{"name": "\xff"}',
    "bare-control": b'{"name": "a\x00b", "description": "d", "syntax": "s"}',
    "deep": b"[" * 200_000,
    "deep-inside": b'{"name": ' + b"[" * 100_000,
    "endless-number": b'{"name": ' + b"9" * 100_000 + b"}",
    "no-number": b"NaN",
    "list": [COMMAND],
    "empty-list": [],
    "text": "text",
    "empty-object": {},
    "numbers": {**COMMAND, "name": 247, "category": 1},
    "list-and-object": {**COMMAND, "name": ["ping"], "category": {}},
    "nulls": {**COMMAND, "name": None, "description": None},
    "spaces": {**COMMAND, "name": " \n"},
    "empty-id": {**COMMAND, "id": ""},
    "number-id": {**COMMAND, "id": 1},
    "surrogate": b'{"name": "\\ud800", "description": "d", "syntax": "s"}',
    "surrogate-in-id": {**COMMAND, "id": "\udfff"},
    "long-name": {**COMMAND, "name": "x" * 1001},
    "long-text": {**COMMAND, "description": "x" * 20_001},
    "long-syntax": {**COMMAND, "syntax": "x" * 5001},
    "long-category": {**COMMAND, "category": "x" * 1001},
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
def test_an_invalid_body_is_reported_with_each_field(
    caller: Caller, body: object, wording: Wording
) -> None:
    status, answer = caller.ask("POST", "/commands", body)

    assert (status, list(answer)) == (400, ["error"])
    assert caller.listed() == []
    wording(answer["error"].partition(": ")[0])  # the rest is Python's


def test_an_edit_by_put_needs_the_id(caller: Caller) -> None:
    assert caller.ask("PUT", "/commands", COMMAND) == (400, {"error": "id is missing"})


@pytest.mark.parametrize(
    ("body", "kind"),
    [(COMMAND, "text/plain"), (b"null", "application/json")],  # FastAPI before 0.160: no body
)
def test_a_body_that_is_not_one_of_json_is_refused(caller: Caller, body: object, kind: str) -> None:
    status, answer = caller.ask("POST", "/commands", body, **{"Content-Type": kind})

    assert status == 400
    assert "application/json" in answer["error"]


@pytest.mark.parametrize("uses", [-1, 1.5, "3", True, None, 2**53])
def test_uses_are_a_whole_number(caller: Caller, uses: object) -> None:
    command = caller.added()
    status, answer = caller.ask("PUT", f"/commands/{command['id']}/uses", {"uses": uses})

    assert status == 400
    assert answer["error"].startswith("uses must be")
    assert caller.listed() == [command]


def test_an_invalid_announcement_is_reported_with_each_field(
    caller: Caller, wording: Wording
) -> None:
    answers = [caller.ask("POST", "/announcements", body) for body in (None, {"title": 5})]

    assert [status for status, _ in answers] == [400, 400]
    wording(*[answer for _, answer in answers])


@pytest.mark.parametrize("size", [LARGEST_BODY + 1, 30_000_000])
def test_a_huge_body_is_answered_413(caller: Caller, size: int) -> None:
    status, answer = caller.ask("POST", "/commands", b" " * size)

    assert (status, f" {LARGEST_BODY} bytes" in answer["error"]) == (413, True)
