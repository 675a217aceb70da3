"""`commandsync announcements`: the bot's listed announcements, one by one."""

from __future__ import annotations

import click

from commandsync.cli.help import Group
from commandsync.cli.records import add_record_commands
from commandsync.records.texts import Resource


@click.group("announcements", cls=Group)
def announcements_command() -> None:
    """List, add and delete the bot's announcements.

    The service cannot edit them.

    \b
    Example:
      commandsync announcements list
      commandsync announcements add --title v2.0 --description "Slash commands."
    """


add_record_commands(
    announcements_command,
    Resource.ANNOUNCEMENT,
    sample='--title v2.0 --description "Slash commands."',
)
