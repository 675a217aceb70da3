"""`commandsync watch`: events as they come."""

import click

from commandsync.cli.help import Command
from commandsync.cli.option import option
from commandsync.cli.options import Run, call_options


@click.command("watch", cls=Command)
@option(
    "--exec CMD",
    "Run this for each event, which is JSON on its standard input; no shell.",
    dest="program",
)
@call_options
def watch_command(run: Run, /, *, program: str | None) -> int:
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
    with open_client(run.settings, with_token=True) as (client, site):
        called = Program(words, environment_without(site.token_from))
        on_wait = calls_of(run.settings, site)
        return show_events(client, called, run, on_wait=on_wait)
