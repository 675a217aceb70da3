"""Every answer is one that the OpenAPI document describes, whatever was asked."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from commandsync.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandsync.server import RunningService

    Record = dict[str, Any]

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT: Record = json.loads((ROOT / "schemas" / "openapi.json").read_text(encoding="utf-8"))
LISTED: list[Record] = json.loads((ROOT / "tests/fixtures/listed.json").read_text(encoding="utf-8"))
WRITABLE = ("name", "description", "syntax", "category")
COMMAND = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
NOTICE = {"title": "v2", "description": "It is out."}
NOBODY = "f" * 24


@cache
def described(method: str, path: str) -> Record:
    """Return what the document says of the answers to a request."""
    for template, operations in DOCUMENT["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            answers: Record = operations[method.lower()]["responses"]
            return answers
    raise AssertionError(path)


@dataclass
class Caller:
    """A bot's owner, who checks every answer; `seen` are the operations and codes so far."""

    url: str
    bot: str
    token: str
    seen: set[tuple[str, str, int]] = field(default_factory=set)

    def ask(
        self, method: str, path: str = "", body: object = None, *, token: str | None = None
    ) -> tuple[int, Any]:
        """Ask below the bot's own path; bytes go as they are, anything else as JSON."""
        whole = f"/v1/bot/{self.bot}{path}"
        headers = {"Content-Type": "application/json"}
        if token != "":
            headers["Authorization"] = f"Bot {token or self.token}"
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body)
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as connection:
            connection.request(method, whole, sent, headers)
            reply = connection.getresponse()
            answer = json.loads(reply.read())
        schema = described(method, whole)[str(reply.status)]["content"]["application/json"]
        jsonschema.Draft202012Validator(
            {**schema["schema"], "components": DOCUMENT["components"]}
        ).validate(answer)
        assert reply.headers["Content-Type"] == "application/json"
        assert "detail" not in answer
        self.seen.add((method, re.sub(r"/[0-9a-f]{24}", "/{id}", path), reply.status))
        return reply.status, answer

    def listed(self, collection: str = "commands") -> list[Record]:
        status, answer = self.ask("GET", f"/{collection}")
        assert (status, answer["success"]) == (200, True)
        records: list[Record] = answer["data"]
        return records


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("conforming")
    bots = [{"id": f"{n}", "profile": {"username": f"Bot {n}"}} for n in range(1, 5)]
    (folder / "seed.json").write_text(json.dumps({"bots": bots}))
    with running(str(folder / "listing.db"), seed=folder / "seed.json") as service:
        yield service


def caller_of(service: RunningService, number: int) -> Caller:
    bot = service.bots[number]
    return Caller(service.url, bot.id, bot.token)


def test_the_whole_life_of_a_listing_is_as_described(service: RunningService) -> None:
    caller = caller_of(service, 0)
    caller.ask("GET")
    caller.ask("POST", "/commands", {**COMMAND, "category": "Fun"})
    (command,) = caller.listed()
    caller.ask("POST", "/commands", {**COMMAND, "id": command["id"], "name": "pong"})
    caller.ask("PUT", "/commands", {**COMMAND, "id": command["id"], "category": ""})
    caller.ask("PUT", f"/commands/{command['id']}/uses", {"uses": 3})
    (edited,) = caller.listed()
    caller.ask("DELETE", f"/commands/{command['id']}")
    caller.ask("POST", "/announcements", NOTICE)
    (announcement,) = caller.listed("announcements")
    caller.ask("DELETE", f"/announcements/{announcement['id']}")

    assert (edited["id"], edited["uses"], edited.get("category")) == (command["id"], 3, None)
    assert caller.listed() == caller.listed("announcements") == []
    assert {status for _, _, status in caller.seen} == {200}
    assert len({(method, path) for method, path, _ in caller.seen}) == 9


WRITES: list[tuple[str, str, Record | None]] = [
    ("POST", "/commands", {**COMMAND, "id": NOBODY}),
    ("PUT", "/commands", {**COMMAND, "id": NOBODY}),
    ("DELETE", f"/commands/{NOBODY}", None),
    ("PUT", f"/commands/{NOBODY}/uses", {"uses": 1}),
    ("DELETE", f"/announcements/{NOBODY}", None),
    ("POST", "/announcements", None),
]


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
def test_every_refusal_is_as_described(
    service: RunningService, method: str, path: str, body: Record | None
) -> None:
    caller, stranger = caller_of(service, 1), caller_of(service, 2)
    parts = caller.token.split(".")
    unsigned = f"eyJhbGciOiJub25lIn0.{parts[1]}."
    statuses = [
        caller.ask(method, path, body, token=token)[0]
        for token in ("", "x.y.z", unsigned, f"{parts[0]}.{parts[1]}.AAAA", stranger.token)
    ]

    assert statuses == [401, 401, 401, 401, 403]
    assert caller.ask(method, path, body)[0] == (404 if body or method == "DELETE" else 400)


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"\xff\xfe",
        b'{"name": "a\x00b", "description": "d", "syntax": "s"}',
        b'{"name": "\\udc00", "description": "d", "syntax": "s"}',
        b'{"name": ' + b"[" * 100_000,
        b'{"name": ' + b"9" * 100_000 + b"}",
        b"NaN",
        {**COMMAND, "name": ["ping"]},
        {**COMMAND, "description": None},
        {**COMMAND, "category": {}},
        {**COMMAND, "syntax": "s" * 100_000},
        [],
        "text",
    ],
)
def test_a_bad_body_is_refused_as_described(service: RunningService, body: object) -> None:
    caller = caller_of(service, 1)

    assert caller.ask("POST", "/commands", body)[0] == 400
    assert caller.listed() == []


@pytest.mark.parametrize("path", ["", "/commands", "/announcements"])
@pytest.mark.parametrize("bot", ["4711", "%00", "%FF", "%F0%9F%A4%96", "%2e%2e"])
def test_an_unknown_bot_is_refused_as_described(
    service: RunningService, bot: str, path: str
) -> None:
    assert Caller(service.url, bot, "").ask("GET", path)[0] == 404


def test_every_real_command_is_kept_exactly_and_in_order(service: RunningService) -> None:
    caller = caller_of(service, 3)
    texts = [{name: record[name] for name in WRITABLE if record.get(name)} for record in LISTED]
    for text in texts:
        assert caller.ask("POST", "/commands", text)[0] == 200
    listed = caller.listed()

    assert len(LISTED) == 656
    assert [{name: one[name] for name in WRITABLE if name in one} for one in listed] == texts
    assert len({record["id"] for record in listed}) == len(texts)
