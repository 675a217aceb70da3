"""`commandsync parity`: where the names of the bot's commands differ."""

import click

from commandsync.cli.help import Command
from commandsync.cli.options import Run, page_options, unmarked_format_option


@click.command("parity", cls=Command)
@unmarked_format_option
@page_options
def parity_command(run: Run, /) -> int:
    """Compare the names of commands in the code, at Discord, and in each listing.

    The code is what import: of the manifest names. What the bot has registered with Discord is read
    if DISCORD_TOKEN is set (DISCORD_APPLICATION_ID and DISCORD_BASE_URL as for import). What cannot
    be read is named. Exits 3 if names differ, and 1 if a read failed.

    \b
    Example:
      commandsync parity
      commandsync parity --format markdown
    """
    from commandsync.report.parity import render_parity
    from commandsync.sync.parity import compare_names, exit_code
    from commandsync.sync.settings import load

    results = [compare_names(run.settings, manifest) for manifest in load(run.settings)]
    form, screen = run.output.format, run.output.screen()
    run.output.result(render_parity(results, form=form, screen=screen))
    return exit_code(results)
