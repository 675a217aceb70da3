"""`commandsync vote`: a vote on an embedded service."""

import click

from commandsync.cli.option import Command, option
from commandsync.cli.options import Run, call_options

_ONLY_HERE = (
    "only a service of `commandsync serve` takes votes in this way: check the base URL and the "
    "bot's id"
)
_UNSUPPORTED = {404, 405}


@click.command("vote", cls=Command)
@click.argument("user", metavar="USER")
@option("--username NAME", "The user's name; without it, the id.", default="")
@option("-y, --yes", "Cast it also on a service that runs on another machine.")
@call_options
def vote_command(run: Run, /, *, user: str, username: str, yes: bool) -> int:
    """Cast a vote for the bot on an embedded service.

    The bot gets the events of a vote: at once, and when the user can vote again. Other services
    cannot do this.

    \b
    Example:
      commandsync vote 80351110224678912 --username Ann
    """
    from commandsync.api.operations import cast_vote
    from commandsync.cli.call import Writer, open_client
    from commandsync.errors import ApiError, UsageError
    from commandsync.report.lines import visible

    with open_client(run.settings, with_token=True) as (client, site):
        if not (yes or site.address.loopback):
            raise UsageError(
                f"{site.address} is a service on another machine",
                hint="to cast a vote there, add --yes",
            )
        operation = cast_vote(site.bot, user, username=username)
        check = "the votes on the bot's page"
        writer = Writer(client.connection, site, run, bot=client.bot, check=check)
        try:
            return writer.write(operation, f"user {visible(user)} voted", user=user, voted=True)
        except ApiError as error:
            hint = _ONLY_HERE if error.status in _UNSUPPORTED else ""
            raise error.having(hint=hint) from error.__cause__
