"""Requests without a token end soon and hold up nobody else; crowds of writers lose nothing."""

import json
import socket
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Barrier
from urllib.parse import urlsplit

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from commandsync.server.page_routes import MOST_OF_ADDRESS
from commandsync.server.protocol import TimedProtocol
from commandsync.server.service import running, running_application
from tests.support.bots import Service, serving
from tests.support.callers import Caller
from tests.support.gateway import Listener

HANDSHAKE = (
    b"GET /v1/gateway/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
FAULTY = {
    "a body": (HANDSHAKE + b"Content-Length: 3\r\n\r\nabc", 400),
    "half a body": (HANDSHAKE + b"Content-Length: 1000\r\n\r\nabc", 400),
    "chunks": (HANDSHAKE + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 400),
    "a long line": (HANDSHAKE + b"X: " + b"x" * 8_200 + b"\r\n\r\n", 431),
    "a long target": (HANDSHAKE.replace(b"/ ", b"/?" + b"x" * 8_200 + b" ") + b"\r\n", 431),
    "many headers": (HANDSHAKE + b"X: x\r\n" * 130 + b"\r\n", 431),
}


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def until_closed(line: socket.socket) -> bytes:
    try:
        return b"".join(iter(lambda: line.recv(65_536), b""))
    except ConnectionResetError:  # it was sent more than the service read
        return b""


def asked(url: str, request: bytes) -> tuple[int, object]:
    """Send bytes; return the status and the body of the answer, after which the service closes."""
    with connected(url) as line:
        line.sendall(request)
        head, _, body = until_closed(line).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize(("request_", "status"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_handshake_is_closed(service: Service, request_: bytes, status: int) -> None:
    answered, body = asked(service.url, request_)

    assert answered == status
    assert isinstance(body, dict)
    assert body.keys() == {"error"}


def test_faulty_handshakes_at_once_hold_up_nobody(database_url: str) -> None:
    with ExitStack() as stack, serving(database_url) as service:
        bot = service.bot()
        listener = stack.enter_context(Listener(service.url, {"token": bot.token})).greeted()
        before = len(list(Path("/proc/self/fd").iterdir()))
        with ExitStack() as attack:
            lines = [attack.enter_context(connected(service.url)) for _ in range(300)]
            for number, line in enumerate(lines):
                line.sendall([*FAULTY.values()][number % len(FAULTY)][0])
            bot.vote("7", "Ann")
            assert listener.users(1) == ["7"]
            for line in lines:
                until_closed(line)
        left = len(list(Path("/proc/self/fd").iterdir()))

        assert left <= before + 8
        assert Caller(service.url, bot.id, bot.token).ask("GET", "/voters")[0] == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("evil.example", 421), ("evil.example:80", 421), ("localhost.evil.example", 421)),
        *(("127.0.0.1.evil.example", 421), ("a@localhost", 421), ("LOCALHOST:9", 303)),
        *(("[::1]:9", 303), ("192.0.2.7", 303)),
    ],
)
def test_a_site_with_a_name_for_it_cannot_vote(service: Service, host: str, status: int) -> None:
    bot = service.bot()
    reply = Caller(service.url, bot.id, "").raw(
        "POST", f"/bot/{bot.id}/vote", headers={"Host": host, "Origin": f"http://{host}"}
    )

    assert (reply.status, len(bot.voters())) == (status, int(status == HTTPStatus.SEE_OTHER))


def test_a_whole_url_is_answered_as_its_path_and_its_host_counts(service: Service) -> None:
    request = b"GET %s/v1/bots?limit=1 HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
    status, body = asked(service.url, request % (service.url.encode(), b"evil.example"))
    refused, _ = asked(service.url, request % (b"HTTP://evil.example", b"localhost"))

    assert (status, refused) == (200, 421)
    assert isinstance(body, dict)
    assert body["data"]["queries"]["limit"] == 1


def test_a_body_with_two_lengths_is_refused_and_what_follows_is_not_read(service: Service) -> None:
    head = b"POST /v1/bots HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
    request = head + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/bots HTTP/1.1\r\n\r\n"

    assert asked(service.url, request)[0] == 400


def test_handshakes_count_as_requests(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commandsync.server.protocol._OWN", set())  # as another machine
    monkeypatch.setattr("commandsync.server.service.MOST_REQUESTS", "3/minute")
    with running(database_url) as started:
        refused = []
        for _ in range(5):
            with Listener(started.url, {"token": ""}) as listener:
                refused.append(listener.refused and listener.refused.status)

    assert refused == [None, None, None, 429, 429]


@pytest.mark.parametrize("limit", ["most_connections", "most_of_address"])
def test_more_connections_than_the_limit_are_refused_until_others_are_closed(
    service: Service, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr("commandsync.server.protocol._OWN", set())  # as another machine
    with Listener(service.url, {"token": service.bot().token}) as listener:
        listener.greeted()
        monkeypatch.setattr(TimedProtocol, limit, 1)
        refused = asked(service.url, b"")
        listener.leave()
        while (again := asked(service.url, FAULTY["chunks"][0]))[0] == refused[0]:
            pass  # the service has not seen the end of the listener

    assert refused == (503, {"error": "too many connections are open"})
    assert again[0] == 400


def test_a_proxys_addresses_have_a_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("commandsync.server.service.MOST_REQUESTS", "2/minute")
    with serving(str(tmp_path / "listing.db")) as service:
        bot = service.bot()
        caller, token = Caller(service.url, bot.id, ""), f"Bot {bot.token}"

        def statuses(address: str | None, *tokens: str | None) -> list[int]:
            sent = [{"X-Forwarded-For": address, "Authorization": one} for one in tokens]
            return [caller.raw("GET", "/", headers=headers).status for headers in sent]

        anybody = statuses("7.7.7.7, 192.0.2.1", None, "Bot a", "Bot b")
        forged = statuses("192.0.2.9, 192.0.2.1", None)
        owner = statuses("192.0.2.1", token, token, token)
        network = statuses("2001:db8::1", None) + statuses("2001:db8::2", None, None)
        own = statuses(None, None, None, None)

    assert (anybody, forged, owner) == ([200, 200, 429], [429], [200, 200, 429])
    assert (network, own) == ([200, 200, 429], [200] * 3)


def test_guests_of_one_address_have_a_limit_of_votes(service: Service) -> None:
    bot, other = service.bot(), service.bot()
    headers: dict[str, str | None] = {
        "Sec-Fetch-Site": "same-origin",
        "X-Forwarded-For": f"192.0.2.{bot.id[-2:]}",
    }

    def vote(voted: str) -> int:
        caller = Caller(service.url, voted, "")
        return caller.raw("POST", f"/bot/{voted}/vote", headers=headers).status

    statuses = [vote(bot.id) for _ in range(MOST_OF_ADDRESS + 1)]

    assert statuses == [303] * MOST_OF_ADDRESS + [429]
    assert (vote(other.id), len(bot.voters())) == (303, MOST_OF_ADDRESS)


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with more than a connection keeps, or never."""
    if scope["type"] == "lifespan":
        while (step := (await receive())["type"]) == "lifespan.startup":
            await send({"type": f"{step}.complete"})
        await send({"type": f"{step}.complete"})
    elif scope["path"] == "/large":
        await Response(b"x" * 50_000_000)(scope, receive, send)
    else:
        while (await receive())["type"] != "http.disconnect":
            pass


def test_a_response_that_is_not_read_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimedProtocol, "answer_seconds", 0.1)
    with running_application(answer) as url, connected(url) as stuck:
        stuck.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        # By the end of the second one, two checks have found the client of the first stuck.
        late = [asked(url, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(2)]
        received = until_closed(stuck)

    assert late == [(503, {"error": "the answer took longer than 0.1 seconds"})] * 2
    assert len(received) < 50_000_000


WRITERS = 16
EACH = 2
NAMES = [f"{writer}.{number}" for writer in range(WRITERS) for number in range(EACH)]


@contextmanager
def alone(folder: Path, database: str) -> Iterator[Caller]:
    """Give the owner of the one bot on a service of its own."""
    seed = folder / "seed.json"
    seed.write_text('{"bots": [{"id": "1", "profile": {"username": "Lantern"}}]}')
    with running(database, seed=seed) as service:
        yield Caller(service.url, "1", service.bots[0].token)


def names_after_a_crowd(caller: Caller) -> list[str]:
    """Let writers add commands and read the list at the same time; return the names listed."""
    together = Barrier(WRITERS)

    def write(writer: int) -> None:
        together.wait(timeout=60)
        for number in range(EACH):
            caller.added(name=f"{writer}.{number}")

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    return [command["name"] for command in caller.listed()]


def test_writers_at_the_same_time_lose_nothing(caller: Caller) -> None:
    assert sorted(names_after_a_crowd(caller)) == sorted(NAMES)


def test_writers_at_the_same_time_lose_nothing_in_memory(tmp_path: Path) -> None:
    with alone(tmp_path, ":memory:") as caller:
        assert sorted(names_after_a_crowd(caller)) == sorted(NAMES)


def test_its_own_trouble_has_no_details(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "listing.db"
    with alone(tmp_path, str(path)) as caller:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE commands")
        answer = caller.ask("GET", "/commands")

    assert answer == (500, {"error": "internal error; see the log of the service"})
    assert "no such table" in caplog.text
