"""Record a bot: run its program once against stand-ins, and keep what it registers.

1. The stand-ins of Discord and Telegram, a name server, and the relays of `--allow` are prepared.
2. The fence is built; where that fails, nothing runs. With `unfenced`, hooks redirect instead.
3. The program runs until it ends, is quiet after a registration, or the time is over.
4. The lists are frozen first; then the program and all that it started is ended.

An empty, failed or cut run is told apart from a whole one: only a whole run proves that a command
is gone (`Recording.is_whole`).
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from socket import socket
from typing import Any

from aiohttp import web

from commandsync.record.discordrest import GUILD, Discord
from commandsync.record.fence import Enclosed, Fence, Place, Unfenced
from commandsync.record.hosts import PLATFORM_HOSTS, Allowed, Resolver, relay
from commandsync.record.programenv import (
    Trust,
    application_in,
    program_environment,
    without_tokens,
)
from commandsync.record.standins import stand_ins
from commandsync.record.telegrambot import Menu, Telegram
from commandsync.sources.project import platform_of

QUIET = 3.0
"""Seconds without a registration after which a run is whole, or twice the longest gap so far."""

_GRACE = 3.0  # seconds between SIGTERM and SIGKILL
_LOOK = 0.05  # seconds
_TAIL = 20  # lines of the program's output that are kept
_PIECE = 1 << 14


class Ending(StrEnum):
    """How a run ended."""

    ENDED = "the program ended"
    QUIET = "the program was quiet"
    FAILED = "the program failed"
    TIMED_OUT = "the time limit was reached"


@dataclass(frozen=True, slots=True)
class Order:
    """The program to record, and what it may do."""

    program: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path = field(default_factory=Path.cwd)
    folder: Path | None = None  # the project's folder, whose files stay as they are; None for cwd
    timeout: float = 60.0  # seconds
    allowed: Sequence[Allowed] = ()
    say: str | None = None  # a message of the owner after the login
    guild: str | None = None  # the server that the bot is in
    unfenced: bool = False


@dataclass(frozen=True, slots=True)
class Recording:
    """The commands that a program registered, without any id of the stand-ins."""

    discord: Mapping[str, Sequence[Mapping[str, Any]]]  # by server; "" for the global ones
    telegram: Mapping[Menu, Sequence[Mapping[str, Any]]]
    ending: Ending
    seconds: float
    registrations: int  # requests that registered something
    exit_code: int | None = None  # of the program, if it ended by itself
    refused: Mapping[str, int] = field(default_factory=dict)  # by host
    unknown: Sequence[str] = ()  # requests that the stand-ins do not know
    tail: Sequence[str] = ()  # the last lines that the program printed, without tokens

    @property
    def is_whole(self) -> bool:
        """Whether the program registered something and was not cut: only then a command can go."""
        return self.registrations > 0 and self.ending in {Ending.ENDED, Ending.QUIET}

    @property
    def is_empty(self) -> bool:
        """Whether no command is registered at the end."""
        return not (any(self.discord.values()) or any(self.telegram.values()))


class _ProgramRun:
    """The state of one run: the stand-ins, the moments of registrations, and the last output."""

    def __init__(self, order: Order) -> None:
        application = application_in(order.environment)
        self.order = order
        self.moments: list[float] = []
        self.printed = b""
        self.refused: Counter[str] = Counter()
        self.discord = Discord(application, order.guild or GUILD, self._registered)
        self.telegram = Telegram(order.say, self._registered)
        self.application = stand_ins(self.discord, self.telegram, order.say)

    def _registered(self) -> None:
        self.moments.append(asyncio.get_running_loop().time())

    def is_quiet(self, now: float) -> bool:
        """Whether a registration came, and none after it for long enough."""
        if not self.moments:
            return False
        gaps = [
            later - earlier for earlier, later in zip(self.moments, self.moments[1:], strict=False)
        ]
        return now - self.moments[-1] > max(QUIET, 2 * max(gaps, default=0.0))

    async def read(self, output: int) -> None:
        """Keep the end of the text that the program prints."""
        reader = asyncio.StreamReader()
        pipe = os.fdopen(output, "rb", 0)
        connected = partial(asyncio.StreamReaderProtocol, reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(connected, pipe)
        try:
            while data := await reader.read(_PIECE):
                self.printed = (self.printed + data)[-_PIECE:]
        finally:
            transport.close()

    def tail(self) -> tuple[str, ...]:
        """Return the last lines that the program printed, without tokens."""
        lines = self.printed.decode("utf-8", "replace").splitlines()[-_TAIL:]
        return tuple(map(without_tokens, lines))


async def record(order: Order, *, on_wait: Callable[[float], None] = lambda _: None) -> Recording:
    """Run a program and return what it registered; `on_wait` gets the seconds that it has run.

    Raises `FenceError` if the machine does not allow the fence, and `FileError` if an unfenced
    program cannot be started. If this is cancelled, the program is ended first.
    """
    run = _ProgramRun(order)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="commandsync-")))
        trust = Trust.make(folder, PLATFORM_HOSTS)
        platform = platform_of(order.folder or order.cwd)
        environment = program_environment(order.environment, trust, platform=platform)
        output, given = os.pipe()
        reading = asyncio.create_task(run.read(output))
        stack.callback(reading.cancel)
        try:
            start = _start_unfenced if order.unfenced else _start_fenced
            program = await start(run, stack, trust, environment, given)
        finally:
            os.close(given)
        recording = await _until_the_end(run, program, on_wait)
        await asyncio.wait([reading], timeout=1)
        refused = folder / "refused.txt"  # which the hooks write
        if refused.exists():
            lines = refused.read_text("utf-8", "replace").split()
            run.refused.update(line.removesuffix(":443") for line in lines)
        return replace(
            recording,
            refused=dict(run.refused.most_common()),
            unknown=(*run.discord.unknown, *run.telegram.unknown),
            tail=run.tail(),
        )


async def _start_fenced(
    run: _ProgramRun,
    stack: AsyncExitStack,
    trust: Trust,
    environment: Mapping[str, str],
    output: int,
) -> Fence:
    """Build the fence, answer on the sockets inside, and let the program run."""
    order, allowed = run.order, run.order.allowed
    project = order.folder or order.cwd
    ours = [Place("tcp", "127.0.0.1", 443), Place("udp", "127.0.0.1", 53)]
    enclosed = Enclosed(
        program=order.program,
        environment=environment,
        folder=str(project),
        cwd=str(order.cwd),
        places=[*ours, *(service.place for service in allowed)],
        addresses=[each.inside for each in allowed if not each.inside.startswith("127.")],
        files=trust.system_files,
    )
    fence = Fence.build(enclosed, trust.folder)
    stack.callback(fence.close)
    web_socket, name_socket, *relayed = fence.sockets
    await _serve(run, stack, web_socket, trust)
    hosts = dict.fromkeys(PLATFORM_HOSTS, "127.0.0.1")
    hosts |= {service.host: service.inside for service in allowed}
    resolver = Resolver(hosts)
    run.refused = resolver.refused
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: resolver, sock=name_socket)
    stack.callback(transport.close)
    for service, inside in zip(allowed, relayed, strict=True):
        await asyncio.start_server(partial(relay, service), sock=inside)
    fence.start(output)
    return fence


async def _start_unfenced(
    run: _ProgramRun,
    stack: AsyncExitStack,
    trust: Trust,
    environment: Mapping[str, str],
    output: int,
) -> Unfenced:
    """Answer on a port of this machine, and run the program with the hooks."""
    program = Unfenced(run.order.program, str(run.order.cwd))
    stack.callback(program.close)
    await _serve(run, stack, program.sockets[0], trust)
    allowed = tuple(service.name for service in run.order.allowed)
    program.start(output, {**environment, **trust.redirects(program.port, allowed, PLATFORM_HOSTS)})
    return program


async def _serve(run: _ProgramRun, stack: AsyncExitStack, listening: socket, trust: Trust) -> None:
    runner = web.AppRunner(run.application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.SockSite(runner, listening, ssl_context=trust.server).start()


async def _until_the_end(
    run: _ProgramRun, program: Fence | Unfenced, on_wait: Callable[[float], None]
) -> Recording:
    """Wait for the end of the run, freeze the lists, and end the program."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    watching = asyncio.create_task(program.watch())
    ending: Ending | None = None
    try:
        while ending is None:
            await asyncio.wait([watching], timeout=_LOOK)
            now = loop.time()
            on_wait(now - start)
            if program.exit_code is not None:
                ending = Ending.FAILED if program.exit_code else Ending.ENDED
            elif run.is_quiet(now):
                ending = Ending.QUIET
            elif now - start > run.order.timeout:
                ending = Ending.TIMED_OUT
        return Recording(
            discord=run.discord.registered(),
            telegram={menu: tuple(listed) for menu, listed in run.telegram.menus.items()},
            ending=ending,
            seconds=loop.time() - start,
            registrations=len(run.moments),
            exit_code=program.exit_code,
        )
    finally:
        await _end(program, watching)


async def _end(program: Fence | Unfenced, watching: asyncio.Task[None]) -> None:
    """End the program and all that it started: asked first, killed after three seconds."""
    program.stop()
    await asyncio.wait([watching], timeout=_GRACE)
    program.kill()
    await asyncio.wait([watching], timeout=_GRACE)
