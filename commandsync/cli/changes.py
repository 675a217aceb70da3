"""`commandsync changes`: what users of the bot notice since an earlier manifest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.option import not_empty, option
from commandsync.cli.options import (
    Run,
    file_option,
    strict_option,
    talk_options,
    unmarked_format_option,
)
from commandsync.errors import UsageError

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.manifest import Manifest
    from commandsync.plan.userchanges import UserChanges


@click.command("changes", cls=Command)
@option(
    "--since REF|FILE",
    "The earlier version: a tag, branch or commit of git, or a file.",
    required=True,
    callback=not_empty,
)
@file_option
@strict_option
@unmarked_format_option
@talk_options
def changes_command(run: Run, /) -> None:
    """Describe for users what changed since an earlier version.

    Commands that are new, gone, renamed or changed, as sentences. Breaking changes come first: a
    command is gone, is called differently, needs an argument that it did not need, or fails for
    something that users could type.

    \b
    Example:
      commandsync changes --since v1.2.0
      commandsync changes --since old.yaml --format markdown
    """
    from commandsync.sync.comparison import changes_since
    from commandsync.sync.loading import check_notices, load

    manifests = load(run.settings)
    if len(manifests) != 1:
        raise UsageError("changes takes one manifest", hint="run it for each manifest")
    changes = changes_since(run.settings.since, manifests[0])
    check_notices(changes.notices, run.settings)
    if run.output.format != "json":
        run.output.notices(changes.notices)
    run.output.result(_rendered(changes, run.settings.since, manifests[0], run.output))


def _rendered(changes: UserChanges, since: str, manifest: Manifest, output: Output) -> str:
    if output.format == "json":
        from commandsync.report.json import user_changes

        return user_changes(changes, since=since, manifest=manifest.paths)
    from commandsync.report.usersentences import NOTHING, markdown, text

    if output.format == "markdown":
        return markdown(changes) or f"{NOTHING}\n"
    return text(changes, screen=output.screen(sys.stdout))
