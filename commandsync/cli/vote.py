"""`commandsync vote`: a vote on an embedded service."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import click

from commandsync.cli.options import (
    SERVICE,
    Run,
    RunCommand,
    ServiceArguments,
    option,
    options,
)
from commandsync.sync.setting import FILES, RETRIES

_ONLY_HERE = (
    "only a service of `commandsync serve` takes votes in this way: check the base URL and the "
    "bot's id"
)
_UNSUPPORTED = {404, 405}


@click.command("vote", cls=RunCommand, formats=("text", "json"))
@click.argument("user", metavar="USER")
@option("--username NAME", "The user's name; without it, the id.", default="")
@option("-y, --yes", "Cast it also on a service that runs on another machine.")
@options(FILES, *SERVICE, RETRIES)
def vote_command(
    run: Run,
    /,
    *,
    user: str,
    username: str,
    yes: bool,
    files: tuple[str, ...],
    retries: int,
    **service: Unpack[ServiceArguments],
) -> int:
    """Cast a vote for the bot on an embedded service.

    The bot gets the events of a vote: at once, and when the user can vote again. Other services
    cannot do this.

    \b
    Example:
      commandsync vote 80351110224678912 --username Ann
    """
    from commandsync.api.operations import cast_vote
    from commandsync.cli.call import open_client, write_alone
    from commandsync.errors import ApiError, UsageError
    from commandsync.report.lines import visible

    settings = replace(run.settings, files=files, retries=retries, **service)
    with open_client(settings, with_token=True) as (client, site):
        if not (yes or site.address.loopback):
            raise UsageError(
                f"{site.address} is a service on another machine",
                hint="to cast a vote there, add --yes",
            )
        operation = cast_vote(site.bot, user, username=username)
        try:
            return write_alone(
                operation,
                client.connection,
                site,
                run,
                bot=client.bot,
                check="the votes on the bot's page",
                sentence=f"user {visible(user)} voted",
                user=user,
                voted=True,
            )
        except ApiError as error:
            hint = _ONLY_HERE if error.status in _UNSUPPORTED else ""
            raise error.having(hint=hint) from error.__cause__
