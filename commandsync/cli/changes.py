"""`commandsync changes`: the news for users since an earlier version of the manifest."""

import click

from commandsync.cli.option import Command, not_empty, option
from commandsync.cli.options import (
    Run,
    file_option,
    strict_option,
    talk_options,
    unmarked_format_option,
)


@click.command("changes", cls=Command)
@option(
    "--since REF|FILE",
    "The earlier version: a tag, branch or commit of git, or a file.",
    dest="earlier",
    required=True,
    callback=not_empty,
)
@file_option
@strict_option
@unmarked_format_option
@talk_options
def changes_command(run: Run, /, *, earlier: str) -> None:
    """Describe for users what changed since an earlier version.

    Commands that are new, gone, renamed or changed, as sentences. Breaking changes come first: a
    command is gone, is called differently, needs an argument that it did not need, or fails for
    something that users could type.

    \b
    Example:
      commandsync changes --since v1.2.0
      commandsync changes --since old.yaml --format markdown
    """
    from commandsync.report import render_user_changes
    from commandsync.sync.earlier import changes_since
    from commandsync.sync.settings import check_notices, load_single

    problem, hint = "changes takes one manifest", "run it for each manifest"
    manifest = load_single(run.settings, problem, hint=hint)
    changes = changes_since(earlier, manifest)
    check_notices(changes.notices, run.settings)
    output = run.output
    if output.format != "json":
        output.notices(changes.notices)
    output.result(render_user_changes(changes, format=output.format, screen=output.screen()))
