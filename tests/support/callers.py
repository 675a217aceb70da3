"""A bot's owner at the embedded service: every answer is checked by its OpenAPI document."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jsonschema

Record = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT: Record = json.loads((ROOT / "schemas" / "openapi.json").read_text(encoding="utf-8"))
OPERATIONS: dict[tuple[str, str], Record] = {
    (method.upper(), template): operation
    for template, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
}
COMMAND = {"name": "ping", "description": "Says pong.", "syntax": "/ping"}
NOTICE = {"title": "v2", "description": "It is out."}
NOBODY = "f" * 24  # an id that no record has


class Reply(NamedTuple):
    """An answer as it came; the headers' names are in lower case."""

    status: int
    content: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Caller:
    """Who asks, and below which bot.

    Attributes:
        seen: The operations so far: method, path as the document writes it, and status.
    """

    url: str
    bot: str
    token: str = field(repr=False)
    seen: set[tuple[str, str, int]] = field(default_factory=set)

    def ask(
        self, method: str, path: str = "", body: object = None, **headers: str | None
    ) -> tuple[int, Any]:
        """Ask below the bot's own path; bytes go as they are, anything else as JSON.

        A header that is None is left out.
        """
        return self.ask_anywhere(method, f"/v1/bot/{self.bot}{path}", body, **headers)

    def ask_anywhere(
        self, method: str, whole: str, body: object = None, **headers: str | None
    ) -> tuple[int, Any]:
        """Ask for any path of the document, with its query."""
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        reply = self.raw(method, whole, sent, {**self.headers(), **headers})
        answer = json.loads(reply.content)
        template = _template(method, whole.partition("?")[0])
        _validator(method, template, reply.status).validate(answer)
        assert reply.headers["content-type"] == "application/json"
        assert "detail" not in answer
        self.seen.add((method, template, reply.status))
        return reply.status, answer

    def raw(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> Reply:
        """Ask for any path, with no more than is given here, and take any answer."""
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as line:
            line.request(method, path, body, sent)
            reply = line.getresponse()
            names = {name.lower(): value for name, value in reply.getheaders()}
            return Reply(reply.status, reply.read(), names)

    def headers(self) -> dict[str, str | None]:
        return {"Authorization": f"Bot {self.token}", "Content-Type": "application/json"}

    def listed(self, collection: str = "commands") -> list[Record]:
        status, answer = self.ask("GET", f"/{collection}")
        assert (status, answer["success"]) == (200, True)
        records: list[Record] = answer["data"]
        return records

    def added(self, **fields: str) -> Record:
        """Add a command, and return it as it is listed."""
        assert self.ask("POST", "/commands", {**COMMAND, **fields})[0] == 200
        return self.listed()[-1]


def _template(method: str, path: str) -> str:
    for known, template in OPERATIONS:
        if known == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
            return template
    raise AssertionError(f"the document knows no {method} {path}")


@cache
def _validator(method: str, template: str, status: int) -> jsonschema.Draft202012Validator:
    answers = OPERATIONS[method, template]["responses"]
    assert str(status) in answers, f"{status} is not described for {method} {template}"
    schema = answers[str(status)]["content"]["application/json"]["schema"]
    return jsonschema.Draft202012Validator({**schema, "components": DOCUMENT["components"]})
