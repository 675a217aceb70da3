"""`commandsync validate`: manifests are checked, with no network and no token."""

import click

from commandsync.cli.option import Command
from commandsync.cli.options import (
    Run,
    file_option,
    format_option,
    manifest_arguments,
    strict_option,
    talk_options,
)


@click.command("validate", cls=Command)
@manifest_arguments
@file_option
@strict_option
@format_option
@talk_options
def validate_command(run: Run, /) -> None:
    """Check manifests, with no network and no token.

    Shows the problems of all files, each as path:line:column. Exits 4 if there are any.

    \b
    Example:
      commandsync validate
      commandsync validate bots/ --format github
    """
    from commandsync import report
    from commandsync.sync.companions import with_objects
    from commandsync.sync.settings import load

    manifests = [with_objects(manifest) for manifest in load(run.settings)]
    form, screen = run.output.format, run.output.screen()
    run.output.result(report.render_validated(manifests, format=form, screen=screen))
