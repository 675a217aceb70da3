"""The program: its commands, and the exit code of a run.

It loads little more than click, for `--version` and `--help`; a command loads when it is called.
"""

import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import click

from commandsync.cli.options import Group
from commandsync.sync import process
from commandsync.sync.process import redacted_outputs
from commandsync.version import __version__

EPILOG = """\b
Exit codes:
  0  done, or nothing to do
  1  failed; no listing was changed: no write was sent, or a read shows it
  2  wrong usage
  3  changes are pending (plan --detailed-exitcode, import --check,
     docs --check), or names differ (doctor)
  4  the manifest is invalid
  5  refused for safety
  6  incomplete: something was or may have been written, and not all is done
  130, 143  interrupted; requests in flight were finished
"""

GROUPS = {
    "Sync": {
        "init": "Write the first manifest of a bot; never over an existing file.",
        "validate": "Check manifests, with no network and no token.",
        "plan": "Show the changes that apply would make; nothing is written.",
        "apply": "Make the listing match the manifest.",
        "pull": "Print a manifest of the listed records.",
    },
    "From your code": {
        "import": "Write the commands of the bot's code or platform beside the manifest.",
        "docs": "Write the command list into Markdown, HTML and JSON files.",
        "changes": "Describe the changes since an earlier version for users.",
        "announce": "Print an announcement for the manifest, or post it.",
    },
    "Your own service": {
        "serve": "Run a listing service on this machine.",
        "bots, vote": "Manage its bots, and cast votes there.",
        "demo": "Show every step, from validate to pull.",
    },
    "More": {
        "doctor": "Check the settings, the service and the token.",
        "listings, schema": "Show the abilities of services, or a JSON Schema.",
        "completion": "Print a script that completes commands in a shell.",
    },
}
"""The commands by their use: the names in a line of the help, and their purpose."""

COMMANDS = [name for group in GROUPS.values() for names in group for name in names.split(", ")]
"""The names of the commands, in the same order."""

# A plugin of pydantic that is installed here would see every record, and takes time to find.
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")


class _Commands(Group):
    """A group that loads a command when it is called, and none to list them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return COMMANDS

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        module = import_module(f"commandsync.cli.{name}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command as any group does; `version` is `--version`."""
        if args == ["version"] and not ctx.resilient_parsing:
            click.echo(_VERSION % {"prog": "commandsync", "version": __version__})
            ctx.exit()
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()))


_VERSION = "%(prog)s %(version)s"
_HELP = {"help_option_names": ["-h", "--help"], "max_content_width": sys.maxsize}


@click.group(cls=_Commands, epilog=EPILOG, context_settings=_HELP)
@click.version_option(__version__, "-V", "--version", prog_name="commandsync", message=_VERSION)
def program() -> None:
    """Keep a bot's public command list in commands.yaml.

    \b
      commandsync init            write a manifest of listed records, or a starter
      commandsync validate        check it, offline
      commandsync plan            show the changes to the bot's page
      commandsync apply           make the page match
    """


def main(early: Sequence[int]) -> NoReturn:
    """Run the command line with the arguments of the process, and exit with its code."""
    _prepare_streams()
    os.environ.setdefault(*NO_PLUGINS)
    gc.set_threshold(200_000, 20, 20)  # large manifests are large trees and no garbage
    code = run(sys.argv[1:], early)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def _prepare_streams() -> None:
    """Open the null device for closed streams, and let both outputs carry any text.

    Without it a socket would take the number of a closed stream. Windows consoles and the C locale
    are not in UTF-8. With PYTHONUNBUFFERED, Python does not notice that a disk took only a part.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - without pathlib; stays open
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
            if isinstance(stream.buffer, io.RawIOBase):
                whole = io.BufferedWriter(stream.buffer)
                again = io.TextIOWrapper(whole, "utf-8", "backslashreplace", line_buffering=True)
                setattr(sys, name, again)


def run(arguments: Sequence[str], early: Sequence[int] = ()) -> int:
    """Run one command, unless a signal came before, and return the exit code."""
    code = 0
    with process.handled(armed=False) as handler:
        try:
            handler.arm(early)
            code = _called(arguments, handler)
            handler.disarm()
        except process.Interruption:
            handler.disarm()
            _show_interruption(arguments)
    return handler.code(code)


def _show_interruption(arguments: Sequence[str]) -> None:
    """Print that a signal ended the run before it wrote anything.

    This imports nothing: where the signal came during an import, packages are half loaded.
    """
    stream, text = sys.stderr, "error: interrupted; no listing was changed"
    pairs = zip(arguments, [*arguments, ""][1:], strict=True)
    if any(pair == ("--format", "json") or pair[0] == "--format=json" for pair in pairs):
        error = (
            '{"kind": "interrupted", "message": "interrupted; no listing was changed", "hint": ""}'
        )
        stream, text = sys.stdout, f'{{"version": 1, "error": {error}, "problems": []}}'
    with suppress(OSError):  # it may have no reader
        print(text, file=stream, flush=True)


def _called(arguments: Sequence[str], handler: process.Signals) -> int:
    """Call a command; show its error, if any, and return the exit code."""
    with redacted_outputs(os.environ, arguments):
        try:
            with process.unwrapped():
                code: Any = program.main(
                    list(arguments), prog_name="commandsync", standalone_mode=False, obj=handler
                )
        except SystemExit:  # click met a closed pipe: its reader has seen enough
            from commandsync.cli.output import discard

            discard(sys.stdout)
            return 0
        except Exception as error:  # noqa: BLE001 - a defect is reported in words
            from commandsync.cli.output import show_failure

            return show_failure(error, arguments, writing=handler.writing)
        return code if isinstance(code, int) else 0
