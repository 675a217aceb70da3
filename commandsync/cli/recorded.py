"""The options of a recorded run, and the run itself as the command line shows it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from commandsync.cli.options import Number, option

if TYPE_CHECKING:
    from pathlib import Path

    from commandsync.cli.output import Output
    from commandsync.recording.outcome import Recording
    from commandsync.sync.importsource import RecordedCommands

_record_option = partial(option, section="Recording")

TIMEOUT = _record_option(
    "--timeout SECONDS",
    "The time limit of the program.",
    dest="time_limit",
    type=Number(1, 3600),
    default=60,
)
ALLOW = _record_option(
    "--allow HOST:PORT",
    "A service that the program may reach, such as its database; may be repeated.",
    multiple=True,
)
ENV = _record_option(
    "--env NAME",
    "A variable that is passed on to the program; may be repeated.",
    dest="named",
    multiple=True,
)
SAY = _record_option("--say TEXT", "A message from the bot's owner to the bot, after its login.")
GUILD = _record_option("--guild ID", "The server that the bot is in.")
COMPLETE = _record_option(
    "--complete",
    "Remove the commands that the program did not register, even if the run may not be whole.",
)

_TRY = "try the deploy script alone, or --timeout SECONDS; see docs/record.md"


def record_program(  # noqa: PLR0913 - the options of one command
    output: Output,
    program: Sequence[str],
    *,
    timeout: float = 60,
    allow: Sequence[str] = (),
    named: Sequence[str] = (),
    say: str | None = None,
    guild: str | None = None,
) -> RecordedCommands | None:
    """Run a program once and return its registered commands, to be read in a language.

    Returns None if it registered nothing: how far it came is printed, with its last lines.
    """
    import asyncio
    import os
    from pathlib import Path
    from urllib.parse import urlsplit

    from commandsync.errors import UsageError
    from commandsync.extras import missing
    from commandsync.report.lines import visible
    from commandsync.services.catalogue import LISTS
    from commandsync.sync.importsource import RecordedCommands

    try:
        from commandsync.recording import Order, record, with_signs
        from commandsync.recording.hosts import parse_allowed
        from commandsync.recording.outcome import reading_of, summary
    except ImportError as error:
        raise missing("recording a program needs", "record", error) from error
    hosts = [urlsplit(service.origin).hostname or "" for service in LISTS.values()]
    unset = [name for name in named if name not in os.environ]
    if unset:
        raise UsageError(f"--env {unset[0]}: this variable is not set", hint="set it, then pass it")
    order = Order(
        program=program,
        cwd=Path.cwd(),
        timeout=timeout,
        allowed=parse_allowed(allow, hosts),
        named=named,
        say=say,
        guild=guild,
    )
    for service in order.allowed:
        output.talk(f"the program may reach {visible(service.name)}: what it does there is real")
    _keep_secrets(order.project)
    with _shown(output) as (on_wait, on_line):
        recording = asyncio.run(record(order, on_wait=on_wait, on_line=on_line))
    for request in recording.unknown:
        output.talk(f"not known to the stand-in: {visible(request)}", at=1)
    shown = visible(shlex.join(program))
    if recording.is_empty:
        recording = asyncio.run(with_signs(recording, order))
        for line in _empty_run(recording, shown):
            output.talk(line)
        return None
    output.talk(summary(recording, shown))
    return RecordedCommands(shlex.join(program), partial(reading_of, recording), recording.doubt)


def _keep_secrets(project: Path) -> None:
    """Add the secrets of the project's `.env` to the tokens that no output shows."""
    import os

    from commandsync.api.credentials import Token, keep_secret
    from commandsync.recording.programenv import has_token, read_variables, secrets_in

    values = secrets_in(read_variables(project / ".env"))
    values += [value for value in os.environ.values() if has_token(value)]
    for value in values:
        keep_secret(Token(value))


@contextmanager
def _shown(output: Output) -> Iterator[tuple[Callable[[float], None], Callable[[str], None]]]:
    """Show on a terminal that the program runs: its lines, dimmed, and the seconds until then."""
    from commandsync.report.lines import visible

    if output.verbosity < 0 or not sys.stderr.isatty():
        yield (lambda _: None), (lambda _: None)
        return
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    console = Console(stderr=True, no_color=not output.screen(sys.stderr).color)
    status = Status("The program runs", console=console)

    def on_wait(seconds: float) -> None:
        status.update(f"The program runs, {seconds:.0f} s")

    def on_line(line: str) -> None:
        console.print(Text(printed(visible(line)), style="dim", overflow="ellipsis"), no_wrap=True)

    with status:
        yield on_wait, on_line


def printed(line: str) -> str:
    """Return a line that the program printed, behind a bar: it begins no command of a CI runner."""
    return f"  | {line}"


def _empty_run(recording: Recording, shown: str) -> Iterator[str]:
    """Yield the lines about a run without commands: its output, its progress and a hint."""
    from commandsync.recording.outcome import progress
    from commandsync.report.lines import visible

    if not sys.stderr.isatty():  # a terminal has shown them
        yield from (printed(visible(line)) for line in recording.tail if line[:7] != "bwrap: ")
    yield f"`{shown}` registered nothing; the manifest stays as it is"
    for sentence in progress(recording):
        yield f"  {visible(sentence)}"
    yield f"  hint: {_TRY}"
