"""`commandsync serve`: the embedded listing service."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import IntRange

from commandsync.cli.help import Command
from commandsync.cli.option import Number, option, read_by
from commandsync.cli.options import Run, database_option, talk_options
from commandsync.cli.simulation import (
    QUESTIONS,
    check_options,
    serve_simulation,
    simulation_options,
)
from commandsync.cli.variables import lines_to_paste, reachable

if TYPE_CHECKING:
    from commandsync.server.administration import SeededBot


_MOST_BOTS = 10  # whose lines are printed
CONDITIONS = ("latency", "rate_limit", "fail", "chaos_seed")


def _rate_limit(value: str) -> str:
    from commandsync.server.conditions import parse_rate_limit

    parse_rate_limit(value)
    return value


_condition = partial(option, section="Conditions")


@click.command("serve", cls=Command)
@option("--host TEXT", "The address to listen on.", default="127.0.0.1")
@option("--port N", "The port; 0 picks a free one.", type=IntRange(0, 65535), default=8000)
@option(
    "--host-name NAME",
    "A host name that requests may use, beside localhost and --host; may be repeated.",
    dest="names",
    multiple=True,
)
@database_option
@option("--seed PATH", "A JSON file of bots to create if they do not exist.", callback=None)
@option(
    "--vote-interval SECONDS",
    "The time until a user can vote for a bot again.",
    type=IntRange(1, 31_536_000),
    default=43_200,
)
@_condition(
    "--latency MS", "The minimum time of an answer, in milliseconds.", type=Number(0, 60_000)
)
@_condition(
    "--rate-limit LIMIT",
    "Answer 429 to a client with more requests: 30/minute, or 100/5 minutes.",
    callback=read_by(_rate_limit),
)
@_condition(
    "--fail RATE",
    "The share of requests that fail, half of them after their work was done; 0.1 is a tenth.",
    type=Number(0, 1),
)
@_condition("--chaos-seed N", "Repeat the failures of another run.", type=IntRange(0))
@simulation_options
@talk_options
def serve_command(
    run: Run,
    /,
    *,
    service: str | None,
    seed: str | None,
    database: str,
    vote_interval: int,
    **options: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """Run a listing service on this machine.

    It has a real database, so that everything can be tried with no account. A new database file
    gets bots to play with, unless there is a seed. It prints lines to paste into another terminal:
    they set the service and the first bot; the lines of the other bots are comments. Only a
    terminal shows the tokens; elsewhere, where the output may be a log, the lines ask the database
    for them.

    With --as, it answers as the documents of another listing service say, on this machine only and
    with nothing stored. It prints a token and the lines for the manifest. What the documents leave
    open is chosen with the options of the simulation.

    \b
    Example:
      commandsync serve
      commandsync serve --as top.gg --empty refused
      commandsync serve --database mine.db --seed bots.json
    """
    from commandsync.server.conditions import Conditions
    from commandsync.server.runner import serve

    given = [(name, options.pop(name)) for name in CONDITIONS]
    conditions = Conditions(**{name: value for name, value in given if value is not None})
    choices = {name: options.pop(name) for name in QUESTIONS}
    check_options(service, choices)
    if service is not None:
        port = options["port"]
        serve_simulation(run, service, port=port, conditions=conditions, choices=choices)
        return

    def on_ready(url: str, bots: Sequence[SeededBot]) -> None:
        shown = sys.stdout.isatty() or database == ":memory:"
        lines = lines_to_paste(url, bots[:_MOST_BOTS], database, with_tokens=shown)
        run.output.result("\n".join([f"listening on {url}", *lines]), with_tokens=shown)
        sys.stdout.flush()
        if sys.stderr.isatty():
            run.output.talk(f"\nopen {reachable(url)} in a browser to see its pages")
        if not bots:
            run.output.talk("no bots yet: commandsync bots add ID --name NAME adds one")
        elif len(bots) > _MOST_BOTS:
            run.output.talk(
                "there are more bots: commandsync bots token ID prints the token of each"
            )

    for line in conditions.described():
        run.output.talk(line)
    # A database of PostgreSQL may be anybody's: only a file that is made now gets bots.
    exists = os.path.exists(database)  # noqa: PTH110 - False also for a name that is too long
    if seed is None and "://" not in database and not exists:
        seed = str(example("seed.json"))
    serve(
        database=database,
        seed=None if seed is None else Path(seed),
        vote_interval=timedelta(seconds=vote_interval),
        conditions=conditions,
        on_ready=on_ready,
        access_log=run.output.verbosity > 0,
        **options,
    )


def example(name: str) -> Path:
    """Return the path of an example; raises `UsageError` if it is missing."""
    from commandsync.errors import UsageError

    package = Path(__file__).resolve().parents[1]
    for folder in ("examples", "../examples"):  # in the installed package, in a checkout
        if (path := package / folder / name).is_file():
            return path
    raise UsageError(f"examples/{name} is missing", hint="install commandsync again")
