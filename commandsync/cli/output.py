"""Standard output for results, standard error for everything else."""

import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple, TextIO

import click

from commandsync import report
from commandsync.cli.wording import OPTIONS
from commandsync.diagnostics import Hint, Notice
from commandsync.errors import CommandsyncError, FileError
from commandsync.report import Format
from commandsync.report.escape import visible
from commandsync.sync.files import reason
from commandsync.sync.process import unredacted

Color = Literal["auto", "always", "never"]

_REQUESTS = 2  # -vv


class ResultLostError(FileError):
    """Standard output cannot be written."""

    def after_writing(self) -> "ResultLostError":
        """Return the same error for a run that has changed the listing."""
        return ResultLostError(
            f"{self.message}; the listing was changed", hint="run plan to see what is left"
        )


def print_out(text: str, *, with_tokens: bool = False) -> bool:
    """Print on standard output, or raise `ResultLostError`; return whether it has a reader."""
    try:
        stream = unredacted(sys.stdout) if with_tokens else sys.stdout
        click.echo(text.rstrip("\n"), file=stream, color=True)
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


def discard(stream: TextIO) -> None:
    """Discard all further output to a stream, the interpreter's own flush at exit included."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


@contextmanager
def log_handled_by(handler: logging.Handler) -> Iterator[None]:
    """Pass the client's log to a handler too, as long as the block lasts."""
    log = logging.getLogger("commandsync")
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class LogStream(NamedTuple):
    """A stream for log handlers: escaped line by line, since records contain foreign text."""

    show: Callable[[str], None]

    def write(self, text: str) -> None:
        """Print one record."""
        self.show("\n".join(map(visible, text.splitlines())))


@dataclass(frozen=True, slots=True)
class Output:
    """How a command prints; the verbosity is below zero for `--quiet`."""

    format: Format = "text"
    color: Color = "auto"
    verbosity: int = 0
    full: bool = False

    def __post_init__(self) -> None:
        """Say hints in options, and show logs with `-v`, the client's with `-vv`, from now on."""
        Hint.words = OPTIONS
        if self.verbosity > 0:
            logging.basicConfig(stream=LogStream(print_err), format="%(message)s")
        if self.verbosity >= _REQUESTS:
            logging.getLogger("commandsync").setLevel(logging.DEBUG)

    def result(self, text: str, *, with_tokens: bool = False) -> bool:
        """Print a result, as `print_out` does; `with_tokens` if tokens are what was asked for."""
        return print_out(text, with_tokens=with_tokens) if text else True

    def talk(self, text: str, *, at: int = 0) -> None:
        """Print a message on standard error, if the verbosity is at least `at`."""
        if text and self.verbosity >= at:
            print_err(text)

    def notices(self, notices: Sequence[Notice]) -> None:
        """Print notices on standard error."""
        self.talk(report.render_notices(notices, screen=self.screen(sys.stderr)))

    def failure(self, error: CommandsyncError) -> None:
        """Print an error: on standard error; in a format for programs, on standard output."""
        lost = isinstance(error, ResultLostError)
        form: Format = "text" if lost or self.format == "markdown" else self.format
        text = report.render_failure(error, format=form, screen=self.screen(sys.stderr))
        if form != "text":
            with suppress(ResultLostError):
                print_out(text)
                return
        print_err(text)

    def screen(self, stream: TextIO | None = None, *, whole: bool = False) -> report.Screen:
        """Return the colours that a stream gets, by default standard output, and its columns.

        With `whole`, `--quiet` leaves nothing out: a question is about what is shown.
        """
        is_terminal = (stream or sys.stdout).isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = is_terminal and not plain
        if self.color != "auto":
            color = self.color == "always"
        width = shutil.get_terminal_size().columns if is_terminal else None
        return report.Screen(color, width, self.full, self.verbosity < 0 and not whole)
