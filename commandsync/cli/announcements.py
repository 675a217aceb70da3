"""`commandsync announcements`: the bot's listed announcements, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.calling import calling
from commandsync.cli.options import call_options, yes_option
from commandsync.cli.telling import called, found, tell_records
from commandsync.cli.writing import agreed, check_asking, writing, written
from commandsync.sync.exits import Exit

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_LOOK = "announcements list"


@click.group("announcements")
def announcements_command() -> None:
    """List, post and delete the bot's announcements.

    They cannot be edited.

    \b
    Example:
      commandsync announcements list
      commandsync announcements add --title "v2.0 is out" --description "Slash commands."
    """


@announcements_command.command("list")
@call_options
def list_command(*, settings: Settings, output: Output) -> None:
    """List the announcements, ids included.

    \b
    Example:
      commandsync announcements list --format json
    """
    with calling(settings) as (client, site):
        listed = client.get_announcements()
    tell_records("announcements", listed, site=site, output=output)


@announcements_command.command("add")
@click.option("--title", required=True, metavar="TEXT", help="The title.")
@click.option("--description", required=True, metavar="TEXT", help="The text.")
@call_options
@click.pass_obj
def add_command(
    signals: Signals, *, settings: Settings, output: Output, title: str, description: str
) -> int:
    """Post an announcement.

    It is never sent twice: when its answer is lost, look whether it is listed.

    \b
    Example:
      commandsync announcements add --title "v2.0 is out" --description "Slash commands."
    """
    with writing(settings, signals, output, look=_LOOK) as desk:
        return written(
            desk,
            lambda: desk.client.add_announcement(title, description),
            lambda new: (f"added {called(title, new)}", {"added": new or None}),
        )


@announcements_command.command("delete")
@click.argument("identifier", metavar="ID")
@yes_option
@call_options
@click.pass_obj
def delete_command(
    signals: Signals, *, settings: Settings, output: Output, identifier: str, yes: bool
) -> int:
    """Delete an announcement; asks first on a terminal.

    \b
    Example:
      commandsync announcements delete 64f0c2a91be34d5a7c0e8813 --yes
    """
    check_asking(output, yes=yes)
    with writing(settings, signals, output, look=_LOOK) as desk:
        old = found(identifier, desk.client.get_announcements(), what="announcement")
        which = called(old.title, identifier)
        if not (yes or agreed(f"Delete the announcement {which}?", output)):
            return Exit.FAILED
        return written(
            desk,
            lambda: desk.client.delete_announcement(identifier),
            lambda _: (f"deleted {which}", {"deleted": identifier}),
        )
