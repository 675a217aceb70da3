"""Record a bot: run its program once against stand-ins, and keep what it registers.

1. The stand-ins of Discord and Telegram, a name server, and the relays of `--allow` are prepared.
2. The fence is built; where that fails, nothing runs.
3. The program runs until it ends, is quiet after a registration, or waiting is pointless.
4. The lists are frozen first; then the program and all that it started is ended.

Only a run that is known to be whole proves that a command is gone: `Recording.doubt` says why a run
is not. `outcome.py` says how far an empty run came, and makes a recording a source of an import.
All of this needs the extra `[record]`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from commandsync.errors import UsageError
from commandsync.recording.fence import Enclosed, Fence
from commandsync.recording.hosts import (
    PLACES,
    PLATFORM,
    PLATFORM_HOSTS,
    Allowed,
    Hosts,
    accept,
    cancelled,
    serve_hosts,
)
from commandsync.recording.programenv import (
    Trust,
    application_in,
    program_environment,
    without_tokens,
)
from commandsync.recording.standins import Platforms
from commandsync.simulation import discord, telegram
from commandsync.simulation.discord import RefusedRegistration
from commandsync.simulation.telegram import Menu
from commandsync.sources.reading import platform_of

QUIET = 3.0
"""Seconds without a registration after which a run ends, or twice the longest gap so far."""

_SILENCE = 20.0  # seconds in which a bot that has logged in asks for nothing
_RETRIES = 8.0  # seconds in which a bot finds a closed port, and calls no platform
_LOOK = 0.05  # seconds
_TAIL = 20  # lines of the program's output that are kept
_PIECE = 1 << 14
_GUILD_ID = re.compile(r"[1-9]\d{14,19}")


class RunEnd(StrEnum):
    """How a run ended."""

    ENDED = "the program ended"
    QUIET = "the program was still running"
    POINTLESS = "the program waited"
    FAILED = "the program failed"
    TIMED_OUT = "the time limit was reached"
    LIMITED = "the program was ended"


@dataclass(frozen=True, slots=True)
class Order:
    """The program to record, and its permissions."""

    program: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path = field(default_factory=Path.cwd)
    folder: Path | None = None  # the project's folder; None for the repository around cwd, or cwd
    timeout: float = 60.0  # seconds
    allowed: Sequence[Allowed] = ()
    named: Sequence[str] = ()  # further variables that are passed on
    say: str | None = None  # a message of the owner after the login
    guild: str | None = None  # the server that the bot is in

    @property
    def project(self) -> Path:
        """The project's folder: the program sees no other part of the home folder."""
        cwd = Path(os.path.realpath(self.cwd))
        if self.folder is not None:
            return Path(os.path.realpath(self.folder))
        home = Path(os.path.realpath(Path.home()))
        for each in (cwd, *cwd.parents):
            if each == home or each == Path(each.anchor):
                break
            if (each / ".git").exists():
                return each
        return cwd


@dataclass(frozen=True, slots=True)
class Recording:
    """The commands that a program registered, without any id of the stand-ins."""

    discord: Mapping[str, Sequence[Mapping[str, Any]]]  # by server; "" for the global ones
    telegram: Mapping[Menu, Sequence[Mapping[str, Any]]]
    ending: RunEnd
    seconds: float
    registrations: int  # requests that registered something
    exit_code: int | None = None  # of the program, if it ended by itself
    reason: str = ""  # why it was ended
    requests: Mapping[str, int] = field(default_factory=dict)  # by platform
    asked: bool = False  # whether it looked up a platform
    logged_in: bool = False
    untrusted: int = 0  # connections that did not trust the stand-ins
    refused: Mapping[str, int] = field(default_factory=dict)  # by host
    ports: Mapping[int, int] = field(default_factory=dict)  # refused connections, by port
    refusals: Sequence[RefusedRegistration] = ()  # registrations
    unknown: Sequence[str] = ()  # requests that the stand-ins do not know
    tail: Sequence[str] = ()  # the last lines that the program printed, without tokens

    @property
    def doubt(self) -> str:
        """Why the run is not known to be whole, as the end of a sentence; empty if it is.

        Only a whole run removes commands.
        """
        first = next(iter(self.refusals), RefusedRegistration("", 0, ""))
        of_all = {_key(command) for command in self.discord.get("", ())}
        others = (listed for server, listed in self.discord.items() if server)
        of_servers = {_key(command) for listed in others for command in listed}
        ended = f"{self.ending}: {self.reason}" if self.reason else str(self.ending)
        doubts = {
            f"the program failed (exit {self.exit_code})": self.ending is RunEnd.FAILED,
            ended: self.ending is not RunEnd.ENDED,
            f"a registration was refused ({first.status}: {first.reason})": self.refusals,
            f"{', '.join([*self.refused][:3])} was refused": self.refused,
            f"nothing listens at port {', '.join(map(str, [*self.ports][:3]))}": self.ports,
            "nothing was registered": not self.registrations,
            "it registered commands of one server only": of_servers - of_all,
        }
        return next((text for text, applies in doubts.items() if applies), "")

    @property
    def is_whole(self) -> bool:
        """Whether the run is known to be whole: only then a command can go."""
        return not self.doubt

    @property
    def is_empty(self) -> bool:
        """Whether no command is registered at the end."""
        return not (any(self.discord.values()) or any(self.telegram.values()))


def _key(command: Mapping[str, Any]) -> tuple[str, str]:
    return str(command.get("type", 1)), str(command.get("name"))


class _Output:
    """The text that the program prints: its end is kept, and each line is shown."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._printed, self._on_line = b"", on_line

    async def read(self, output: int) -> None:
        """Read to the end of the output, which may come after the end of the program."""
        reader, rest = asyncio.StreamReader(), b""
        pipe = os.fdopen(output, "rb", 0)
        connected = partial(asyncio.StreamReaderProtocol, reader)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(connected, pipe)
        try:
            while data := await reader.read(_PIECE):
                self._printed = (self._printed + data)[-_PIECE:]
                *lines, rest = (rest + data).split(b"\n")
                rest = rest[-_PIECE:]
                for line in lines[-_TAIL:]:
                    self._on_line(_text(line))
        finally:
            transport.close()

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines, without tokens."""
        return tuple(map(_text, self._printed.splitlines()[-_TAIL:]))


def _text(line: bytes) -> str:
    return without_tokens(line.decode("utf-8", "replace").rstrip("\r"))


async def record(
    order: Order,
    *,
    on_wait: Callable[[float], None] = lambda _: None,
    on_line: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Run a program and return the commands that it registered.

    `on_wait` gets the seconds that it has run, and `on_line` each line that it prints, without
    tokens. Raises `FenceError` if the machine does not allow the fence, and `UsageError` for a
    folder that cannot be recorded in. If this is cancelled, the program is ended first.
    """
    loop, trust = asyncio.get_running_loop(), Trust.make(PLATFORM_HOSTS)
    platforms = Platforms(
        discord.ApplicationState(application_in(order.environment), order.guild or discord.GUILD),
        telegram.BotState(order.say),
    )
    before = loop.get_exception_handler()
    async with AsyncExitStack() as stack:
        loop.set_exception_handler(lambda *_: None)  # a program that breaks its connection
        stack.callback(loop.set_exception_handler, before)
        fence = Fence.build(_enclosed(order, trust))
        stack.callback(fence.end)
        stack.push_async_callback(platforms.close)
        await platforms.start()
        carry = partial(platforms.carry, context=trust.server)
        serving = asyncio.create_task(
            accept(fence.sockets[0], carry, lambda: platforms.connections)
        )
        stack.push_async_callback(cancelled, serving)
        hosts = await serve_hosts(stack, fence.sockets[1:], order.allowed)
        output = _Output(on_line)
        reader, writer = os.pipe()
        reading = asyncio.create_task(output.read(reader))
        stack.push_async_callback(cancelled, reading)
        try:
            fence.start(writer)
        finally:
            os.close(writer)
        recording = await _until_the_end(order, fence, platforms, hosts, on_wait)
        with suppress(TimeoutError):
            await asyncio.wait_for(reading, 1)
        if failure := fence.failure(output.tail):
            raise failure
        return replace(recording, tail=output.tail)


def _enclosed(order: Order, trust: Trust) -> Enclosed:
    """Return the program and its folders; raises `UsageError` for a folder with too much in it."""
    project, home = order.project, Path(os.path.realpath(Path.home()))
    if home.is_relative_to(project) or project == Path(project.anchor):
        message = f"a program is not recorded in {project}: it would see all that is in it"
        raise UsageError(message, hint="go to the folder of the bot")
    if order.guild is not None and not _GUILD_ID.fullmatch(order.guild):
        message = f"--guild {order.guild} is not the ID of a server"
        raise UsageError(message, hint="write its number, such as 1000000000000000003")
    platform = platform_of(project)
    addresses = [each.inside for each in order.allowed if not each.inside.startswith("127.")]
    return Enclosed(
        program=order.program,
        environment=program_environment(order.environment, project, order.named, platform=platform),
        folder=str(project),
        cwd=str(order.cwd),
        places=[*PLACES, *(place for service in order.allowed for place in service.places)],
        addresses=[PLATFORM, *dict.fromkeys(addresses)],
        files=trust.files,
    )


async def _until_the_end(
    order: Order,
    fence: Fence,
    platforms: Platforms,
    hosts: Hosts,
    on_wait: Callable[[float], None],
) -> Recording:
    """Wait for the end of the run, freeze the lists, and end the program."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    ending: RunEnd | None = None
    while ending is None:
        await asyncio.sleep(_LOOK)
        now = loop.time()
        on_wait(now - start)
        fence.look()
        ending = _ending(order, fence, platforms, hosts, now - start)
    recording = Recording(
        discord=platforms.discord.registered(),
        telegram=dict(platforms.telegram.menus),
        ending=ending,
        seconds=loop.time() - start,
        registrations=platforms.discord.registrations + platforms.telegram.registrations,
        exit_code=fence.exit_code,
        reason=fence.reason,
        requests=dict(platforms.requests),
        asked=any(hosts.resolver.known[host] for host in PLATFORM_HOSTS),
        logged_in=platforms.logins > 0,
        untrusted=platforms.untrusted,
        refused=dict(hosts.resolver.refused.most_common()),
        ports=dict(hosts.refusals.ports.most_common()),
        refusals=(*platforms.discord.refused, *platforms.telegram.refused),
        unknown=(*platforms.discord.unknown, *platforms.telegram.unknown),
    )
    fence.kill()
    return recording


def _ending(
    order: Order, fence: Fence, platforms: Platforms, hosts: Hosts, seconds: float
) -> RunEnd | None:
    """Return how the run has ended, or None while it goes on."""
    now, moments = asyncio.get_running_loop().time(), platforms.moments
    if fence.exit_code is not None:
        return RunEnd.FAILED if fence.exit_code else RunEnd.ENDED
    if fence.reason:
        return RunEnd.LIMITED
    if seconds > order.timeout:
        return RunEnd.TIMED_OUT
    if moments:
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        if now - moments[-1] > max(QUIET, 2 * max(gaps, default=0.0)):
            return RunEnd.QUIET
        return None
    return RunEnd.POINTLESS if _is_pointless(platforms, hosts, now) else None


def _is_pointless(platforms: Platforms, hosts: Hosts, now: float) -> bool:
    """Whether waiting for a first registration leads to nothing.

    A bot that has logged in registers soon. One that finds no database tries again for ever.
    """
    first = hosts.refusals.first
    if platforms.logins:
        return now - max(platforms.last, first) > _SILENCE
    return bool(first) and not platforms.last and now - first > _RETRIES
