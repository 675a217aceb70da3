import json
import socket
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from commandsync.errors import UsageError
from commandsync.server.protocol import TimedProtocol
from commandsync.server.service import listening, running, serve


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A connection to a service that waits a tenth of a second for the head of a request."""
    monkeypatch.setattr(TimedProtocol, "seconds", 0.1)
    with running() as service:
        parts = urlsplit(service.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=30) as connected:
            yield connected


def until_closed(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(4096), b""))


def answer(received: bytes) -> tuple[bytes, object]:
    """Return the status line and the decoded body of an answer that ends the connection."""
    head, _, body = received.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    assert b"connection: close" in head
    return head.splitlines()[0], json.loads(body)


def test_a_connection_without_a_request_is_closed(line: socket.socket) -> None:
    assert until_closed(line) == b""


def test_a_head_without_an_end_is_answered_408(line: socket.socket) -> None:
    line.sendall(b"GET /v1/bot/1 HTTP/1.1\r\nHost: localhost\r\n")

    status, content = answer(until_closed(line))
    assert status == b"HTTP/1.1 408 Request Timeout"
    assert "0.1 seconds" in str(content)


def test_the_second_head_of_a_connection_has_the_limit_as_well(line: socket.socket) -> None:
    line.sendall(b"HEAD /v1/bot/1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    first = line.recv(4096)
    line.sendall(b"GET /v1/bot/1 HTT")

    assert first.startswith(b"HTTP/1.1 404")
    assert answer(until_closed(line))[0] == b"HTTP/1.1 408 Request Timeout"


def test_what_is_not_http_is_answered_in_json(line: socket.socket) -> None:
    line.sendall(b"\x16\x03\x01 nothing of the kind\r\n\r\n")

    assert answer(until_closed(line)) == (
        b"HTTP/1.1 400 Bad Request",
        {"error": "Invalid HTTP request received."},
    )


@pytest.mark.parametrize(
    ("host", "port"),
    [("a" * 70, 0), ("a..b", 0), ("\ud800", 0), ("localhost", -1), ("::1", 70_000)],
)
def test_an_impossible_host_name_or_port_is_reported(host: str, port: int) -> None:
    with pytest.raises(UsageError, match=f"cannot listen on .*, port {port}: ") as caught:
        serve(host=host, port=port, database=":memory:", on_ready=_end)

    assert "address" in str(caught.value.hint)


def _end(url: str, _bots: object) -> None:
    raise AssertionError(url)


def test_the_system_notices_a_client_that_is_gone_without_a_word() -> None:
    with listening("127.0.0.1", 0) as listener:
        listener.listen()
        with (
            closing(socket.create_connection(listener.getsockname(), 30)),
            closing(listener.accept()[0]) as connection,
        ):
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
