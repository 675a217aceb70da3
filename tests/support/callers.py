"""A bot's owner at the embedded service: every answer is checked by its OpenAPI document.

Writers note what they requested and what was acknowledged, for a service that gets killed. A
simulation is asked as any client would ask it.
"""

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import jsonschema

from commandsync.testing import SimulatedListing

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


@dataclass
class Writer:
    """Edits one command, deletes others and adds more; notes what it asked and what was done."""

    name: str
    edited: str
    others: deque[str]
    asked: set[str] = field(default_factory=set)
    done: set[str] = field(default_factory=set)
    edits_asked: int = 0
    edits_done: int = 0

    def work(self, caller: Caller, count: Callable[[], None]) -> None:
        """Write until the service is killed; call `count` after every write that was done."""
        try:
            while True:
                for write in (self._edit, self._delete, self._add):
                    write(caller)
                    count()
        except (OSError, HTTPException):
            return  # killed before it could answer

    def _edit(self, caller: Caller) -> None:
        self.edits_asked += 1
        texts = {"name": "edited", "description": f"{self.edits_asked}", "syntax": "s"}
        assert caller.ask("POST", "/commands", {"id": self.edited, **texts})[0] == 200
        self.edits_done = self.edits_asked

    def _delete(self, caller: Caller) -> None:
        identifier = self.others.popleft()
        self.asked.add(identifier)
        assert caller.ask("DELETE", f"/commands/{identifier}")[0] == 200
        self.done.add(identifier)

    def _add(self, caller: Caller) -> None:
        name = f"{self.name}.{len(self.asked)}"
        self.asked.add(name)
        texts = {"name": name, "description": "d", "syntax": "s"}
        assert caller.ask("POST", "/commands", texts)[0] == 200
        self.done.add(name)

    def check(self, listed: list[Record]) -> None:
        """Look whether a listing has all that was acknowledged, and nothing that was not sent."""
        ids = {one["id"] for one in listed}
        names = [one["name"] for one in listed if one["name"].startswith(f"{self.name}.")]
        added = {name for name in self.done if name.startswith(f"{self.name}.")}
        (edited,) = (one for one in listed if one["id"] == self.edited)
        assert self.edits_done <= int(edited["description"]) <= self.edits_asked
        assert not self.done & ids
        assert set(self.others) <= ids
        assert added <= set(names) <= self.asked
        assert names == sorted(set(names), key=lambda name: int(name.rpartition(".")[2]))


def writers_of(listed: list[Record], count: int) -> list[Writer]:
    """Share the commands of a bot: each writer edits one of them and deletes its others."""
    shares = [[one["id"] for one in listed[number::count]] for number in range(count)]
    return [
        Writer(f"writer{number}", edited, deque(others))
        for number, (edited, *others) in enumerate(shares)
    ]


def write_until_killed(
    writers: list[Writer], callers: Sequence[Caller], kill: Callable[[], None], goal: int
) -> None:
    """Let all write at once, until so many writes were acknowledged and the service is killed.

    A service of several processes has a caller for each; the writers are shared out.
    """
    count = _killer(kill, goal)
    with ThreadPoolExecutor(len(writers)) as pool:
        pairs = zip(writers, cycle(callers), strict=False)
        for work in [pool.submit(writer.work, caller, count) for writer, caller in pairs]:
            work.result()


def _killer(kill: Callable[[], None], goal: int) -> Callable[[], None]:
    """Return what kills a service when it was called so often."""
    lock = Lock()
    left = iter(range(goal - 1, 0, -1))

    def count() -> None:
        with lock:
            if not next(left, 0):
                kill()

    return count


PING = {"name": "ping", "description": "Says pong.", "type": 1}
TELEGRAM_PING = {"command": "ping", "description": "Says pong."}
PATHS = {
    "top.gg": "/api/v1/projects/@me/commands",
    "discordbotlist.com": "/api/v1/bots/{bot}/commands",
    "telegram": "/bot{token}/setMyCommands",
    "bots.ondiscord.xyz": "/bot-api/bots/{bot}/commands",
    "disq.ink": "/v1/bots/{bot}/commands",
    "radarcord.net": "/bot/{bot}/commands",
}
SCHEMES = {"top.gg": "Bearer ", "discordbotlist.com": "Bot ", "radarcord.net": "Bearer "}
BARE = {"top.gg", "discordbotlist.com"}  # the list alone; the others have it under `commands`


class SimulatedReply(NamedTuple):
    """An answer; the content is decoded JSON, or text."""

    status: int
    content: Any
    headers: dict[str, str]


def ask(
    listing: SimulatedListing, method: str, path: str, body: object = None, **headers: str
) -> SimulatedReply:
    """Send a request with exactly these headers; what is not bytes is sent as JSON."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    headers_sent = {"Content-Type": "application/json", **sent}
    status, content, got = Caller(listing.base_url, "", "").raw(method, path, data, headers_sent)
    is_json = "json" in got.get("content-type", "")
    return SimulatedReply(status, json.loads(content) if is_json else content.decode(), got)


def send(
    listing: SimulatedListing, records: object, *, method: str = "", **headers: str
) -> SimulatedReply:
    """Send a list, or a body of bytes, as the documents of the service have it, with the token."""
    service = listing.service
    token = f"{SCHEMES.get(service, '')}{listing.token}"
    is_whole = service in BARE or isinstance(records, bytes)
    method = method or ("PUT" if service == "top.gg" else "POST")
    path = PATHS[service].format(bot=listing.bot, token=listing.token)
    body = records if is_whole else {"commands": records}
    return ask(listing, method, path, body, **{"Authorization": token} | headers)


def pings(service: str, number: int = 1) -> list[dict[str, Any]]:
    """Return as many commands as a service accepts them."""
    key = "command" if service == "telegram" else "name"
    ping = TELEGRAM_PING if service == "telegram" else PING
    return [{**ping, key: f"ping{each}"} for each in range(number)]


def call(listing: SimulatedListing, method: str, **parameters: object) -> SimulatedReply:
    """Call a method of Telegram, with the token."""
    return ask(listing, "POST", f"/bot{listing.token}/{method}", parameters)
