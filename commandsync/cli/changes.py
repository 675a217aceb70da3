"""`commandsync changes`: the news for users since an earlier version of the manifest."""

from dataclasses import replace

import click

from commandsync.cli.options import Run, RunCommand, not_empty, option, options
from commandsync.sync.setting import FILES, STRICT


@click.command("changes", cls=RunCommand, formats=("text", "json", "markdown"))
@option(
    "--since REF|FILE",
    "The earlier version: a tag, branch or commit of git, or a file.",
    dest="earlier",
    required=True,
    callback=not_empty,
)
@options(FILES, STRICT)
def changes_command(run: Run, /, *, earlier: str, files: tuple[str, ...], strict: bool) -> None:
    """Describe the changes since an earlier version for users.

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
    settings = replace(run.settings, files=files, strict=strict)
    manifest = load_single(settings, problem, hint=hint)
    changes = changes_since(earlier, manifest)
    check_notices(changes.notices, settings)
    output = run.output
    if output.format != "json":
        output.notices(changes.notices)
    output.result(render_user_changes(changes, format=output.format, screen=output.screen()))
