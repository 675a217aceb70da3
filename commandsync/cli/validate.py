"""`commandsync validate`: check manifests offline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import file_option, format_option, strict_option, talk_options

if TYPE_CHECKING:
    from commandsync.cli.output import Output


@click.command("validate", cls=Command)
@file_option
@strict_option
@format_option
@talk_options
def validate_command(*, files: tuple[str, ...], strict: bool, output: Output) -> None:
    """Check manifests, with no network and no token.

    Shows the problems of all files, each as path:line:column. Exits 4 if there are any.

    \b
    Example:
      commandsync validate
      commandsync validate -f bots/ --format github
    """
    import sys

    from commandsync import report
    from commandsync.cli.progress import shown
    from commandsync.sync.job import load
    from commandsync.sync.settings import Settings

    with shown(output) as on_progress:
        manifests = load(Settings(files=files, strict=strict, on_progress=on_progress))
    screen = output.screen(sys.stdout)
    output.result(report.render_validated(manifests, format=output.format, screen=screen))
