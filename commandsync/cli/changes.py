"""`commandsync changes`: what users of the bot notice since an earlier manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import (
    file_option,
    not_empty,
    strict_option,
    talk_options,
    unmarked_format_option,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.manifest import Manifest
    from commandsync.plan.userchanges import UserChanges


@click.command("changes", cls=Command)
@click.option(
    "--since",
    required=True,
    metavar="REF|FILE",
    callback=not_empty,
    help="The earlier manifest: a tag, branch or commit of git, or a file.",
)
@file_option
@strict_option
@unmarked_format_option
@talk_options
def changes_command(*, since: str, files: tuple[str, ...], strict: bool, output: Output) -> None:
    """Tell what users notice since an earlier manifest.

    Commands that are new, gone, renamed or changed, as sentences. Breaking changes come first: a
    command is gone, is called differently, or needs an argument that it did not need.

    \b
    Example:
      commandsync changes --since v1.2.0
      commandsync changes --since old.yaml --format markdown
    """
    from commandsync.cli.progress import shown
    from commandsync.errors import UsageError
    from commandsync.sync.job import check_notices, load
    from commandsync.sync.settings import Settings
    from commandsync.sync.userchanges import changes_since

    with shown(output) as on_progress:
        settings = Settings(files=files, strict=strict, on_progress=on_progress)
        manifests = load(settings)
    if len(manifests) != 1:
        raise UsageError("changes takes one manifest", hint="run it for each manifest")
    changes = changes_since(since, manifests[0])
    check_notices(changes.notices, settings)
    if output.format != "json":
        output.notices(changes.notices)
    output.result(_rendered(changes, since, manifests[0], output))


def _rendered(changes: UserChanges, since: str, manifest: Manifest, output: Output) -> str:
    import sys

    if output.format == "json":
        from commandsync.report.json import user_changes

        return user_changes(changes, since=since, manifest=manifest.paths)
    from commandsync.report.userchanges import NOTHING, markdown, text

    if output.format == "markdown":
        return markdown(changes) or f"{NOTHING}\n"
    return text(changes, screen=output.screen(sys.stdout))
