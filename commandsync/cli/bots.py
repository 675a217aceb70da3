"""`commandsync bots`: what the service lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.calling import calling
from commandsync.cli.options import call_options, paging_options
from commandsync.cli.telling import tell_record, tell_records

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings


@click.group("bots")
def bots_command() -> None:
    """Look at the bots that the service lists.

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
def list_command(  # noqa: PLR0913 - one for each option
    *,
    settings: Settings,
    output: Output,
    q: str | None,
    sort: str | None,
    ids: tuple[str, ...],
    tags: tuple[str, ...],
    certified: bool | None,
    page: int,
    limit: int,
    every: bool,
) -> None:
    """List bots, a page of them or all.

    \b
    Example:
      commandsync bots list --limit 100 --page 2
      commandsync bots list --all --format json
    """
    wanted: dict[str, Any] = {
        "q": q,
        "sort": sort,
        "ids": ids,
        "tags": tags,
        "certified": certified,
    }
    with calling(settings, of_bot=False) as (client, site):
        about = replace(site, bot="")
        if every:
            bots = tuple(client.iter_bots(**wanted))
            tell_records("bots", bots, site=about, output=output)
        else:
            some = client.list_bots(limit=limit, page=page, **wanted)
            tell_records("bots", some.bots, site=about, output=output, page=some.queries)


@bots_command.command("show")
@click.argument("identifier", metavar="[ID]", default="")
@call_options
def show_command(*, settings: Settings, output: Output, identifier: str) -> None:
    """Show all that is known of a bot: yours, or another.

    \b
    Example:
      commandsync bots show
      commandsync bots show 779641401482805289 --format json
    """
    with calling(replace(settings, bot=identifier or settings.bot)) as (client, site):
        tell_record("listed", client.get_bot(), site=site, output=output)
