"""`commandsync bots`: the bots that the service lists, and those of a database of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Group
from commandsync.cli.options import (
    call_options,
    database_option,
    paging_options,
    talk_options,
    yes_option,
)
from commandsync.errors import UsageError

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.group("bots", cls=Group)
def bots_command() -> None:
    """Show the bots that the service lists, and manage those of your own service.

    \b
    Example:
      commandsync bots list --q music --sort servers
      commandsync bots show
      commandsync bots add 812045337190064138 --name Harbor
    """


@bots_command.command("list")
@click.option("--q", metavar="TEXT", help="Only bots that match this text.")
@click.option("--sort", metavar="FIELD", help="The field to sort by.")
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only this bot; may be repeated.")
@click.option(
    "--tag", "tags", multiple=True, metavar="TAG", help="Only bots with this tag; may be repeated."
)
@click.option("--certified/--not-certified", default=None, help="Only certified bots, or others.")
@paging_options(limit=12)
@call_options
def list_command(
    *,
    settings: Settings,
    output: Output,
    page: int,
    limit: int,
    every: bool,
    **query: Any,  # noqa: ANN401 - click has checked them
) -> None:
    """List bots, a page of them or all.

    \b
    Example:
      commandsync bots list --limit 100 --page 2
      commandsync bots list --all --format json
    """
    from commandsync.cli.call import open_client, show_records

    with open_client(settings, of_bot=False) as (client, site):
        service = replace(site, bot="")
        if every:
            bots = tuple(client.iter_bots(**query))
            show_records("bots", bots, site=service, output=output)
        else:
            answer = client.list_bots(limit=limit, page=page, **query)
            show_records("bots", answer.bots, site=service, output=output, page=answer.queries)


@bots_command.command("show")
@click.argument("identifier", metavar="[ID]", default="")
@call_options
def show_command(*, settings: Settings, output: Output, identifier: str) -> None:
    """Show every field of a bot: yours, or another.

    \b
    Example:
      commandsync bots show
      commandsync bots show 779641401482805289 --format json
    """
    from commandsync.cli.call import open_client, show_record

    with open_client(replace(settings, bot=identifier or settings.bot)) as (client, site):
        show_record("listed", client.get_bot(), site=site, output=output)


@bots_command.command("add")
@click.argument("identifier", metavar="ID")
@click.option("--name", required=True, metavar="TEXT", help="The bot's name.")
@database_option
@talk_options
def add_command(*, identifier: str, name: str, database: str, output: Output) -> None:
    """Add a bot to the database of your service, and print its token.

    \b
    Example:
      commandsync bots add 812045337190064138 --name Harbor
    """
    from commandsync.server import add_bot, stored

    with stored(database) as handle:
        output.result(add_bot(handle, identifier, username=name).token)


@bots_command.command("token")
@click.argument("identifier", metavar="ID")
@database_option
@talk_options
def token_command(*, identifier: str, database: str, output: Output) -> None:
    """Print the token of a bot of your service again.

    \b
    Example:
      commandsync bots token 812045337190064138
    """
    from commandsync.server import find_bot, stored

    with stored(database) as handle:
        output.result(find_bot(handle, identifier).token)


@bots_command.command("remove")
@click.argument("identifier", metavar="ID")
@yes_option
@database_option
@talk_options
def remove_command(*, identifier: str, yes: bool, database: str, output: Output) -> int:
    """Remove a bot of your service with all its records; asks first on a terminal.

    \b
    Example:
      commandsync bots remove 812045337190064138 --yes
    """
    from commandsync.cli.approval import confirm, decline
    from commandsync.cli.call import quoted
    from commandsync.server import find_bot, remove_bot, stored
    from commandsync.sync.exits import Exit

    if not (yes or output.interactive):
        raise UsageError(
            "remove asks before it writes, and there is no terminal to ask on",
            hint="--yes removes without asking",
        )
    with stored(database) as handle:
        bot = find_bot(handle, identifier)
        which = quoted(bot.username, bot.id)
        if not (yes or confirm(f"Remove the bot {which} and all its records?")):
            decline(output)
            return Exit.FAILED
        remove_bot(handle, bot.id)
    output.result(f"removed {which}")
    return Exit.DONE
