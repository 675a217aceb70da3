"""`commandsync preview`: the bot's page as it will be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import (
    PATH,
    force_option,
    limit_options,
    not_empty,
    page_options,
    path_option,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.command("preview", cls=Command)
@click.argument("path", required=False, type=PATH, metavar="[PATH]", callback=not_empty)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="The port on this machine.  [default: a free one]",
)
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
@click.option("--offline", is_flag=True, help="Read no listing: everything is new on the page.")
@path_option("--html", "folder", help="Write the page into this folder instead, and end.")
@force_option
@page_options
@limit_options
@click.pass_obj
def preview_command(  # noqa: PLR0913 - the options of the command
    signals: Signals,
    /,
    *,
    settings: Settings,
    output: Output,
    path: str | None,
    port: int,
    no_open: bool,
    offline: bool,
    folder: str | None,
    force: bool,
) -> int:
    """Show the bot's page as it will be, while you edit.

    It applies the manifest PATH to a copy of the listing in memory, again at each save, and marks
    on the page what has changed. Nothing is written to the listing, and no token is needed. Without
    a base URL, or with --offline, the page begins empty. Ctrl-C ends it.

    \b
    Example:
      commandsync preview
      commandsync preview bots/lantern.yaml --no-open --port 8080
      commandsync preview --html site    # in CI: writes site/index.html
    """
    from commandsync.cli.display import show_live, write_page
    from commandsync.errors import UsageError

    if path and settings.files:
        raise UsageError("PATH is the manifest, and so is -f", hint="give one of the two")
    settings = replace(settings, files=(path,)) if path else settings
    if folder:
        write_page(settings, folder, output=output, offline=offline, force=force)
        return 0
    show_live(settings, output, signals, offline=offline, port=port, opens=not no_open)
    return 0
