"""The output of a command: results on standard output, everything else on standard error.

`Output` prints them in the format and the colours that were asked for, with the hints of the core
in the words of the command line (`OPTIONS`). `show_failure` prints the error of a command, and
returns its exit code. `plan` and `apply` show their plans by the last function.
"""

from __future__ import annotations

import logging
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_args

import click

from commandsync import report
from commandsync.diagnostics import Do, Notice, Words
from commandsync.errors import CommandsyncError, Exit, FileError, UsageError
from commandsync.report import Format
from commandsync.report.lines import visible
from commandsync.sync.files import reason
from commandsync.sync.process import unredacted

if TYPE_CHECKING:
    from commandsync.plan.plan import Plan

OPTIONS: Words = {
    Do.ALLOW_DELETES: "if that is meant, allow it with --max-deletes {limit}",
    Do.ALLOW_DELETES_OF_NEW_PLAN: "if that is meant, make a new plan with --max-deletes {limit}",
    Do.APPLY_ALL: "{first}, or apply without --owned",
    Do.APPLY_PLAN: "apply --plan applies it; -f names a manifest",
    Do.BEGIN_IMPORT: (
        "commandsync import SOURCE begins it, where SOURCE is the bot's code; commandsync init "
        "looks for it; -f names another file"
    ),
    Do.DELETE_ALONE: "{mend}; or make the deletes alone, with apply --only NAMES",
    Do.GIVE_BASE_URL: (
        "give --base-url, set COMMANDSYNC_BASE_URL, or write base_url: in the manifest"
    ),
    Do.GIVE_BOT: (
        "give --bot, set COMMANDSYNC_BOT, write bot: in the manifest, or give the token from the "
        "bot's page, which contains the id"
    ),
    Do.GIVE_TOKEN: (
        "give the bot's token: COMMANDSYNC_TOKEN (or the variable in token_env), --token-file, or "
        "--env-file"
    ),
    Do.KEEP_LIMITS: (
        "leave out --file, --max-deletes, --no-prune, --only, --owned and --strict, or make a "
        "new plan"
    ),
    Do.KEEP_TARGET: (
        "leave out --bot, --base-url and --guild (and their variables), or make a new plan"
    ),
    Do.MAKE_PLAN: "make the plan again with plan --out{then}",
    Do.NAME_MANIFEST: "name its file with -f",
    Do.NAME_STATE: "name a file that this user may write, with --state or COMMANDSYNC_STATE",
    Do.POST_LATER: "without --post it is printed for the manifest, and the next apply posts it",
    Do.RENEW_TOKEN: (
        "copy the bot's token again from the service's page into the variable or file"
    ),
    Do.REPLACE_FILE: "--force replaces it",
    Do.REPLACE_UNMATCHED: "{why}; if that is meant, allow it with --unseen",
    Do.REPLACE_UNSEEN: (
        "if that is meant, allow it with --unseen, or compare with the list sent last: --since REF"
    ),
    Do.SET_TOKEN: "set {variable}, or give --token-file",
    Do.UNSET_BOT: "unset {variable}, or choose the bot with --bot",
    Do.USE_ENV_FILE: "{file} has {variable}: give --env-file {file}",
    Do.USE_HTTPS: "use https://, or --insecure-http if you are certain",
    Do.WRITE_STARTER: "commandsync init writes a starter; -f names another file",
}


def command_line(command: str, *words: str, files: Iterable[str] = ()) -> str:
    """Return the line that runs a command of this program on some manifests."""
    named = (word for file in files for word in ("-f", file))
    return shlex.join(["commandsync", command, *named, *words])


Color = Literal["auto", "always", "never"]

_REQUESTS = 2  # -vv


class ResultLostError(FileError):
    """Standard output cannot be written."""

    def after_writing(self) -> ResultLostError:
        """Return the same error for a run that has changed the listing."""
        return ResultLostError(
            f"{self.message}; the listing was changed", hint="run plan to see the remaining changes"
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


class LogStream:
    """A stream for log handlers: escaped line by line, since records contain foreign text."""

    def write(self, text: str) -> None:
        """Print one record."""
        print_err("\n".join(map(visible, text.splitlines())))


@dataclass(frozen=True, slots=True)
class Output:
    """How a command prints; the verbosity is below zero for `--quiet`."""

    format: Format = "text"
    color: Color = "auto"
    verbosity: int = 0
    full: bool = False

    def __post_init__(self) -> None:
        """Show logs with `-v`, the client's with `-vv`, from now on."""
        if self.verbosity > 0:
            logging.basicConfig(stream=LogStream(), format="%(message)s")
        if self.verbosity >= _REQUESTS:
            logging.getLogger("commandsync").setLevel(logging.DEBUG)

    def result(self, text: str, *, with_tokens: bool = False) -> bool:
        """Print a result, as `print_out` does; `with_tokens` if the user asked for tokens."""
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
        """Return how values are shown on a stream, by default standard output.

        With `whole`, `--quiet` leaves nothing out: the user is asked about everything shown.
        """
        is_terminal = (stream or sys.stdout).isatty()
        plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        color = is_terminal and not plain
        if self.color != "auto":
            color = self.color == "always"
        width = shutil.get_terminal_size().columns if is_terminal else None
        quiet = self.verbosity < 0 and not whole
        asks = sys.stdin.isatty() and sys.stderr.isatty()
        return report.Screen(color, width, self.full, quiet, OPTIONS, asks=asks)


def show_failure(error: Exception, arguments: Sequence[str], *, writing: bool) -> int:
    """Print an error of a command, during which writes may be in flight; return its exit code."""
    output = output_of(arguments)
    match error:
        case click.exceptions.NoArgsIsHelpError() if output.format != "json":
            error.show()
            return error.exit_code
        case click.ClickException():
            output.failure(_usage(error))
            return error.exit_code
        case CommandsyncError():
            output.failure(error)
            return error.exit_code
        case OSError():  # click could not print: help, the version, a script to complete
            discard(sys.stdout)
            print_err(f"error: {reason(error)}")
            return Exit.FAILED
        case _:
            logging.getLogger("commandsync").debug("", exc_info=error)
            message = f"this is a defect in commandsync: {type(error).__name__}: {error}"
            hint = "please report it, with the output of -vv"
            output.failure(CommandsyncError(message, hint=hint))
            return Exit.INCOMPLETE if writing else Exit.FAILED


def _usage(error: click.ClickException) -> UsageError:
    """Return click's error in the form of all others, with a hint."""
    ctx = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return UsageError("Missing command", hint=f"see {error.ctx.command_path} --help")
    message = " ".join(error.format_message().split()).removesuffix(".")
    if isinstance(error, click.NoSuchOption) and error.option_name == "--token":
        message = "--token is not an option: other users would see it in the list of processes"
        return UsageError(message, hint="set COMMANDSYNC_TOKEN, or use --token-file")
    if isinstance(error, click.BadParameter) and error.param:
        message = _number(error.param, error.message) or message
    if isinstance(error, click.NoSuchOption) and ctx and isinstance(ctx.command, click.Group):
        hint = f"write options after the command: {ctx.command_path} COMMAND {error.option_name}"
        return UsageError(message, hint=hint)
    return UsageError(message, hint=f"see {ctx.command_path if ctx else 'commandsync'} --help")


def _number(param: click.Parameter, message: str) -> str:
    """Return the range of a parameter's value, if it is a number; else an empty string."""
    if not isinstance(param.type, click.IntRange | click.FloatRange):
        return ""
    name = param.opts[-1] if isinstance(param, click.Option) else str(param.name).upper()
    kind = "whole number" if isinstance(param.type, click.IntRange) else "number"
    least, most = param.type.min, param.type.max
    given, _, _ = message.partition(" is not ")
    return f"{name} must be a {kind} from {least}{f' to {most}' if most else ''}, not {given}"


def output_of(arguments: Sequence[str]) -> Output:
    """Return the output that the bare arguments ask for: an error in the others is shown in it."""
    chosen: dict[str, Any] = {"--format": "text", "--color": "auto"}
    valid = {"--format": get_args(Format), "--color": get_args(Color)}
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        name, _, rest = argument.partition("=")
        value = rest or following
        if value in valid.get(name, ()):
            chosen[name] = value
    return Output(chosen["--format"], chosen["--color"])


def show_plans(
    plans: Sequence[Plan | CommandsyncError], output: Output, *, asks: bool = True
) -> None:
    """Print plans, and the errors of those that could not be made.

    They say that apply asks where a terminal is there, unless this run does not.
    """
    from commandsync.sync.selection import split

    made, errors = split(plans)
    if output.format == "json" and errors:
        output.result(report.render_plans(plans, format="json", screen=output.screen()))
        return
    if made:
        screen = output.screen()
        screen = screen._replace(asks=screen.asks and asks)
        output.result(report.render_plans(made, format=output.format, screen=screen))
    for error in errors:
        output.failure(error)
