"""`commandsync commands`: the bot's listed commands, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Group
from commandsync.cli.options import call_options
from commandsync.cli.records import add_record_commands
from commandsync.records.texts import Resource

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.group("commands", cls=Group)
def commands_command() -> None:
    """List the bot's commands, and change single ones.

    Where a manifest describes the listing, change the manifest: the next apply undoes changes
    that are made here.

    \b
    Example:
      commandsync commands list
      commandsync commands edit 64f0c2a91be34d5a7c0e8812 --category Help
    """


add_record_commands(
    commands_command,
    Resource.COMMAND,
    sample="--name ping --description Pong. --syntax /ping",
)


@commands_command.command("set-uses")
@click.argument("identifier", metavar="ID")
@click.argument("uses", type=click.IntRange(0))
@call_options
@click.pass_obj
def set_uses_command(
    signals: Signals, *, settings: Settings, output: Output, identifier: str, uses: int
) -> int:
    """Set how often a command was used; 0 is allowed.

    \b
    Example:
      commandsync commands set-uses 64f0c2a91be34d5a7c0e8812 1840
    """
    from commandsync.cli.call import open_writer, quoted

    with open_writer(settings, signals, output, Resource.COMMAND) as writer:
        return writer.write(
            lambda: writer.client.set_uses(identifier, uses),
            lambda _: (
                f"{quoted('', identifier)}: used {uses:,} times",
                {"id": identifier, "uses": uses},
            ),
        )
