"""Events shown while they come, and the user's program run for each."""

import logging
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice

from commandsync import Client, Event
from commandsync.api.operations import Operation
from commandsync.api.policy import Send
from commandsync.cli.options import Run
from commandsync.cli.output import LogStream, Output, log_handled_by
from commandsync.cli.program import NO_PLUGINS
from commandsync.client.connection import OnWait
from commandsync.errors import CommandsyncError, Exit, ListingError, UsageError
from commandsync.report import records
from commandsync.services.catalogue import LISTS
from commandsync.sync.files import reason
from commandsync.sync.settings import TOKEN_VARIABLE
from commandsync.sync.signals import Interruption

_STDERR = 2
_WAIT = 0.2  # seconds: a wait that a signal may not break is never longer than this

_OPENING = Operation("open the event stream", "GET", "", lambda _: None)


def words_of(program: str) -> tuple[str, ...]:
    """Split the value of `--exec` into a program and its arguments; no shell is involved."""
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise UsageError(f"--exec cannot be read: {error}", hint="close the quotes") from error
    path = shutil.which(words[0]) if words else None
    if path is None:
        raise UsageError(
            f"--exec: the program {program!r} was not found",
            hint="it is not run by a shell; sh -c '...' does that",
        )
    return (path, *words[1:])


def environment_without(variable: str) -> dict[str, str]:
    """Return the environment without the variable of the token, and those of all listings."""
    known = {name for service in LISTS.values() for name in service.variables}
    return {
        name: value
        for name, value in os.environ.items()
        if name not in {variable, *known} and not name.startswith(TOKEN_VARIABLE)
        if (name, value) != NO_PLUGINS  # which is for this program only
    }


@dataclass(frozen=True, slots=True)
class Program:
    """The program to run for each event, with its arguments; no words for none."""

    words: Sequence[str]
    environment: Mapping[str, str]


@dataclass(slots=True)
class _Stop:
    """Answers signals: the first ends the stream, the second ends everything `at_once`.

    A running program is ended in order: an exception while it starts would leave it running
    without its parent.
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


def show_events(client: Client, program: Program, run: Run, *, on_wait: OnWait) -> int:
    """Show events, and run the program for each, until a signal or the service ends the stream.

    `on_wait` is called as for a call of a connection: until the first event the stream is opened.
    """
    stop, output = _Stop(client), run.output
    try:
        with log_handled_by(_warning_handler(output)), run.signals.answered_by(stop):
            for event in _opened(client.events(), on_wait):
                if run.signals.number or not _show(event, program, output, stop):
                    break
    except Interruption:
        pass
    except CommandsyncError as error:
        if output.format != "json":
            raise
        from commandsync.report.json import failure_line

        output.result(failure_line(error))
        return error.exit_code
    return Exit.DONE


def _opened(events: Iterator[Event], on_wait: OnWait) -> Iterator[Event]:
    """Wait for the first event, and return all."""
    on_wait(_OPENING, Send())
    try:
        first = [*islice(events, 1)]
    finally:
        on_wait(_OPENING, None)
    return chain(first, events)


def _warning_handler(output: Output) -> logging.Handler:
    """Return what shows the client's warnings, unless its whole log is shown already."""
    everything = logging.getLogger("commandsync").getEffectiveLevel() <= logging.DEBUG
    handler = logging.NullHandler() if everything else logging.StreamHandler(LogStream(output.talk))
    handler.setLevel(logging.WARNING)
    return handler


def _show(event: Event, program: Program, output: Output, stop: _Stop) -> bool:
    """Show an event and run the program for it; False when the output is no longer read."""
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


def _exit_code(program: Program, text: bytes, stop: _Stop) -> int:
    """Run a program with this input until it ends, or until the second signal."""
    remaining: bytes | None = text
    with subprocess.Popen(  # noqa: S603 - the user's own words, split; the event is only its input
        program.words, stdin=subprocess.PIPE, stdout=_STDERR, env=program.environment
    ) as child:
        while True:
            with suppress(subprocess.TimeoutExpired):
                child.communicate(remaining, timeout=_WAIT)
                return child.returncode
            remaining = None
            if stop.at_once:
                child.kill()
