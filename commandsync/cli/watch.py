"""`commandsync watch`: events as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import call_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.command("watch", cls=Command)
@click.option(
    "--exec",
    "program",
    metavar="CMD",
    help="Run this for each event, which is JSON on its standard input; no shell.",
)
@call_options
@click.pass_obj
def watch_command(
    signals: Signals, *, settings: Settings, output: Output, program: str | None
) -> int:
    """Show votes and other events as they come, until Ctrl-C.

    A lost connection is opened again. With --format json each line is one JSON object. A program
    that --exec runs prints on standard error and does not inherit the token. The next event waits
    until the program ends.

    \b
    Example:
      commandsync watch
      commandsync watch --format json >> events.jsonl
      commandsync watch --exec "python thank.py"
    """
    from commandsync.cli.call import open_client
    from commandsync.cli.events import Program, environment_without, show_events, words_of
    from commandsync.sync.job import calls_of

    words = words_of(program) if program is not None else ()
    with open_client(settings, with_token=True) as (client, site):
        run = Program(words, environment_without(site.token_from))
        on_wait = calls_of(settings, site)
        return show_events(client, run, output=output, signals=signals, on_wait=on_wait)
