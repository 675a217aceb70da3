"""Standard output for results, standard error for everything else."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO

import click

from commandsync import report
from commandsync.errors import FileError
from commandsync.sync.files import reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandsync.diagnostics import Notice
    from commandsync.errors import CommandsyncError
    from commandsync.report import Format


Color = Literal["auto", "always", "never"]

_REQUESTS = 2  # -vv
_STOPPING = b"\nstopping: requests in flight are finished first (again: stop at once)\n"


_FLAGS = {
    "token=...": "COMMANDSYNC_TOKEN (or the variable in token_env), or --token-file",
    "insecure_http=True": "--insecure-http",
    "bot=...": "--bot",
}


def in_flags(error: CommandsyncError) -> CommandsyncError:
    """Rename arguments to flags in the hint of an error."""
    error.hint = hint_in_flags(error.hint)
    return error


def hint_in_flags(hint: str) -> str:
    """Rename arguments to flags in a hint."""
    for argument, flag in _FLAGS.items():
        hint = hint.replace(argument, flag)
    return hint


class ResultLostError(FileError):
    """Standard output cannot be written."""

    def after_writing(self) -> ResultLostError:
        """Return the same error for a run that has changed the listing."""
        return ResultLostError(
            f"{self.message}; the listing was changed", hint="run plan to see what is left"
        )


def print_out(text: str) -> bool:
    """Print on standard output; return whether it still has a reader.

    Raises:
        ResultLostError: It cannot be written.
    """
    try:
        click.echo(text.rstrip("\n"), color=True)
    except OSError as error:
        discard(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise ResultLostError(
                f"cannot write the result: {reason(error)}", hint="write it to another place"
            ) from error
        return False
    return True


def print_err(text: str) -> None:
    """Print on standard error if possible; a run does not end for an error here."""
    try:
        click.echo(text.rstrip("\n"), err=True, color=True)
    except OSError:
        discard(sys.stderr)


def announce_stop() -> None:
    """Print that the run is stopping; a signal may come during another print, so write raw."""
    with suppress(OSError):  # it may have no reader
        os.write(2, _STOPPING)


def discard(stream: TextIO) -> None:
    """Discard all further output to a stream, the interpreter's own flush at exit included."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@dataclass(frozen=True, slots=True)
class LogStream:
    """A stream for log handlers: escaped line by line, since records contain foreign text."""

    show: Callable[[str], None]

    def write(self, text: str) -> None:
        """Print one record."""
        from commandsync.report.escape import visible  # seldom needed

        self.show("\n".join(map(visible, text.splitlines())))

    def flush(self) -> None:
        """Do nothing: it is printed already."""


@dataclass(frozen=True, slots=True)
class Output:
    """How a command prints; the verbosity is below zero for `--quiet`."""

    format: Format = "text"
    color: Color = "auto"
    verbosity: int = 0
    full: bool = False

    def __post_init__(self) -> None:
        """Show the client's log with `-vv`, for the rest of the run."""
        if self.verbosity >= _REQUESTS:
            import logging  # seldom needed

            logging.basicConfig(stream=LogStream(print_err), format="%(message)s")
            logging.getLogger("commandsync").setLevel(logging.DEBUG)

    def result(self, text: str) -> bool:
        """Print a result, as `print_out` does."""
        return print_out(text) if text else True

    def talk(self, text: str, *, at: int = 0) -> None:
        """Print a message on standard error, if the verbosity is at least `at`."""
        if text and self.verbosity >= at:
            print_err(text)

    def notices(self, notices: Sequence[Notice]) -> None:
        """Print notices on standard error."""
        self.talk(report.render_notices(notices, screen=self.screen(sys.stderr)))

    def failure(self, error: CommandsyncError, *, kind: str = "") -> None:
        """Print an error: on standard error; in a format for programs, on standard output.

        A `kind` is needed where it does not follow from the error.
        """
        lost = isinstance(error, ResultLostError)
        form: Format = "text" if lost or self.format == "markdown" else self.format
        screen = self.screen(sys.stderr)
        text = report.render_failure(in_flags(error), format=form, screen=screen, kind=kind)
        if form == "text":
            print_err(text)
            return
        try:
            print_out(text)
        except ResultLostError:
            print_err(text)

    def screen(self, stream: TextIO, *, whole: bool = False) -> report.Screen:
        """Return the colours that a stream gets, and its columns.

        With `whole`, `--quiet` leaves nothing out: a question is about what is shown.
        """
        is_terminal = stream.isatty()
        color = is_terminal and not os.environ.get("NO_COLOR")
        if self.color != "auto":
            color = self.color == "always"
        width = shutil.get_terminal_size().columns if is_terminal else None
        return report.Screen(color, width, self.full, self.verbosity < 0 and not whole)

    @property
    def interactive(self) -> bool:
        """Whether questions can be asked."""
        return sys.stdin.isatty() and sys.stderr.isatty()
