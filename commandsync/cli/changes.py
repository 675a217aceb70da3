"""`commandsync changes`: what users of the bot notice since an earlier manifest."""

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
    from commandsync.document.schemas import user_changes_document
    from commandsync.report.json import dumped
    from commandsync.report.usersentences import NOTHING, markdown, text
    from commandsync.sync.earlier import changes_since
    from commandsync.sync.settings import check_notices, load_single

    problem, hint = "changes takes one manifest", "run it for each manifest"
    manifest = load_single(run.settings, problem, hint=hint)
    changes = changes_since(run.settings.since, manifest)
    check_notices(changes.notices, run.settings)
    if run.output.format != "json":
        run.output.notices(changes.notices)
    match run.output.format:
        case "json":
            since, paths = run.settings.since, manifest.paths
            shown = dumped(user_changes_document(changes, since=since, manifest=paths))
        case "markdown":
            shown = markdown(changes) or f"{NOTHING}\n"
        case _:
            shown = text(changes, screen=run.output.screen())
    run.output.result(shown)
