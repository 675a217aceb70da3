"""The program: its commands, and what becomes of what they return or raise."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, get_args

import click

from commandsync import __version__
from commandsync.cli.output import Color, Output, forget, open_closed, print_err, speak_utf8
from commandsync.errors import CommandsyncError, UsageError
from commandsync.report import Format
from commandsync.sync import exits, signals
from commandsync.sync.files import reason

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

EPILOG = """\b
Exit codes:
  0  done, or nothing to do
  1  failed; certainly nothing was changed
  2  wrong usage
  3  changes are pending (plan --detailed-exitcode), or no vote (voters check)
  4  the manifest is invalid
  5  refused for safety
  6  incomplete: something was or may have been written, and not all is done
  130, 143  interrupted; what was in flight was finished
"""


class _Commands(click.Group):
    """A group whose commands stand in the order of their use, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in self.commands:
            return None
        module = import_module(f"commandsync.cli.{cmd_name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command


NAMES = (
    *("init", "validate", "plan", "apply", "pull", "schema"),
    *("bots", "voters", "commands", "announcements", "watch"),
    *("serve", "demo"),
)


@click.group(cls=_Commands, commands=[click.Command(name) for name in NAMES], epilog=EPILOG)
@click.version_option(__version__, prog_name="commandsync", message="%(prog)s %(version)s")
def program() -> None:
    """Keep a bot's public command list in commands.yaml.

    \b
      commandsync init            write a manifest of what is listed, or a starter
      commandsync validate        check it, offline
      commandsync plan            see what would change on the bot's page
      commandsync apply           make the page match
    """


def leave(early: Sequence[int]) -> NoReturn:
    """Run the command line with the arguments it was given, and leave with its exit code.

    Args:
        early: The signals that came before.
    """
    open_closed()
    speak_utf8()
    gc.set_threshold(200_000, 20, 20)  # large manifests are large trees and no garbage
    code = run(sys.argv[1:], early)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str], early: Sequence[int] = ()) -> int:
    """Run one command.

    Args:
        arguments: What stands after the program's name.
        early: The signals that came before; the first ends the run.

    Returns:
        The exit code.
    """
    output = _output_of(arguments)
    with signals.handled(armed=False) as handler:
        code: int = exits.Exit.FAILED
        try:
            handler.arm(early)
            code = _called(arguments, handler, output)
            handler.disarm()
        except signals.Interruption:
            error = CommandsyncError("interrupted; nothing was changed")
            output.failure(error, kind="interrupted")
        except Exception as defect:  # noqa: BLE001 - told in words, and never as exit code 1
            output.failure(_told(defect))
            code = exits.Exit.INCOMPLETE if handler.writing else exits.Exit.FAILED
    return signals.of_signal(handler.number) if handler.number else code


def _called(arguments: Sequence[str], handler: signals.Signals, output: Output) -> int:
    """Call a command; say what it raises, and return the exit code."""
    try:
        code: Any = program.main(
            list(arguments), prog_name="commandsync", standalone_mode=False, obj=handler
        )
    except click.ClickException as error:
        return _usage(error, output)
    except CommandsyncError as error:
        output.failure(error)
        return exits.of_error(error)
    except SystemExit:  # click met a closed pipe: who asked for help has seen enough
        forget(sys.stdout)
        return exits.Exit.DONE
    except OSError as error:  # click's own printing: help, the version, a script to complete
        forget(sys.stdout)
        print_err(f"error: {reason(error)}")
        return exits.Exit.FAILED
    return code if isinstance(code, int) else exits.Exit.DONE


def _told(defect: Exception) -> CommandsyncError:
    import logging  # noqa: PLC0415 - takes longer to import than --version to print

    logging.getLogger("commandsync").debug("", exc_info=defect)
    return CommandsyncError(
        f"this is a defect in commandsync: {type(defect).__name__}: {defect}",
        hint="please report it, with what -vv shows",
    )


def _usage(error: click.ClickException, output: Output) -> int:
    if output.format == "json":
        output.failure(UsageError(error.format_message(), hint="see --help"))
    else:
        error.show()
    return error.exit_code


def _output_of(arguments: Sequence[str]) -> Output:
    """Read how to speak from the bare arguments: errors in the others are spoken of as well."""
    form: Any = "text"
    color: Any = "auto"
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    for argument, following in pairs:
        name, _, value = argument.partition("=")
        said = value or following
        if name == "--format" and said in get_args(Format):
            form = said
        elif name == "--color" and said in get_args(Color):
            color = said
    return Output(form, color)
