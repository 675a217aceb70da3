"""What a command raises, as a message and an exit code."""

import logging
import sys
from collections.abc import Sequence
from typing import Any, get_args

import click

from commandsync.cli.output import Color, Output, discard, print_err
from commandsync.errors import CommandsyncError, Exit, UsageError
from commandsync.report import Format
from commandsync.sync.files import reason


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
    """Return click's error in the form of all others, with what to do about it."""
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
    """Return what the value of a parameter must be, if it is a number in a range."""
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
