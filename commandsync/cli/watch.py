"""`commandsync watch`: events as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.calling import calling
from commandsync.cli.options import call_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.command("watch")
@click.option(
    "--exec",
    "program",
    metavar="CMD",
    help="Run this for every event, which is JSON on its standard input; no shell.",
)
@call_options
@click.pass_obj
def watch_command(
    signals: Signals, *, settings: Settings, output: Output, program: str | None
) -> int:
    """Show votes and other events as they come, until Ctrl-C.

    A lost connection is made again. With --format json each line is one JSON object. A command
    that is run prints on standard error, does not inherit the token, and the next event waits
    for its end.

    \b
    Example:
      commandsync watch
      commandsync watch --format json >> events.jsonl
      commandsync watch --exec "python thank.py"
    """
    from commandsync.cli.watching import (  # noqa: PLC0415 - loads logging
        Program,
        environment_without,
        program_of,
        watched,
    )

    words = program_of(program) if program is not None else ()
    with calling(settings, with_token=True) as (client, site):
        run = Program(words, environment_without(site.token_from))
        return watched(client, run, output=output, signals=signals)
