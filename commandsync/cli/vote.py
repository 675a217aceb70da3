"""`commandsync vote`: a vote on an embedded service, so that a bot can be tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import call_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_ONLY_HERE = (
    "only a service of `commandsync serve` takes votes in this way: check the base URL and the "
    "bot's id"
)
_UNSUPPORTED = {404, 405}


@click.command("vote", cls=Command)
@click.argument("user", metavar="USER")
@click.option(
    "--username",
    metavar="NAME",
    default="",
    help="The user's name; without it, the id.",
)
@click.option(
    "-y", "--yes", is_flag=True, help="Cast it also on a service that runs on another machine."
)
@call_options
@click.pass_obj
def vote_command(
    signals: Signals, *, settings: Settings, output: Output, user: str, username: str, yes: bool
) -> int:
    """Cast a vote for the bot on an embedded service.

    The bot gets the events of a vote: at once, and when the user can vote again. Other services
    cannot do this.

    \b
    Example:
      commandsync vote 80351110224678912 --username Ann
    """
    from commandsync.api.operations import cast_vote
    from commandsync.cli.call import Writer, open_client, quoted
    from commandsync.errors import ApiError, UsageError

    with open_client(settings, with_token=True) as (client, site):
        if not (yes or site.address.loopback):
            raise UsageError(
                f"{site.address} is a service on another machine",
                hint="to cast a vote there, add --yes",
            )
        operation = cast_vote(site.bot, user, username=username)
        writer = Writer(client, site, signals, output, check="voters list")
        try:
            return writer.write(
                lambda: client.call(operation),
                lambda _: (f"user {quoted('', user)} voted", {"user": user, "voted": True}),
            )
        except ApiError as error:
            if error.status in _UNSUPPORTED:
                error.hint = _ONLY_HERE
            raise
