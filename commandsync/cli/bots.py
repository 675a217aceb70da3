"""`commandsync bots`: the bots of a service.

`bots list` and `bots show` work on any service; `bots add`, `token` and `remove` change the
database of an embedded one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Unpack

import click

from commandsync.cli.options import (
    SERVICE,
    Group,
    Run,
    RunCommand,
    ServiceArguments,
    database_option,
    option,
    options,
    yes_option,
)
from commandsync.sync.setting import FILES, RETRIES


class _Bots(Group):
    """The commands for bots; the ones for your own service have a heading of their own."""

    command_class: type[click.Command] | None = RunCommand
    sections: ClassVar[Mapping[str, Sequence[str]]] = {
        "Any service": ["list", "show"],
        "Your own service": ["add", "token", "remove"],
    }


@click.group("bots", cls=_Bots)
def bots_command() -> None:
    """Show the bots that the service lists, and manage those of your own service.

    \b
    Example:
      commandsync bots list
      commandsync bots show
      commandsync bots add 812045337190064138 --name Harbor
    """


@bots_command.command("list", formats=("text", "json"))
@options(FILES, *SERVICE, RETRIES)
def list_command(
    run: Run,
    /,
    *,
    files: tuple[str, ...],
    retries: int,
    **service: Unpack[ServiceArguments],
) -> None:
    """List all bots.

    \b
    Example:
      commandsync bots list --format json
    """
    from commandsync.cli.call import open_client, show_call
    from commandsync.report.records import bots_table

    settings = replace(run.settings, files=files, retries=retries, **service)
    with open_client(settings, of_bot=False) as (client, site):
        bots = tuple(client.iter_bots())
        page = replace(site, bot="")
        show_call(partial(bots_table, bots), site=page, output=run.output, bots=bots)
        if not bots and run.output.format != "json":
            run.output.talk("no bots")


@bots_command.command("show", formats=("text", "json"))
@click.argument("identifier", metavar="[ID]", default="")
@options(FILES, *SERVICE, RETRIES)
def show_command(
    run: Run,
    /,
    *,
    identifier: str,
    files: tuple[str, ...],
    retries: int,
    **service: Unpack[ServiceArguments],
) -> None:
    """Show every field of a bot: yours, or another.

    \b
    Example:
      commandsync bots show
      commandsync bots show 779641401482805289 --format json
    """
    from commandsync.cli.call import open_client, show_call
    from commandsync.report.records import record_table

    settings = replace(run.settings, files=files, retries=retries, **service)
    if identifier:
        settings = replace(settings, bot=identifier, bot_from="ID")
    with open_client(settings) as (client, site):
        listed = client.get_bot()
        show_call(partial(record_table, listed), site=site, output=run.output, listed=listed)


@bots_command.command("add")
@click.argument("identifier", metavar="ID")
@option("--name TEXT", "The bot's name.")
@option("--seed PATH", "A seed file with this bot: its name, texts, numbers and commands.")
@database_option
def add_command(
    run: Run, /, *, identifier: str, name: str | None, seed: str | None, database: str
) -> None:
    """Add a bot to the database of your service, and print its token.

    \b
    Example:
      commandsync bots add 812045337190064138 --name Harbor
      commandsync bots add 812045337190064138 --seed bots.json
    """
    from pathlib import Path

    from commandsync.errors import UsageError
    from commandsync.server.administration import add_bot, stored
    from commandsync.sync.files import refuse_token

    if (name is None) is (seed is None):
        raise UsageError("give either --name or --seed")
    refuse_token(database, [identifier, name or ""])
    with stored(database) as handle:
        added = add_bot(handle, identifier, username=name, seed=Path(seed) if seed else None)
        run.output.result(added.token, with_tokens=True)


@bots_command.command("token")
@click.argument("identifier", metavar="ID")
@option("--new", "Replace the token: only the printed one is valid then.", is_flag=True)
@database_option
def token_command(run: Run, /, *, identifier: str, new: bool, database: str) -> None:
    """Print the token of a bot of your service again, or a new one.

    \b
    Example:
      commandsync bots token 812045337190064138
      commandsync bots token 812045337190064138 --new
    """
    from commandsync.server.administration import find_bot, renew_token, stored

    with stored(database) as handle:
        bot = (renew_token if new else find_bot)(handle, identifier)
        run.output.result(bot.token, with_tokens=True)


@bots_command.command("remove")
@click.argument("identifier", metavar="ID")
@yes_option
@database_option
def remove_command(run: Run, /, *, identifier: str, yes: bool, database: str) -> int:
    """Remove a bot of your service and all its records.

    It asks first on a terminal.

    \b
    Example:
      commandsync bots remove 812045337190064138 --yes
    """
    from commandsync.cli.application import check_terminal, confirm, decline
    from commandsync.errors import Exit
    from commandsync.report.lines import visible
    from commandsync.server.administration import find_bot, remove_bot, stored

    if not yes:
        check_terminal("remove", "--yes removes without asking")
    with stored(database) as handle:
        bot = find_bot(handle, identifier)
        name, which = bot.username, visible(bot.id)
        which = f'"{visible(name)}" ({which})' if name else which
        if not (yes or confirm(f"Remove the bot {which} and all its records?")):
            decline(run.output)
            return Exit.FAILED
        remove_bot(handle, bot.id)
    run.output.result(f"removed {which}")
    return Exit.DONE
