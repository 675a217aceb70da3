"""`commandsync voters`: who voted for the bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.calling import calling
from commandsync.cli.options import call_options, paging_options
from commandsync.cli.telling import called, tell, tell_records
from commandsync.sync.exits import Exit

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.group("voters")
def voters_command() -> None:
    """See who voted for the bot.

    \b
    Example:
      commandsync voters list --all
      commandsync voters check 80351110224678912 && echo "voted"
    """


@voters_command.command("list")
@paging_options(limit=100)
@call_options
def list_command(*, settings: Settings, output: Output, page: int, limit: int, every: bool) -> None:
    """List the bot's voters, a page of them or all.

    \b
    Example:
      commandsync voters list
      commandsync voters list --all --format json
    """
    with calling(settings) as (client, site):
        if every:
            voters = tuple(client.iter_voters())
            tell_records("voters", voters, site=site, output=output)
        else:
            some = client.get_voters(page=page, limit=limit)
            queries = some.queries
            tell_records("voters", some.voters, site=site, output=output, page=queries)


@voters_command.command("check")
@click.argument("user", metavar="USER")
@call_options
def check_command(*, settings: Settings, output: Output, user: str) -> int:
    """Say whether a user voted: exit 0 for yes, 3 for no.

    No is said only when the service says so; whatever else happens is a failure.

    \b
    Example:
      commandsync voters check 80351110224678912
    """
    with calling(settings) as (client, site):
        voted = client.check_vote(user)
    said = f"{called('', user)} {'voted' if voted else 'has not voted'}"
    tell(f"user {said}", site=site, output=output, user=user, voted=voted)
    return Exit.DONE if voted else Exit.CHANGES
