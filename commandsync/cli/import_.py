"""`commandsync import`: commands from a bot's code or platform into the manifest."""

from functools import partial
from typing import Any

import click

from commandsync.cli.option import PATH, Command, not_empty, option
from commandsync.cli.options import (
    Run,
    file_option,
    format_option,
    max_deletes_option,
    talk_options,
    yes_option,
)

_discord_option = partial(option, section="Discord")


@click.command("import", cls=Command)
@click.argument(
    "sources",
    nargs=-1,
    type=PATH,
    metavar="[SOURCE]...",
    callback=not_empty,
    help="A file, a folder, or the word discord.",
)
@option("--check", "Write nothing; exit 3 if an import would change files.")
@option("--save", "Write the sources into import: of the manifest.")
@max_deletes_option
@option("--prefix TEXT", "The prefix of the bot's commands, for a new manifest.")
@_discord_option("--locale LOCALE", "The language of Discord's texts, such as de.", default="")
@_discord_option(
    "--discord-token-env NAME",
    "The variable that contains the bot's token for Discord.",
    default="DISCORD_TOKEN",
)
@_discord_option(
    "--discord-application ID",
    "The application's id; by default the token's own.",
    default="",
    envvar="DISCORD_APPLICATION_ID",
)
@_discord_option(
    "--discord-url URL",
    "The address of Discord's interface; by default Discord's own.",
    default="",
    envvar="DISCORD_BASE_URL",
)
@yes_option
@file_option
@format_option
@talk_options
def import_command(run: Run, /, **choices: Any) -> int:  # noqa: ANN401 - click has checked them
    """Bring commands from the bot's code or platform into the manifest.

    A SOURCE is the bot's code in Python or JavaScript (read and never run), Discord's commands as
    JSON, a list as JSON or CSV, or the word discord for what the bot has registered. Without one,
    the sources are those in import: of the manifest. Shows the changes and asks first. What was
    edited in the manifest stays.

    \b
    Example:
      commandsync import bot/            # shows, asks, writes
      commandsync import bot/ --prefix "!" --save
      commandsync import discord --yes   # DISCORD_TOKEN is set
      commandsync import --check         # in CI: exits 3 if it would change files
    """
    from commandsync.cli.importation import import_commands

    return import_commands(run, **choices)
