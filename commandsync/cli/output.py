"""Where words go: results to stdout, talk to stderr, both in UTF-8 on every console."""

from __future__ import annotations

import io
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

import click

from commandsync import report
from commandsync.errors import FileError
from commandsync.sync.files import reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.diagnostics import Notice
    from commandsync.errors import CommandsyncError
    from commandsync.report import Format


Color = Literal["auto", "always", "never"]

_REQUESTS = 2  # -vv


class ResultLostError(FileError):
    """Standard output cannot be written."""

    def after_writing(self) -> ResultLostError:
        """Return the same of a run that has changed the listing."""
        return ResultLostError(
            f"{self.message}; the listing was changed", hint="run plan to see what is left"
        )


def open_closed() -> None:
    """Put nothing in the place of closed streams, so that no socket ever takes their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - stays open


def speak_utf8() -> None:
    """Let both streams carry any text: Windows consoles and the C locale would not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def print_out(text: str) -> bool:
    """Print on standard output; whoever reads it may have seen enough and be gone.

    Returns:
        Whether somebody still reads.

    Raises:
        ResultLostError: It cannot be written.
    """
    try:
        click.echo(text.rstrip("\n"), color=True)
    except OSError as error:
        forget(sys.stdout)
        if not isinstance(error, BrokenPipeError):
            raise ResultLostError(
                f"cannot write the result: {reason(error)}", hint="write it to another place"
            ) from error
        return False
    return True


def print_err(text: str) -> None:
    """Print on standard error, if it still can be; a run does not end in the middle for that."""
    try:
        click.echo(text.rstrip("\n"), err=True, color=True)
    except OSError:
        forget(sys.stderr)


def forget(stream: TextIO) -> None:
    """Let what is still printed, the interpreter's own flush at exit included, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@dataclass(frozen=True, slots=True)
class Output:
    """How a command speaks.

    Attributes:
        format: The form of results on stdout.
        color: `auto` colours on a terminal, unless `NO_COLOR` is set.
        verbosity: Below zero for quiet, above for more talk.
    """

    format: Format = "text"
    color: Color = "auto"
    verbosity: int = 0

    def __post_init__(self) -> None:
        """Let the client's log be heard at `-vv`."""
        if self.verbosity >= _REQUESTS:
            from commandsync.cli import logs  # noqa: PLC0415 - seldom needed

            logs.show_all(print_err)

    def result(self, text: str) -> bool:
        """Print a result.

        Returns:
            Whether somebody still reads.

        Raises:
            ResultLostError: It cannot be written.
        """
        return print_out(text) if text else True

    def talk(self, text: str, *, at: int = 0) -> None:
        """Say something on stderr, if the user wants to hear that much."""
        if text and self.verbosity >= at:
            print_err(text)

    def notices(self, notices: Sequence[Notice]) -> None:
        """Say what is worth knowing on stderr."""
        self.talk(report.render_notices(notices, color=self.colored(sys.stderr)))

    def failure(self, error: CommandsyncError, *, kind: str = "") -> None:
        """Print an error: on stderr, but where machines read stdout, there.

        Args:
            error: What went wrong.
            kind: What sort of failure it is, where the error does not say.
        """
        lost = isinstance(error, ResultLostError)
        form: Format = "text" if lost or self.format == "markdown" else self.format
        color = self.colored(sys.stderr)
        text = report.render_failure(error, format=form, color=color, kind=kind)
        if form == "text":
            print_err(text)
            return
        try:
            print_out(text)
        except ResultLostError:
            print_err(text)

    def colored(self, stream: TextIO) -> bool:
        """Whether a stream gets colours."""
        if self.color != "auto":
            return self.color == "always"
        return stream.isatty() and not os.environ.get("NO_COLOR")

    def width(self, stream: TextIO) -> int | None:
        """Return how many columns a stream has; None when it is not a terminal."""
        return shutil.get_terminal_size().columns if stream.isatty() else None

    @property
    def interactive(self) -> bool:
        """Whether somebody is there to answer a question."""
        return sys.stdin.isatty() and sys.stderr.isatty()
