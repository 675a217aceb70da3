"""A crowd at the gateway: 200 clients of one bot, one of them stuck, and 5,000 votes.

    python -m benchmarks.crowd [VOTES]

The service is a process of its own. First the time from the request of a vote to its event at each
client is measured, one vote after the other. Then the votes are cast, eight at a time. Ends with 1
unless every client but the stuck one has received every vote, in one order and once.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.measuring import PYTHON
from tests.support.bots import token_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_CLIENTS = 200
_TIMED = 100  # votes, one after the other
_WRITERS = 8
_LONGEST = 240  # seconds for each part
_SEED = {"bots": [{"id": "42", "profile": {"username": "Lantern"}}]}
_AVATAR = "x" * 1_000  # so that the votes are more than the system keeps for the stuck client
_USER = re.compile(rb'\\"user\\":\{\\"id\\":\\"(\d+)\\"')
_HANDSHAKE = (
    "GET /v1/gateway/?transport=websocket&token={token} HTTP/1.1\r\nHost: localhost\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
_VOTE = (
    "POST /v1/bot/42/votes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bot {token}\r\n"
    "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
)


_Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Client(asyncio.Protocol):
    """A client that sends nothing after the handshake, and notes who voted and when that came."""

    def __init__(self) -> None:
        self.users: list[int] = []
        self.times: list[float] = []
        self.ready = asyncio.Event()
        self.over = asyncio.Event()
        self.goal = 0
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        """Take the users of whole events; a frame's own bytes do not matter here."""
        data = self._rest + data
        if not self.ready.is_set() and b'"ready' in data:
            self.ready.set()
        whole = data.rfind(b'"]') + 2
        found = _USER.findall(data, 0, whole)
        self._rest = data[max(whole, 0) :]
        self.users += map(int, found)
        self.times += [perf_counter()] * len(found)
        if len(self.users) >= self.goal:
            self.over.set()

    def connection_lost(self, _error: Exception | None) -> None:
        """Wait for no more."""
        self.over.set()

    async def wait_for(self, count: int) -> None:
        """Wait for so many votes, or the end of the connection."""
        self.goal = count
        if len(self.users) < count:
            self.over.clear()
            await self.over.wait()


@contextmanager
def _serving(folder: Path) -> Iterator[tuple[str, int, str]]:
    """Run the service; yield its address and the bot's token."""
    (folder / "seed.json").write_text(json.dumps(_SEED), encoding="utf-8")
    command = [PYTHON, "-m", "commandsync", "serve", "--port=0", "--seed=seed.json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None  # noqa: S101 - it is a pipe, as just asked for
        url = urlsplit(service.stdout.readline().split()[-1])
        try:
            token = token_of("42", database=str(folder / "listing.db"))
            yield url.hostname or "", url.port or 0, token
        finally:
            service.send_signal(signal.SIGINT)


async def _vote(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str, user: int
) -> None:
    body = json.dumps({"user": {"id": str(user), "username": "Ann", "avatar": _AVATAR}})
    writer.write(_VOTE.format(token=token, length=len(body), body=body).encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    answer = await reader.readexactly(int(length[1]) if length else 0)
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(answer.decode())


async def _connected(host: str, port: int, token: str) -> list[_Client]:
    """Connect all clients but the stuck one, and wait until they are told to be ready."""
    clients = []
    for _ in range(_CLIENTS - 1):
        transport, client = await asyncio.get_running_loop().create_connection(_Client, host, port)
        transport.write(_HANDSHAKE.format(token=token).encode())
        clients.append(client)
    await asyncio.gather(*[client.ready.wait() for client in clients])
    return clients


async def _time(clients: list[_Client], line: _Line, token: str) -> None:
    """Print the time from the request of a vote to its event, one vote after the other."""
    delays = []
    for user in range(_TIMED):
        begun = perf_counter()
        await _vote(*line, token, user)
        await asyncio.gather(*[client.wait_for(user + 1) for client in clients])
        delays += [(client.times[user] - begun) * 1_000 for client in clients]
    print(
        f"vote to event at {_CLIENTS} clients: median {median(delays):.1f} ms, "
        f"99th percentile {quantiles(delays, n=100)[-1]:.1f} ms",
        flush=True,
    )


async def _crowd(host: str, port: int, token: str, votes: int) -> bool:
    _, stuck = await asyncio.open_connection(host, port, limit=1)  # and so it reads nothing
    stuck.write(_HANDSHAKE.format(token=token).encode())
    clients = await _connected(host, port, token)
    lines = [await asyncio.open_connection(host, port) for _ in range(_WRITERS)]
    await _time(clients, lines[0], token)

    async def write(line: _Line, first: int) -> None:
        for user in range(first, _TIMED + votes, _WRITERS):
            await _vote(*line, token, user)

    started = perf_counter()
    await asyncio.gather(
        *[write(line, _TIMED + number) for number, line in enumerate(lines)],
        *[client.wait_for(_TIMED + votes) for client in clients],
    )
    seconds = perf_counter() - started
    orders = {tuple(client.users) for client in clients}
    good = len(orders) == 1 and sorted(*orders) == list(range(_TIMED + votes))
    print(
        f"{votes} votes to {len(clients)} clients beside a stuck one in {seconds:.0f} s: "
        f"{'all, in one order and once' if good else 'NOT all in order'}"
    )
    return good


def main(votes: int) -> int:
    """Run the crowd, and return the exit code."""
    with TemporaryDirectory() as name, _serving(Path(name)) as (host, port, token):
        good = asyncio.run(asyncio.wait_for(_crowd(host, port, token, votes), _LONGEST))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000))
