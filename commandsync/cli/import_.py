"""`commandsync import`: commands from a bot's code or platform into the manifest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command, Option
from commandsync.cli.options import (
    PATH,
    file_option,
    format_option,
    not_empty,
    talk_options,
    yes_option,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.signals import Signals

_discord_option = partial(click.option, cls=Option, section="Discord")


@click.command("import", cls=Command)
@click.argument(
    "sources",
    nargs=-1,
    type=PATH,
    metavar="[SOURCE]...",
    callback=not_empty,
    help="A file, a folder, or the word discord.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; exit 3 if an import would change files."
)
@_discord_option(
    "--locale", default="", metavar="LOCALE", help="The language of Discord's texts, such as de."
)
@_discord_option(
    "--discord-token-env",
    default="DISCORD_TOKEN",
    show_default=True,
    metavar="NAME",
    help="The variable that contains the bot's token for Discord.",
)
@_discord_option(
    "--discord-application",
    default="",
    envvar="DISCORD_APPLICATION_ID",
    show_envvar=True,
    metavar="ID",
    help="The application's id; by default the token's own.",
)
@_discord_option(
    "--discord-url",
    default="",
    envvar="DISCORD_BASE_URL",
    show_envvar=True,
    metavar="URL",
    help="The address of Discord's interface; by default Discord's own.",
)
@yes_option
@file_option
@format_option
@talk_options
@click.pass_obj
def import_command(signals: Signals, /, *, output: Output, **choices: Any) -> int:  # noqa: ANN401 - click has checked them
    """Bring commands from the bot's code or platform into the manifest.

    A SOURCE is the bot's Python code (read and never run), Discord's commands as JSON, a list as
    JSON or CSV, or the word discord for what the bot has registered. Without one, the sources are
    those in import: of the manifest. Shows the changes and asks first. What was edited in the
    manifest stays.

    \b
    Example:
      commandsync import bot/            # shows, asks, writes
      commandsync import discord --yes   # DISCORD_TOKEN is set
      commandsync import --check         # in CI: exits 3 if it would change files
    """
    from commandsync.cli.importation import import_commands

    return import_commands(output=output, signals=signals, **choices)
