"""`commandsync apply`: the listing is changed to match the manifest; see `application`."""

from dataclasses import replace

import click

from commandsync.cli.option import Command, option
from commandsync.cli.options import (
    Run,
    manifest_arguments,
    plan_options,
    unseen_option,
    yes_option,
)


@click.command("apply", cls=Command)
@manifest_arguments
@option("--plan PATH", "Apply this saved plan and nothing else.", dest="plan_file")
@option("--dry-run", "Show the plan and write nothing.")
@yes_option
@option(
    "--backup PATH",
    "If there are changes, first write the listed records, with ids, as a manifest.",
)
@option(
    "--owned",
    "Refuse to delete or replace a record that no version of the manifest in git had.",
)
@unseen_option
@option("--resend", "Send a whole list even if it has no changes.")
@option("--unordered", "Add concurrently, in any order; quicker.")
@plan_options
def apply_command(  # noqa: PLR0913 - its own options
    run: Run,
    /,
    *,
    plan_file: str | None,
    dry_run: bool,
    yes: bool,
    backup: str | None,
    owned: bool,
    unseen: bool,
    resend: bool,
    unordered: bool,
    force: bool,
) -> int:
    """Make the listing match the manifest.

    Shows the plan and asks first. Whatever fails, run it again: it finishes the work, and does
    nothing twice.

    \b
    Example:
      commandsync apply                                # shows, asks, applies
      commandsync apply --yes --backup before.yaml     # in CI
      commandsync apply --plan plan.json --yes         # what was reviewed
    """
    from commandsync.cli.application import Choices, apply_plans

    settings = replace(run.settings, owned=owned, unseen=unseen, resend=resend)
    choices = Choices(
        asks=not (yes or dry_run),
        plan_file=plan_file,
        dry_run=dry_run,
        backup=backup,
        unordered=unordered,
        force=force,
    )
    return apply_plans(run._replace(settings=settings), choices)
