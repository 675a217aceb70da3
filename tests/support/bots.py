"""Bots on the embedded service, one for each test: seeded beforehand, read without the product.

A `Proxy` is a real HTTP server in front of the service: it counts, delays and replaces answers.
`WHOLE` is a bot as the service sends it, with all its fields.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import pytest

from commandsync.server import votes
from commandsync.server.administration import Seed, create_bots, find_bot
from commandsync.server.database import Database, opened
from commandsync.server.service import running
from tests.support.rawserver import Exchange, Request, SocketServer, answer

Record = dict[str, Any]

WRITABLE = ("name", "description", "syntax", "category")
_NUMBERS = count(1)


@dataclass(frozen=True)
class Bot:
    """A bot and the way to what is listed of it."""

    id: str
    token: str = field(repr=False)
    url: str
    database: Database = field(repr=False, compare=False)

    def cast(self, *users: str) -> None:
        """Let users vote in one transaction, as another process with the same database does."""
        with self.database.writing() as connection:
            for user in users:
                account = {"id": user, "username": f"u{user}", "avatar": ""}
                votes.cast(connection, self.id, account, at=datetime.now(UTC))

    def remind(self, *users: str, name: str = "Ann") -> None:
        """Send reminders of votes that nobody cast."""
        with self.database.writing() as connection:
            for user in users:
                data = {"user": {"id": user, "username": name}, "bot": {"id": self.id}}
                votes.add_event(connection, self.id, "reminder", data, at=datetime.now(UTC))

    def commands(self) -> list[Record]:
        return self._list("commands")

    def announcements(self) -> list[Record]:
        return self._list("announcements")

    def names(self) -> list[str]:
        return [record["name"] for record in self.commands()]

    def ids(self) -> dict[str, str]:
        """The ids by the names; for bots whose names differ."""
        return {record["name"]: record["id"] for record in self.commands()}

    def everything(self) -> tuple[list[Record], list[Record]]:
        return self.commands(), self.announcements()

    def post(self, collection: str, **content: str) -> None:
        """Write as somebody else would: without the product."""
        self._call("POST", collection, content)

    def vote(self, user: str, username: str) -> None:
        self._call("POST", "votes", {"user": {"id": user, "username": username}})

    def report(self, *, servers: int) -> None:
        self._call("POST", "stats", {"servers": servers})

    def delete(self, identifier: str, collection: str = "commands") -> None:
        self._call("DELETE", f"{collection}/{identifier}")

    def _list(self, collection: str) -> list[Record]:
        records: list[Record] = self._call("GET", collection)["data"]
        return records

    def voters(self) -> list[Record]:
        """The last 10 votes, the newest first."""
        records: list[Record] = self._call("GET", "voters")["data"]["data"]
        return records

    def statistics(self) -> Record:
        statistics: Record = self._call("GET", "")["data"]["statistics"]
        return statistics

    def _call(self, method: str, path: str, content: Record | None = None) -> Record:
        headers = {"Authorization": f"Bot {self.token}", "Content-Type": "application/json"}
        body = None if content is None else json.dumps(content)
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=30)) as connection:
            connection.request(method, f"/v1/bot/{self.id}/{path}".rstrip("/"), body, headers)
            reply = connection.getresponse()
            answer: Record = json.loads(reply.read())
        assert reply.status == 200, answer
        return answer


@dataclass
class Service:
    """The embedded service, shared by the tests of a process."""

    url: str
    database: Database

    def bot(self, commands: Sequence[Record | str] = (), announcements: Sequence[str] = ()) -> Bot:
        """Create a bot with these commands (a bare name stands for a plain one)."""
        identifier = f"77964140148280{next(_NUMBERS):04}"
        one = {
            "id": identifier,
            "profile": {"username": f"Bot {identifier}"},
            "commands": [_command(command) for command in commands],
            "announcements": [{"title": title, "description": "News."} for title in announcements],
        }
        (seeded,) = create_bots(Seed.model_validate({"bots": [one]}), self.database)
        return Bot(identifier, seeded.token, self.url, self.database)


def _command(command: Record | str) -> Record:
    if isinstance(command, str):
        return {"name": command, "description": "Does it.", "syntax": f"/{command}", "uses": 7}
    return {key: value for key, value in command.items() if key in (*WRITABLE, "uses")}


def token_of(bot: str, *, database: str) -> str:
    """Return the token of a bot in the database of a service that may run."""
    with opened(database) as handle:
        return find_bot(handle, bot).token


@contextmanager
def serving(database_url: str, *, port: int = 0) -> Iterator[Service]:
    """Run a service of its own on a database."""
    with running(database_url, port=port) as started, opened(database_url) as database:
        yield Service(started.url, database)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(str(tmp_path_factory.mktemp("service") / "listing.db")) as started:
        yield started


Rule = Callable[[Request], "Instead | None"]


@dataclass(frozen=True)
class Instead:
    """What is answered in place of the service; `forwarded` lets it do the work all the same.

    The status 0 closes the connection without an answer.
    """

    status: int = 200
    body: bytes | object = b""
    headers: dict[str, str] = field(default_factory=dict)
    forwarded: bool = False


@dataclass(repr=False)  # what was sent would be in the reports of generated tests
class Proxy(SocketServer):
    """The server."""

    upstream: str  # the base URL of the service
    # Asked about each request before it goes on; it may wait, and may answer itself.
    rule: Rule = lambda _: None
    hangs_up: bool = False  # whether it closes each connection right after its answer
    most: int = 0  # the most requests that were here at the same time
    _here: int = 0

    def handle(self, exchange: Exchange) -> None:
        with self._changed:
            self._here += 1
            self.most = max(self.most, self._here)
        try:
            instead = self.rule(exchange.request)
            if instead is None or instead.forwarded:
                forwarded = self._forwarded(exchange.request)
                instead = instead or forwarded
        finally:
            with self._changed:
                self._here -= 1
        if not instead.status:
            exchange.reset()
            return
        exchange.send(answer(instead.body, status=instead.status, headers=instead.headers))
        exchange.open = not self.hangs_up

    def _forwarded(self, request: Request) -> Instead:
        kept = {"authorization", "content-type"}
        headers = {name: value for name, value in request.headers.items() if name in kept}
        netloc = urlsplit(self.upstream).netloc
        with closing(HTTPConnection(netloc, timeout=30)) as connection:
            connection.request(request.method, request.target, request.body or None, headers)
            reply = connection.getresponse()
            waits = {"Retry-After": reply.headers.get("Retry-After", "")}
            return Instead(reply.status, reply.read(), waits)


@pytest.fixture
def proxy(service: Service) -> Iterator[Proxy]:
    with Proxy(service.url) as running:
        yield running


def meeting(count: int, *, when: Callable[[Request], bool] = lambda _: True) -> Rule:
    """Return a rule that lets requests go on only by so many at a time."""
    all_here = threading.Barrier(count)

    def rule(request: Request) -> None:
        if when(request):
            all_here.wait(20)  # breaks unless so many are here at once

    return rule


WHOLE: dict[str, Any] = {
    "id": "42",
    "provider": "discord",
    "profile": {
        "avatar": "a1",
        "avatarURL": "https://cdn.example/a.png",
        "username": "Helper",
        "discriminator": "0001",
        "tag": "Helper#0001",
        "banner": "https://cdn.example/b.png",
    },
    "prefix": "!",
    "information": {
        "description": "Helps.",
        "overview": "Help",
        "creator": {"isTeam": True, "id": "1"},
        "tags": ["fun", "music"],
    },
    "statistics": {
        "servers": 12,
        "dailyVotes": 1,
        "weeklyVotes": 2,
        "monthlyVotes": 3,
        "totalVotes": 4,
    },
    "state": 1,
    "certificate": 2,
    "inviteURL": "https://chat.example/invite",
    "ratings": {"average": 4.5, "total": 7},
    "vanity": "helper",
    "theme": {"enabled": True, "automatic": False, "color": "#00ff00", "colorLighter": "#aaffaa"},
    "status": 3,
    "createdAt": "2021-02-03T04:05:06.789Z",
    "updatedAt": "2022-02-03T04:05:06.789Z",
}
