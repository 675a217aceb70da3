"""`commandsync serve`: the embedded listing service."""

from __future__ import annotations

from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command, Option
from commandsync.cli.options import PATH, database_option, talk_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.cli.output import Output
    from commandsync.server import SeededBot


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
    help="A JSON file of bots to create; their tokens are printed.",
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
    vote_interval: int,
    output: Output,
    **options: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """Run a listing service on this machine.

    It has a real database, so that everything can be tried with no account.

    \b
    Example:
      commandsync serve --seed examples/seed.json
      export COMMANDSYNC_BASE_URL=http://127.0.0.1:8000
    """
    import sys
    from datetime import timedelta
    from pathlib import Path

    from commandsync.server import Conditions, serve

    given = {name: options.pop(name) for name in CONDITIONS}
    conditions = Conditions(**{name: value for name, value in given.items() if value is not None})

    def on_ready(url: str, bots: Sequence[SeededBot]) -> None:
        output.result(f"listening on {url}")
        for bot in bots:
            output.result(f"bot {bot.id} ({bot.username}): {bot.token}")
        sys.stdout.flush()

    for line in conditions.described():
        output.talk(line)
    serve(
        seed=None if seed is None else Path(seed),
        vote_interval=timedelta(seconds=vote_interval),
        conditions=conditions,
        on_ready=on_ready,
        access_log=output.verbosity > 0,
        **options,
    )
