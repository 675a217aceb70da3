"""Many calls of one kind, timed by themselves: the client library, and the bare library below it.

    python -m tests.benchmarks.calls KIND COUNT [BASE_URL BOT TOKEN]

Prints the seconds that they took. Each kind is a process of its own, so that none warms another up.
"""

from __future__ import annotations

import asyncio
import json
import sys
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CONCURRENCY = 8


def client(count: int, base_url: str, bot: str, token: str) -> float:
    """Call `Client.get_commands` one by one."""
    from commandsync import Client  # noqa: PLC0415 - each kind loads its own

    with Client(token, base_url, bot=bot) as service:
        service.get_commands()
        begun = perf_counter()
        for _ in range(count):
            service.get_commands()
        return perf_counter() - begun


def requests(count: int, base_url: str, bot: str, token: str) -> float:
    """Do the same with a session of requests."""
    from requests import Session  # noqa: PLC0415 - as above

    url = f"{base_url}/v1/bot/{bot}/commands"
    with Session() as session:
        session.headers["Authorization"] = f"Bot {token}"
        session.get(url, timeout=30).json()
        begun = perf_counter()
        for _ in range(count):
            answer = session.get(url, timeout=30)
            answer.raise_for_status()
            answer.json()
        return perf_counter() - begun


def asynchronous(count: int, base_url: str, bot: str, token: str) -> float:
    """Call `AsyncClient.get_commands`, eight at a time."""
    from commandsync import AsyncClient  # noqa: PLC0415 - as above

    async def run() -> float:
        async with AsyncClient(token, base_url, bot=bot, concurrency=CONCURRENCY) as service:
            await service.get_commands()
            begun = perf_counter()
            await asyncio.gather(*(service.get_commands() for _ in range(count)))
            return perf_counter() - begun

    return asyncio.run(run())


def aiohttp(count: int, base_url: str, bot: str, token: str) -> float:
    """Do the same with a session of aiohttp, whose pool keeps to eight connections."""
    from aiohttp import ClientSession, TCPConnector  # noqa: PLC0415 - as above

    url = f"{base_url}/v1/bot/{bot}/commands"

    async def run() -> float:
        async with ClientSession(
            connector=TCPConnector(limit=CONCURRENCY),
            headers={"Authorization": f"Bot {token}"},
            raise_for_status=True,
        ) as session:

            async def get() -> None:
                async with session.get(url) as answer:
                    await answer.json()

            await get()
            begun = perf_counter()
            await asyncio.gather(*(get() for _ in range(count)))
            return perf_counter() - begun

    return asyncio.run(run())


def frames(count: int, folds: str, ours: str) -> float:
    """Read frames of votes as the gateway sends them, or only decode their JSON, in CPU time."""
    from commandsync.api.credentials import Token  # noqa: PLC0415 - as above
    from commandsync.client.gateway import Session  # noqa: PLC0415 - as above
    from commandsync.client.request import Secrecy  # noqa: PLC0415 - as above

    bot = {"id": "779641401482805289", "username": "Lantern"}
    users = [{"id": f"{number:018}", "username": f"user {number}"} for number in range(count)]
    sent: list[Any] = [{"event": "vote", "data": {"user": user, "bot": bot}} for user in users]
    for _ in range(int(folds)):
        sent = [json.dumps(content) for content in sent]
    packets = ["42" + json.dumps(["message", content]) for content in sent]
    session = Session(greet=True, secrecy=Secrecy(Token("marked-token-7f3a9c1e")))
    read = session.receive if ours == "ours" else _decoded
    begun = process_time()
    for packet in packets:
        read(packet)
    return process_time() - begun


def _decoded(packet: str) -> object:
    content = json.loads(packet[2:])[1]
    while isinstance(content, str):
        content = json.loads(content)
    return content


_KINDS: dict[str, Callable[..., float]] = {
    "client": client,
    "requests": requests,
    "asynchronous": asynchronous,
    "aiohttp": aiohttp,
    "frames": frames,
}

if __name__ == "__main__":
    _, kind, number, *where = sys.argv
    print(_KINDS[kind](int(number), *where))
