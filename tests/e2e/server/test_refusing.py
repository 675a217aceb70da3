"""Refusals: callers, versions, paths, methods, records and bodies that are not valid."""

import json
import re
from dataclasses import replace
from typing import Any

import jwt
import pytest

from commandsync.server.bodies import LARGEST_BODY
from tests.support.callers import COMMAND, NOBODY, NOTICE, OPERATIONS, Caller

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


def test_a_write_to_an_unknown_bot_is_not_found(caller: Caller) -> None:
    answer = replace(caller, bot="4711").ask("POST", "/commands", COMMAND)

    assert answer == (404, {"error": "the bot is not known"})


def test_another_bots_record_cannot_be_reached(caller: Caller, stranger: Caller) -> None:
    theirs = stranger.added()
    statuses = [
        caller.ask("POST", "/commands", {**COMMAND, "id": theirs["id"], "name": "mine"})[0],
        caller.ask("DELETE", f"/commands/{theirs['id']}")[0],
        caller.ask("PUT", f"/commands/{theirs['id']}/uses", {"uses": 1})[0],
    ]

    assert statuses == [404, 404, 404]
    assert stranger.listed() == [theirs]


# Bad bodies

_NOT_JSON = "the body is not valid JSON:"
_UNREADABLE = "the body is not valid JSON in UTF-8, or nested too deeply"
_NO_OBJECT = "the body (application/json) must be a JSON object"
_NO_STRINGS = "name must be a string; category must be a string"
BAD: dict[str, tuple[object, str]] = {
    "nothing": (b"", "the body (application/json) is missing"),
    "not-json": (b"{", _NOT_JSON),
    "byte-order-mark": (b"\xff\xfe", _NOT_JSON),
    "not-utf-8": (b'{"name": "\xff"}', _UNREADABLE),
    "bare-control": (b'{"name": "a\x00b", "description": "d", "syntax": "s"}', _NOT_JSON),
    "deep": (b"[" * 200_000, _UNREADABLE),
    "deep-inside": (b'{"name": ' + b"[" * 100_000, _UNREADABLE),
    "endless-number": (b'{"name": ' + b"9" * 100_000 + b"}", _UNREADABLE),
    "no-number": (b"NaN", "the body is not valid JSON: NaN is not a JSON value"),
    "list": ([COMMAND], _NO_OBJECT),
    "empty-list": ([], _NO_OBJECT),
    "text": ("text", _NO_OBJECT),
    "empty-object": ({}, "name is missing; description is missing; syntax is missing"),
    "numbers": ({**COMMAND, "name": 247, "category": 1}, _NO_STRINGS),
    "list-and-object": ({**COMMAND, "name": ["ping"], "category": {}}, _NO_STRINGS),
    "nulls": (
        {**COMMAND, "name": None, "description": None},
        "name must be a string; description must be a string",
    ),
    "spaces": ({**COMMAND, "name": " \n"}, "name must not be empty"),
    "empty-id": ({**COMMAND, "id": ""}, "id must not be empty"),
    "number-id": ({**COMMAND, "id": 1}, "id must be a string"),
    "surrogate": (
        b'{"name": "\\ud800", "description": "d", "syntax": "s"}',
        "name contains half of a surrogate pair",
    ),
    "surrogate-in-id": ({**COMMAND, "id": "\udfff"}, "id contains half of a surrogate pair"),
    "long-name": ({**COMMAND, "name": "x" * 1001}, "name is longer than 1000 characters"),
    "long-text": (
        {**COMMAND, "description": "x" * 20_001},
        "description is longer than 20000 characters",
    ),
    "long-syntax": ({**COMMAND, "syntax": "x" * 5001}, "syntax is longer than 5000 characters"),
    "long-category": (
        {**COMMAND, "category": "x" * 1001},
        "category is longer than 1000 characters",
    ),
}


@pytest.mark.parametrize(("body", "problem"), BAD.values(), ids=BAD)
def test_each_field_of_a_body_is_reported(caller: Caller, body: object, problem: str) -> None:
    status, answer = caller.ask("POST", "/commands", body)

    assert (status, list(answer)) == (400, ["error"])
    assert caller.listed() == []
    assert answer["error"].startswith(problem)


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


RECORD = b'"name": "ping", "description": "d", "syntax": "s"'


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{%b, "uses": NaN}' % RECORD, "NaN is not a JSON value"),
        (b'{%b, "x": [-Infinity]}' % RECORD, "-Infinity is not a JSON value"),
        (b'{%b, "name": "pong"}' % RECORD, "duplicate key 'name'"),
        (b'{%b, "x": {"a": 1, "b": 2, "a": 1}}' % RECORD, "duplicate key 'a'"),
        (b"{%b" % RECORD, "Expecting ',' delimiter"),
    ],
)
def test_a_body_that_programs_read_differently_is_refused(
    caller: Caller, body: bytes, problem: str
) -> None:
    status, answer = caller.ask("POST", "/commands", body)

    assert (status, answer) == (400, {"error": f"the body is not valid JSON: {problem}"})
    assert caller.listed() == []


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/commands", {**COMMAND, "name": "p\0"}, "name"),
        ("/announcements", {"title": "\0 news", "description": "d"}, "title"),
        ("/votes", {"user": {"id": "7", "username": "A\0n"}}, "user.username"),
    ],
)
def test_a_name_with_nul_is_refused(
    caller: Caller, path: str, body: dict[str, Any], field: str
) -> None:
    assert caller.ask("POST", path, body) == (400, {"error": f"{field} must not contain NUL"})


@pytest.mark.parametrize("uses", [-1, 1.5, "3", True, None, 2**53])
def test_uses_are_a_whole_number(caller: Caller, uses: object) -> None:
    command = caller.added()
    status, answer = caller.ask("PUT", f"/commands/{command['id']}/uses", {"uses": uses})

    assert status == 400
    assert answer["error"].startswith("uses must be")
    assert caller.listed() == [command]


def test_each_field_of_an_announcement_is_reported(caller: Caller) -> None:
    answers = [caller.ask("POST", "/announcements", body) for body in (None, {"title": 5})]

    assert answers == [
        (400, {"error": "the body (application/json) is missing"}),
        (400, {"error": "title must be a string; description is missing"}),
    ]


@pytest.mark.parametrize("size", [LARGEST_BODY + 1, 30_000_000])
def test_a_huge_body_is_answered_413(caller: Caller, size: int) -> None:
    status, answer = caller.ask("POST", "/commands", b" " * size)

    assert (status, f" {LARGEST_BODY} bytes" in answer["error"]) == (413, True)


READS = sorted(path for method, path in OPERATIONS if method == "GET")
PATHS = sorted({path for _, path in OPERATIONS})


def filled(template: str, caller: Caller) -> str:
    """Return a path of the document for a bot, and for records that it does not have."""
    return re.sub(r"\{\w+\}", NOBODY, template.replace("{bot}", caller.bot))


@pytest.mark.parametrize("path", ["/v0", "/v0/", "/v0/bot/1", "/v00/bots", "/v0/bot/1/commands"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_version_0_is_discontinued(caller: Caller, method: str, path: str) -> None:
    reply = caller.raw(method, path)

    assert reply.status == 410
    assert json.loads(reply.content)["error"].startswith("version 0 is")


@pytest.mark.parametrize("path", ["/v2", "/v2/bot/1", "/v11/bots", "/v999999999/"])
def test_an_unknown_version_names_the_one_there_is(caller: Caller, path: str) -> None:
    reply = caller.raw("GET", path)

    assert reply.status == 404
    assert "version is 1" in json.loads(reply.content)["error"]


@pytest.mark.parametrize(
    "path", ["/v1", "/v1/", "/v1/nothing", "/bots", "/v", "/v1x/bot/1", "/v9999999999/bot/1"]
)
def test_an_unknown_path_names_the_beginning_of_all(caller: Caller, path: str) -> None:
    reply = caller.raw("GET", path)

    assert reply.status == 404
    assert json.loads(reply.content)["error"].endswith(" /v1/")


@pytest.mark.parametrize("template", PATHS)
def test_another_method_is_refused_with_those_of_the_path(caller: Caller, template: str) -> None:
    reply = caller.raw("PATCH", filled(template, caller))
    allowed = {method for method, path in OPERATIONS if path == template}
    if "GET" in allowed:
        allowed.add("HEAD")

    assert reply.status == 405
    assert set(reply.headers["allow"].split(", ")) == allowed
    assert reply.headers["allow"] in json.loads(reply.content)["error"]


def test_a_path_that_is_only_written_has_no_head(caller: Caller) -> None:
    reply = caller.raw("HEAD", f"/v1/bot/{caller.bot}/commands/{NOBODY}")

    assert (reply.status, reply.headers["allow"], reply.content) == (405, "DELETE", b"")


@pytest.mark.parametrize("path", [*READS, "/v1/openapi.json", "/v1/bot/nobody"])
def test_a_head_is_a_get_without_its_body(caller: Caller, path: str) -> None:
    get = caller.raw("GET", filled(path, caller))
    head = caller.raw("HEAD", filled(path, caller))
    changing = {"date", "content-length"}  # the time that an answer took has one to three digits

    assert (head.status, head.content) == (get.status, b"")
    assert head.headers.keys() == get.headers.keys()
    assert {k: v for k, v in head.headers.items() if k not in changing} == {
        k: v for k, v in get.headers.items() if k not in changing
    }
