"""Record a bot: run its program once against stand-ins, and keep what it registers.

1. The stand-ins of Discord and Telegram, a name server, and the relays of `--allow` are prepared.
2. The fence is built; where that fails, nothing runs. With `unfenced`, hooks redirect instead.
3. The program runs until it ends, is quiet after a registration, or the time is over.
4. The lists are frozen first; then the program and all that it started is ended.

An empty, failed or cut run is told apart from a whole one: only a whole run proves that a command
is gone (`Recording.is_whole`). All of this needs the extra `[record]`.

`reading_of` makes a recording a source of an import. Of Discord's lists the global one counts;
commands of one server are left out, unless the program registers only such. Of Telegram's menus one
counts: the default scope without a language, else all private chats, else the first.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import Any

from aiohttp import web

from commandsync.diagnostics import Notice
from commandsync.record.discordrest import GUILD, Discord
from commandsync.record.fence import Enclosed, Fence, Unfenced
from commandsync.record.hosts import PLACES, PLATFORM_HOSTS, Allowed, serve_hosts
from commandsync.record.programenv import (
    Trust,
    application_in,
    program_environment,
    without_tokens,
)
from commandsync.record.standins import stand_ins
from commandsync.record.telegrambot import Menu, Telegram
from commandsync.records.snapshot import Audience
from commandsync.sources.entry import Excluded, SourceReading
from commandsync.sources.reading import platform_of, read_answer
from commandsync.sources.telegrammenu import CodeMenus, menu_entry

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
        program = _program(order, trust)
        stack.callback(program.close)
        await _serve(run, stack, program.sockets, trust)
        output, given = os.pipe()
        reading = asyncio.create_task(run.read(output))
        stack.callback(reading.cancel)
        try:
            program.start(given)
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


def _program(order: Order, trust: Trust) -> Fence | Unfenced:
    """Return the program of an order in a fence, or with hooks, before it runs."""
    platform = platform_of(order.folder or order.cwd)
    environment = program_environment(order.environment, trust, platform=platform)
    if order.unfenced:
        allowed = tuple(service.name for service in order.allowed)
        listening = socket.create_server(("127.0.0.1", 0))
        redirects = trust.redirects(listening.getsockname()[1], allowed, PLATFORM_HOSTS)
        return Unfenced(order.program, str(order.cwd), {**environment, **redirects}, listening)
    enclosed = Enclosed(
        program=order.program,
        environment=environment,
        folder=str(order.folder or order.cwd),
        cwd=str(order.cwd),
        places=[*PLACES, *(service.place for service in order.allowed)],
        addresses=[each.inside for each in order.allowed if not each.inside.startswith("127.")],
        files=trust.system_files,
    )
    return Fence.build(enclosed, trust.folder)


async def _serve(
    run: _ProgramRun, stack: AsyncExitStack, sockets: Sequence[socket.socket], trust: Trust
) -> None:
    """Answer on the sockets of a program: as the platforms, and in a fence as all hosts."""
    runner = web.AppRunner(run.application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.SockSite(runner, sockets[0], ssl_context=trust.server).start()
    if not run.order.unfenced:
        run.refused = await serve_hosts(stack, sockets[1:], run.order.allowed)


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


_MOST_HOSTS = 5


def reading_of(recording: Recording, locale: str = "") -> SourceReading:
    """Return the commands of a recording as a source; `locale` is the language of Discord's texts.

    Raises `FileError` if the program registered something other than commands.
    """
    lists = dict(recording.discord)
    chosen = lists.pop("", ()) or [command for each in lists.values() for command in each]
    reading = _discord(chosen, locale)
    notes = list(reading.notes)
    excluded = list(reading.excluded)
    if recording.discord.get(""):
        for commands in lists.values():
            of_server = _discord(commands, locale).entries
            excluded += [Excluded(entry, "guild-only") for entry in of_server]
    elif chosen:
        notes.append(Notice("the program registers only commands of one server: they are imported"))
    of_telegram = _menus(recording).reading()
    return SourceReading(
        entries=(*reading.entries, *of_telegram.entries),
        unread=reading.unread,
        excluded=(*excluded, *of_telegram.excluded),
        notes=(*notes, *of_telegram.notes),
        menus=of_telegram.menus,
    )


def _menus(recording: Recording) -> CodeMenus:
    menus = CodeMenus()
    for key, listed in filter(itemgetter(1), recording.telegram.items()):
        entries = (menu_entry(str(part["command"]), str(part["description"])) for part in listed)
        menus.menus[Audience(*key)] = {entry.name: entry for entry in entries}
    return menus


def _discord(commands: Sequence[Mapping[str, Any]], locale: str) -> SourceReading:
    if not commands:
        return SourceReading()
    return read_answer(json.dumps(list(commands)).encode(), locale=locale)


def summary(recording: Recording, order: Order, shown_program: str) -> str:
    """Return the line about a run: how many commands, from which program, and the refused hosts."""
    lists = [*recording.discord.values(), *recording.telegram.values()]
    count = sum(map(len, lists))
    with_options = sum(bool(command.get("options")) for each in lists for command in each)
    options = f" ({with_options} with options)" if with_options else ""
    commands = f"{count} command{'' if count == 1 else 's'}{options}"
    seconds = max(1, round(recording.seconds))
    text = f"Recorded {commands} from `{shown_program}` in {seconds} s"
    if recording.ending is Ending.TIMED_OUT:
        text += f", cut by the time limit of {order.timeout:g} s"
    elif recording.ending is Ending.FAILED:
        text += f", and the program failed (exit {recording.exit_code})"
    refused = [f"{host} ({times})" for host, times in recording.refused.items()]
    if refused:
        more = len(refused) - _MOST_HOSTS
        rest = f" and {more} more" if more > 0 else ""
        text += f"; refused: {', '.join(refused[:_MOST_HOSTS])}{rest}"
    return f"{text}."
