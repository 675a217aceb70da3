"""The service as it stands in public: faulty connections and restarts leave nothing behind.

    python -m tests.benchmarks.public [CONNECTIONS]

10,000 connections, 200 at a time: a third are faulty handshakes of a WebSocket, a third are clients
of the gateway, a third read the list. Every one is answered. Compared with the time after half as
many before them, no connection is open, and at most 32 MiB more memory is used. Then 150 reminders
fall due while the service is away; it is started and ended six times, and the first connection gets
each of them once. Ends with 1 otherwise.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from commandsync.server import votes
from commandsync.server.administration import add_bot
from commandsync.server.database import opened
from tests.benchmarks.measuring import COMMANDSYNC
from tests.e2e.server.test_attacks import FAULTY
from tests.support.listeners import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE = 200
_LONGEST = 30  # seconds that a connection waits for the end of an answer
_MOST_KIB = 32 * 1024
_OTHER_FILES = 60  # connections of the database, which the pool may open meanwhile
_HEAD = "HTTP/1.1\r\nHost: localhost\r\n"
_UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


async def _connect(port: int, token: str, number: int) -> str:
    """Send what the turn of a connection is; return what is wrong with its answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        if number % 3 == 0:
            request, status = [*FAULTY.values()][number // 3 % len(FAULTY)]
            goal = str(status)
        elif number % 3 == 1:
            request = f"GET /v1/gateway/?token={token} {_HEAD}{_UPGRADE}\r\n".encode()
            goal = '"ready'
        else:
            request = f"GET /v1/bots {_HEAD}Connection: close\r\n\r\n".encode()
            goal = " 200 "
        writer.write(request)
        answer = b""
        async with asyncio.timeout(_LONGEST):
            while goal.encode() not in answer and (part := await reader.read(65_536)):
                answer += part
            if number % 3 != 1:
                await reader.read()
        return "" if goal.encode() in answer else f"{number}: {answer[:80]!r}"
    except (OSError, TimeoutError) as error:
        return f"{number}: {error!r}"
    finally:
        writer.close()


async def _crowd(port: int, token: str, connections: int) -> list[str]:
    wrong: list[str] = []
    for first in range(0, connections, _AT_ONCE):
        batch = range(first, min(first + _AT_ONCE, connections))
        wrong += filter(None, await asyncio.gather(*[_connect(port, token, n) for n in batch]))
    return wrong


@contextmanager
def _serving(database: str) -> Iterator[tuple[int, int]]:
    """Run the service; yield its port and its process."""
    command = [*COMMANDSYNC, "serve", "--port", "0", "--database", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        try:
            yield int(service.stdout.readline().rpartition(":")[2]), service.pid
        finally:
            service.terminate()


def _figures(process: int) -> tuple[int, int]:
    """Return the open files of a process, and its memory in KiB."""
    folder = Path(f"/proc/{process}")
    pages = int((folder / "statm").read_text(encoding="ascii").split()[1])
    return len(list((folder / "fd").iterdir())), pages * os.sysconf("SC_PAGE_SIZE") // 1024


def _is_flooded(database: str, token: str, connections: int) -> bool:
    """Connect to a service, and return whether something is wrong or left."""
    with _serving(database) as (port, process):
        asyncio.run(_crowd(port, token, connections // 2))  # the memory that a crowd needs
        files, memory = _figures(process)
        wrong = asyncio.run(_crowd(port, token, connections))
        end = time.monotonic() + _LONGEST  # until it has seen the ends of the last ones
        while _figures(process)[0] > files + _OTHER_FILES and time.monotonic() < end:
            time.sleep(0.1)
        now_files, now_memory = _figures(process)
        more = now_files - files, now_memory - memory
    print(
        f"{connections:,} connections: {len(wrong)} wrong {wrong[:3]}, {more[0]} more files, "
        f"{more[1]:,} KiB more memory, at most {_MOST_KIB:,}",
        flush=True,
    )
    return bool(wrong) or more[0] > _OTHER_FILES or more[1] > _MOST_KIB


def _is_reminded(database: str, token: str) -> bool:
    """Return whether the first connection after six restarts gets each reminder once."""
    users = [str(number) for number in range(150)]
    with opened(database) as store, store.writing() as connection:
        for number, user in enumerate(users):  # the oldest is due first
            account = {"id": user, "username": user, "avatar": ""}
            at = datetime.now(UTC) - timedelta(days=1, seconds=-number)
            votes.cast(connection, "42", account, at=at)
    for _ in range(6):
        with _serving(database):
            pass
    with _serving(database) as (port, _):
        url = f"http://127.0.0.1:{port}"
        with Listener(url, {"token": token}) as first:
            received = first.greeted().users(len(users))
            with Listener(url, {"token": token}) as second:
                second.greeted().say("2")
                first.say("2")
                good = received == users and first.text() == second.text() == "3"
    print(f"150 reminders over six restarts: {'each once' if good else 'NOT each once'}")
    return good


def main(connections: int) -> int:
    """Run both, and return the exit code."""
    with TemporaryDirectory() as name:
        database = str(Path(name) / "listing.db")
        with opened(database) as handle:
            token = add_bot(handle, "42", username="Lantern").token
        flooded = _is_flooded(database, token, connections)
        return int(flooded or not _is_reminded(database, token))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
