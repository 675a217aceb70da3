"""A long run of each client: nothing is left over, and memory stays flat.

    MALLOC_ARENA_MAX=1 python -m tests.benchmarks.soak [REQUESTS]

20,000 requests, 52 lost connections of the gateway and 60,000 votes, as many as in ten minutes of
a hundred a second, with a slow handler, against a server on loopback, in four rounds. Descriptors,
threads, tasks, objects and memory after the last round are compared with those after the first one,
which loads what all use. Ends with 1 if any is left. With more than one arena, the allocator of
glibc keeps freed memory for each thread that there was.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commandsync import AsyncClient, Client, Vote
from tests.support.gateway import Gateway, closing, telling, vote

if TYPE_CHECKING:
    from commandsync import Event

_ROUNDS = 4
_LOST = 13  # connections in a round
_VOTES = 15_000  # in a round
_FRAMES = [vote(number) for number in range(_VOTES)]
_NAP = 0.0001  # seconds that the handler takes
_TOKEN = "marked-token-7f3a9c1e"
_MOST = {"descriptors": 0, "threads": 0, "tasks": 0, "objects": 3_000, "KiB": 8_192}
_USER = str(_VOTES - 1)


class _Reader:
    """Counts the events of a round."""

    def __init__(self) -> None:
        self.restored = 0

    def over(self, event: Event) -> bool:
        self.restored += event.name == "reconnected"
        return isinstance(event, Vote) and event.user.id == _USER and self.restored == _LOST


def _nap(_: Vote) -> None:
    time.sleep(_NAP)


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


def _hasten(client: Any) -> Any:  # noqa: ANN401 - of either kind
    client._sleep = _no_wait  # noqa: SLF001 - the waits between two connections are not measured
    client.on(Vote)(_nap)
    return client


def blocking(url: str, requests: int) -> None:
    """Do it all with the blocking client."""
    reader = _Reader()
    with _hasten(Client(_TOKEN, url, bot="42")) as client:
        asking = threading.Thread(target=lambda: [client.get_voters() for _ in range(requests)])
        asking.start()
        for event in client.events():
            if reader.over(event):
                break
        asking.join()


async def _asynchronous(url: str, requests: int) -> int:
    reader = _Reader()
    async with _hasten(AsyncClient(_TOKEN, url, bot="42")) as client:

        async def ask() -> None:
            for _ in range(requests):
                await client.get_voters()

        asking = asyncio.create_task(ask())
        events = client.events()
        async for event in events:
            if reader.over(event):
                break
        await events.aclose()
        await asking
    return len(asyncio.all_tasks()) - 1


def asynchronous(url: str, requests: int) -> int:
    """Do it all with the asynchronous client; return the tasks that are left."""
    return asyncio.run(_asynchronous(url, requests))


def _round(kind: str, requests: int) -> int:
    with Gateway(voters=[[{"id": "1"}]]) as gateway:
        gateway.then(*[closing(vote("x"), code=1012)] * _LOST, telling(*_FRAMES))
        return (asynchronous if kind == "asynchronous" else blocking)(gateway.url, requests) or 0


def _figures(tasks: int) -> dict[str, int]:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "tasks": tasks,
        "objects": len(gc.get_objects()),
        "KiB": pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    }


def main(requests: int) -> int:
    """Run the rounds of both clients, print what is left, and return the exit code."""
    failed = False
    logging.disable(logging.WARNING)  # each lost connection is reported
    for kind in ("blocking", "asynchronous"):
        rounds = []
        for number in range(_ROUNDS):
            rounds.append(_figures(_round(kind, requests // _ROUNDS)))
            print(f"{kind}, round {number + 1}: {rounds[-1]}", flush=True)
        left = {name: rounds[-1][name] - rounds[0][name] for name in _MOST}
        failed = failed or any(left[name] > most for name, most in _MOST.items())
        print(f"{kind}: left {left}, at most {_MOST}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000))
