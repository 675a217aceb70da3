"""`commandsync commands`: the bot's listed commands, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.calling import calling
from commandsync.cli.options import call_options, yes_option
from commandsync.cli.telling import called, found, tell_records
from commandsync.cli.writing import agreed, check_asking, writing, written
from commandsync.errors import UsageError
from commandsync.sync.exits import Exit

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals

_LOOK = "commands list"


@click.group("commands")
def commands_command() -> None:
    """List the bot's commands, and change single ones by hand.

    A listing that a manifest describes is better changed there: the next apply undoes what was
    done here.

    \b
    Example:
      commandsync commands list
      commandsync commands edit 64f0c2a91be34d5a7c0e8812 --description "Shows the help menu."
    """


@commands_command.command("list")
@call_options
def list_command(*, settings: Settings, output: Output) -> None:
    """List the commands, ids included.

    \b
    Example:
      commandsync commands list --format json
    """
    with calling(settings) as (client, site):
        listed = client.get_commands()
    tell_records("commands", listed, site=site, output=output)


@commands_command.command("add")
@click.option("--name", required=True, metavar="TEXT", help="What it is called.")
@click.option("--description", required=True, metavar="TEXT", help="What it does.")
@click.option("--syntax", required=True, metavar="TEXT", help="How it is used.")
@click.option("--category", metavar="TEXT", help="The group it is shown in.")
@call_options
@click.pass_obj
def add_command(  # noqa: PLR0913 - one for each option
    signals: Signals,
    *,
    settings: Settings,
    output: Output,
    name: str,
    description: str,
    syntax: str,
    category: str | None,
) -> int:
    """Add a command.

    It is never sent twice: when its answer is lost, look whether it is listed.

    \b
    Example:
      commandsync commands add --name ping --description "Says pong." --syntax /ping
    """
    with writing(settings, signals, output, look=_LOOK) as desk:
        return written(
            desk,
            lambda: desk.client.add_command(name, description, syntax, category),
            lambda new: (f"added {called(name, new)}", {"added": new or None}),
        )


@commands_command.command("edit")
@click.argument("identifier", metavar="ID")
@click.option("--name", metavar="TEXT", help="What it is called.")
@click.option("--description", metavar="TEXT", help="What it does.")
@click.option("--syntax", metavar="TEXT", help="How it is used.")
@click.option("--category", metavar="TEXT", help="The group it is shown in; empty for none.")
@call_options
@click.pass_obj
def edit_command(
    signals: Signals,
    /,
    *,
    settings: Settings,
    output: Output,
    identifier: str,
    **fields: str | None,
) -> int:
    """Edit a command; what is not named stays as it is.

    The command is read first, since the service wants all of its fields.

    \b
    Example:
      commandsync commands edit 64f0c2a91be34d5a7c0e8812 --name latency --category ""
    """
    given = {name: text for name, text in fields.items() if text is not None}
    if not given:
        raise UsageError("nothing to edit", hint="give --name, --description, --syntax, --category")
    with writing(settings, signals, output, look=_LOOK) as desk:
        old = found(identifier, desk.client.get_commands(), what="command")
        new = {name: given.get(name, getattr(old, name)) for name in fields}
        return written(
            desk,
            lambda: desk.client.edit_command(identifier, **new),
            lambda _: (f"edited {called(new['name'], identifier)}", {"edited": identifier}),
        )


@commands_command.command("delete")
@click.argument("identifier", metavar="ID")
@yes_option
@call_options
@click.pass_obj
def delete_command(
    signals: Signals, *, settings: Settings, output: Output, identifier: str, yes: bool
) -> int:
    """Delete a command; asks first on a terminal.

    \b
    Example:
      commandsync commands delete 64f0c2a91be34d5a7c0e8812 --yes
    """
    check_asking(output, yes=yes)
    with writing(settings, signals, output, look=_LOOK) as desk:
        old = found(identifier, desk.client.get_commands(), what="command")
        which = called(old.name, identifier)
        if not (yes or agreed(f"Delete the command {which}?", output)):
            return Exit.FAILED
        return written(
            desk,
            lambda: desk.client.delete_command(identifier),
            lambda _: (f"deleted {which}", {"deleted": identifier}),
        )


@commands_command.command("set-uses")
@click.argument("identifier", metavar="ID")
@click.argument("uses", type=click.IntRange(0))
@call_options
@click.pass_obj
def set_uses_command(
    signals: Signals, *, settings: Settings, output: Output, identifier: str, uses: int
) -> int:
    """Set how often a command was used; 0 is a number too.

    \b
    Example:
      commandsync commands set-uses 64f0c2a91be34d5a7c0e8812 1840
    """
    with writing(settings, signals, output, look=_LOOK) as desk:
        return written(
            desk,
            lambda: desk.client.set_uses(identifier, uses),
            lambda _: (
                f"{called('', identifier)}: used {uses:,} times",
                {"id": identifier, "uses": uses},
            ),
        )
