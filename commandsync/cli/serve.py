"""`commandsync serve`: the embedded listing service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.options import PATH, database_option, talk_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.cli.output import Output
    from commandsync.server import SeededBot


@click.command("serve")
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
@talk_options
def serve_command(*, seed: str | None, vote_interval: int, output: Output, **listen: Any) -> None:  # noqa: ANN401 - click has checked them
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

    from commandsync.server import serve

    def on_ready(url: str, bots: Sequence[SeededBot]) -> None:
        output.result(f"listening on {url}")
        for bot in bots:
            output.result(f"bot {bot.id} ({bot.username}): {bot.token}")
        sys.stdout.flush()

    serve(
        seed=None if seed is None else Path(seed),
        vote_interval=timedelta(seconds=vote_interval),
        on_ready=on_ready,
        access_log=output.verbosity > 0,
        **listen,
    )
