"""Record a bot: run its program once against stand-ins, and keep the commands that it registers.

1. The stand-ins of Discord and Telegram, a name server, and the relays of `--allow` are prepared.
2. The fence is built; where that fails, nothing runs.
3. The program runs until it ends, is quiet after a registration, or waiting is pointless.
4. The lists are frozen first; then the program and all that it started is ended.
5. `with_signs` looks for reasons on this machine, if nothing was registered.

The fence is `fence.py`, the stand-ins are `standins.py`, and all other hosts are `hosts.py`. The
result is a `Recording`: `outcome.py` makes it a source of an import, and tells about an empty one.
All of this needs the extra `[record]`.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from commandsync.errors import UsageError
from commandsync.recording.fence import Enclosed, Fence
from commandsync.recording.hosts import (
    PLATFORM_ADDRESS,
    PLATFORM_HOSTS,
    PLATFORMS,
    SOCKETS,
    Allowed,
    Hosts,
    cancelled,
    listens,
    serve_hosts,
)
from commandsync.recording.outcome import Recording, RunEnd
from commandsync.recording.programenv import (
    DISCORD,
    Trust,
    application_in,
    program_environment,
    unset_variables,
    without_tokens,
)
from commandsync.recording.standins import Platforms
from commandsync.simulation import discord, telegram
from commandsync.sources.reading import platform_of

QUIET = 3.0
"""Seconds without a registration after which a run ends, or twice the longest gap so far."""

_SILENCE = 20.0  # seconds in which a bot that has logged in asks for nothing
_RETRIES = 8.0  # seconds in which a bot finds a closed port, and calls no platform
_POLL = 0.05  # seconds
_TAIL = 20  # lines of the program's output that are kept
_PIECE = 1 << 14
_MOST_TRIED = 5  # ports
_GUILD_ID = re.compile(r"[1-9]\d{14,19}")


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
        await platforms.serve(stack, fence.sockets[PLATFORMS], trust.server)
        hosts = await serve_hosts(stack, fence.sockets, order.allowed)
        output = _Output(on_line)
        reader, writer = os.pipe()
        reading = asyncio.create_task(output.read(reader))
        stack.push_async_callback(cancelled, reading)
        try:
            fence.start(writer)
        finally:
            os.close(writer)
        start, ending = loop.time(), None
        while ending is None:
            await asyncio.sleep(_POLL)
            on_wait(loop.time() - start)
            fence.poll()
            ending = _ending(order, fence, platforms, hosts, start)
        # Frozen first: a program that is killed may still remove its commands.
        recording = _recording(fence, platforms, hosts, ending, loop.time() - start)
        fence.kill()
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
    addresses = [service.inside for service in order.allowed]
    return Enclosed(
        program=order.program,
        environment=program_environment(order.environment, project, order.named, platform=platform),
        folder=str(project),
        cwd=str(order.cwd),
        sockets=[*SOCKETS, *(each for service in order.allowed for each in service.sockets)],
        addresses=[
            PLATFORM_ADDRESS,
            *dict.fromkeys(each for each in addresses if not each.startswith("127.")),
        ],
        files=trust.files,
    )


def _ending(
    order: Order, fence: Fence, platforms: Platforms, hosts: Hosts, start: float
) -> RunEnd | None:
    """Return how the run has ended, or None while it goes on; `start` is a time of the loop."""
    now, moments = asyncio.get_running_loop().time(), platforms.moments
    if fence.exit_code is not None:
        return RunEnd.FAILED if fence.exit_code else RunEnd.ENDED
    if fence.reason:
        return RunEnd.LIMITED
    if now - start > order.timeout:
        return RunEnd.TIMED_OUT
    if moments:
        gaps = [later - earlier for earlier, later in pairwise(moments)]
        is_quiet = now - moments[-1] > max(QUIET, 2 * max(gaps, default=0.0))
        return RunEnd.QUIET if is_quiet else None
    # A bot that has logged in registers soon. One that finds no database tries again for ever.
    first = hosts.refusals.first
    if platforms.logins:
        is_pointless = now - max(platforms.last, first) > _SILENCE
    else:
        is_pointless = bool(first) and not platforms.last and now - first > _RETRIES
    return RunEnd.POINTLESS if is_pointless else None


def _recording(
    fence: Fence, platforms: Platforms, hosts: Hosts, ending: RunEnd, seconds: float
) -> Recording:
    """Freeze the lists and the counts of a run."""
    return Recording(
        discord=platforms.discord.registered(),
        telegram=dict(platforms.telegram.menus),
        ending=ending,
        seconds=seconds,
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


async def with_signs(recording: Recording, order: Order) -> Recording:
    """Add to an empty recording the open ports outside of the fence, and the unset variables.

    It opens a connection to each port that the program tried, and sends nothing.
    """
    known = program_environment(order.environment, order.project, order.named, platform=DISCORD)
    return replace(
        recording,
        open_ports=[port for port in [*recording.ports][:_MOST_TRIED] if await listens(port)],
        unset=unset_variables(order.project, known),
    )
