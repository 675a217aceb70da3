"""`commandsync serve`: the embedded listing service."""

from __future__ import annotations

from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command, Option
from commandsync.cli.options import DEFAULT_DATABASE, PATH, database_option, talk_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.cli.output import Output
    from commandsync.server import SeededBot


_MOST_BOTS = 10  # whose lines are printed
CONDITIONS = ("latency", "rate_limit", "fail", "lag", "chaos_seed")


def _rate_limit(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from commandsync.server import parse_rate_limit

        try:
            parse_rate_limit(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, param) from error
    return value


def _not_nan(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is not None and isnan(value):  # click's ranges contain it
        raise click.BadParameter("'nan' is not a number", ctx, param)
    return value


_condition = partial(click.option, cls=Option, section="Conditions")


@click.command("serve", cls=Command)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port; 0 picks a free one.",
)
@database_option
@click.option(
    "--seed",
    type=PATH,
    metavar="PATH",
    help="A JSON file of bots to create if they do not exist.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="The processes that answer; more than one needs PostgreSQL.",
)
@click.option(
    "--vote-interval",
    type=click.IntRange(1, 31_536_000),
    default=43_200,
    show_default=True,
    metavar="SECONDS",
    help="The time until a user can vote for a bot again.",
)
@_condition(
    "--latency",
    type=click.FloatRange(0, 60_000),
    metavar="MS",
    callback=_not_nan,
    help="Milliseconds that every answer takes at least.",
)
@_condition(
    "--rate-limit",
    metavar="LIMIT",
    callback=_rate_limit,
    help="Answer more requests of a client with 429: 30/minute, or 100/5 minutes.",
)
@_condition(
    "--fail",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    callback=_not_nan,
    help="The share of requests that fail, half of them after their work was done; 0.1 is a tenth.",
)
@_condition(
    "--lag",
    type=click.FloatRange(0, 3_600),
    metavar="SECONDS",
    callback=_not_nan,
    help="Seconds until reads show a write.",
)
@_condition(
    "--chaos-seed",
    type=click.IntRange(0),
    metavar="N",
    help="Repeat the failures of another run.",
)
@talk_options
def serve_command(
    *,
    seed: str | None,
    database: str,
    vote_interval: int,
    output: Output,
    **options: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """Run a listing service on this machine.

    It has a real database, so that everything can be tried with no account. A new database file
    gets bots to play with, unless there is a seed. It prints the lines that set the service and a
    bot in another terminal. Only a terminal shows the tokens; elsewhere, where the output may be
    a log, the lines ask the database for them.

    \b
    Example:
      commandsync serve
      commandsync serve --database mine.db --seed bots.json
    """
    import sys
    from datetime import timedelta
    from pathlib import Path

    from commandsync.cli.example import example
    from commandsync.server import Conditions, serve

    given = {name: options.pop(name) for name in CONDITIONS}
    conditions = Conditions(**{name: value for name, value in given.items() if value is not None})

    def on_ready(url: str, bots: Sequence[SeededBot]) -> None:
        shown = sys.stdout.isatty() or database == ":memory:"
        lines = lines_to_paste(url, bots[:_MOST_BOTS], database, with_tokens=shown)
        output.result("\n".join([f"listening on {url}", *lines]))
        sys.stdout.flush()
        if sys.stderr.isatty():
            output.talk(f"\nopen {_reachable(url)} in a browser to see its pages")
        if not bots:
            output.talk("there is no bot yet: commandsync bots add ID --name NAME adds one")
        elif len(bots) > _MOST_BOTS:
            output.talk("there are more bots: commandsync bots token ID prints the token of each")

    for line in conditions.described():
        output.talk(line)
    if seed is None and _is_new(database):
        seed = str(example("seed.json"))
    serve(
        database=database,
        seed=None if seed is None else Path(seed),
        vote_interval=timedelta(seconds=vote_interval),
        conditions=conditions,
        on_ready=on_ready,
        access_log=output.verbosity > 0,
        **options,
    )


def _is_new(database: str) -> bool:
    """Whether a database is a file that serve creates; one of PostgreSQL may be anybody's."""
    from pathlib import Path

    return "://" not in database and not Path(database).exists()


def lines_to_paste(
    url: str, bots: Sequence[SeededBot], database: str, *, with_tokens: bool
) -> Iterator[str]:
    """Yield the lines that set the service, and each bot with its token, in another terminal.

    A terminal shows tokens. Other output may be a log, where no token belongs: the line asks the
    database for it. The database in memory cannot be asked, and its tokens end with the process.
    """
    import shlex

    from commandsync.cli.shell import variable_line
    from commandsync.report.escape import visible

    if bots:
        yield ""
        yield "  " + variable_line("COMMANDSYNC_BASE_URL", _reachable(url))
    elsewhere = database != DEFAULT_DATABASE and "://" not in database  # a URL has a password
    option = f" --database {shlex.quote(database)}" if elsewhere else ""
    for bot in bots:
        token = bot.token if with_tokens else f"commandsync bots token {bot.id}{option}"
        yield ""
        yield f"  # {visible(bot.username)}"
        yield "  " + variable_line("COMMANDSYNC_BOT", bot.id)
        yield "  " + variable_line("COMMANDSYNC_TOKEN", token, is_command=not with_tokens)


def _reachable(url: str) -> str:
    """Return the URL for clients on this machine: no client connects to "all addresses"."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
