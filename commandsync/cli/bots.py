"""`commandsync bots`: the bots that the service lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.options import call_options, paging_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.group("bots")
def bots_command() -> None:
    """Show the bots that the service lists.

    \b
    Example:
      commandsync bots list --q music --sort servers
      commandsync bots show
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
