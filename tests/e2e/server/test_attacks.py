"""What anybody can send without a token ends soon, and holds up nobody else."""

import json
import socket
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.bots import Service, serving
from tests.support.callers import Caller
from tests.support.listeners import Listener

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
def test_a_faulty_handshake_is_answered_and_closed(
    service: Service, request_: bytes, status: int
) -> None:
    answered, body = asked(service.url, request_)

    assert answered == status
    assert isinstance(body, dict)
    assert body.keys() == {"error"}


def test_faulty_handshakes_at_once_leave_nothing_open_and_hold_up_nobody(
    database_url: str,
) -> None:
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
