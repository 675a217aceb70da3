"""Events shown as they come, and a program of the user's run for each."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.cli.logs import warnings_shown
from commandsync.errors import CommandsyncError, ListingError, UsageError
from commandsync.sync import exits
from commandsync.sync.files import reason
from commandsync.sync.settings import TOKEN_VARIABLE
from commandsync.sync.signals import Interruption

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from commandsync import Client, Event
    from commandsync.cli.output import Output
    from commandsync.sync.signals import Signals

_STDERR = 2
_GLANCE = 0.2  # seconds: a wait that a signal may not break is never longer than this


def program_of(text: str) -> tuple[str, ...]:
    """Split what `--exec` says into a program and its arguments; no shell ever sees it.

    Raises:
        UsageError: It names no program that can be run.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--exec cannot be read: {error}", hint="close the quotes") from error
    found = shutil.which(words[0]) if words else None
    if found is None:
        raise UsageError(
            f"--exec names no program that can be run: {text!r}",
            hint="it is not a line of a shell; sh -c '...' makes it one",
        )
    return (found, *words[1:])


def environment_without(variable: str) -> dict[str, str]:
    """Return the environment without the variable that held the token, and its usual ones."""
    return {
        name: value
        for name, value in os.environ.items()
        if name != variable and not name.startswith(TOKEN_VARIABLE)
    }


@dataclass(frozen=True, slots=True)
class Program:
    """What is run for each event.

    Attributes:
        words: The program and its arguments; empty for none.
        environment: The variables it gets.
    """

    words: Sequence[str]
    environment: Mapping[str, str]


@dataclass(slots=True)
class _Stop:
    """Answers signals: the first ends the stream, the second everything at once.

    Attributes:
        client: Whose stream it is.
        running: Whether a program is being run, which sees to the second signal itself: an
            exception while it is started would leave it alone in the world.
        at_once: Whether the second signal has come.
    """

    client: Client
    running: bool = False
    at_once: bool = False

    def __call__(self, count: int) -> None:
        """Answer the `count`-th signal; it may come between any two steps of the program."""
        if count == 1:
            self.client.close()
            return
        self.at_once = True
        if not self.running:
            raise Interruption(count)


def watched(client: Client, program: Program, *, output: Output, signals: Signals) -> int:
    """Show events, and run the program for each, until a signal or the service ends it.

    Args:
        client: Where they come from.
        program: The program.
        output: How to speak.
        signals: Who hears of signals; the first ends the stream, the second at once.

    Returns:
        The exit code, unless a signal decides it.

    Raises:
        CommandsyncError: The stream cannot be opened, or the token is refused.
    """
    stop = _Stop(client)
    try:
        with warnings_shown(output.talk), signals.answered_by(stop):
            for event in client.events():
                if signals.number or not _passed_on(event, program, output, stop):
                    break
    except Interruption:
        pass
    except CommandsyncError as error:
        if output.format != "json":
            raise
        from commandsync.report import records  # noqa: PLC0415 - when there is something to show

        output.result(records.failure_json(error))
        return exits.of_error(error)
    return exits.Exit.DONE


def _passed_on(event: Event, program: Program, output: Output, stop: _Stop) -> bool:
    """Show an event and run the program for it; False when nobody reads any more."""
    from commandsync.report import records  # noqa: PLC0415 - as above

    try:
        line = records.event_json(event)
    except ListingError as error:  # one event that cannot be shown does not end the others
        output.talk(f"warning: {error.message}")
        return True
    read = output.result(line if output.format == "json" else records.event_line(event))
    if program.words:
        _run(program, line, output, stop)
    return read or bool(program.words)


def _run(program: Program, event: str, output: Output, stop: _Stop) -> None:
    stop.running = True
    try:
        code = _exit_code(program, f"{event}\n".encode(), stop)
    except OSError as error:
        output.talk(f"warning: --exec cannot be run: {reason(error)}")
    else:
        if code and not stop.at_once:
            output.talk(f"warning: --exec ended with exit code {code}")
    finally:
        stop.running = False


def _exit_code(program: Program, said: bytes, stop: _Stop) -> int:
    """Run a program with that input to its end, or to the second signal."""
    remaining: bytes | None = said
    with subprocess.Popen(  # noqa: S603 - the user's own words, split; the event is only its input
        program.words, stdin=subprocess.PIPE, stdout=_STDERR, env=program.environment
    ) as child:
        while True:
            with suppress(subprocess.TimeoutExpired):
                child.communicate(remaining, timeout=_GLANCE)
                return child.returncode
            remaining = None
            if stop.at_once:
                child.kill()
