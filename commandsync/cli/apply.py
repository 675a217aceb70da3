"""`commandsync apply`: make the listing match the manifest."""

from typing import Any

import click

from commandsync.cli.help import Command
from commandsync.cli.option import option
from commandsync.cli.options import Run, manifest_arguments, plan_options, yes_option


@click.command("apply", cls=Command)
@manifest_arguments
@option("--plan PATH", "Apply this saved plan and nothing else.", dest="plan_file")
@option("--dry-run", "Show the plan and write nothing.")
@yes_option
@option(
    "--backup PATH",
    "If there are changes, first write what is listed, with ids, as a manifest.",
)
@option(
    "--owned",
    "Refuse to delete or replace what no version of the manifest had, by its history in git.",
)
@option("--unseen", "Replace a list also if nothing is known of what it contains.")
@option("--resend", "Send a whole list also if it has no changes.")
@option("--unordered", "Add concurrently, in any order; quicker.")
@plan_options
def apply_command(
    run: Run,
    /,
    *,
    yes: bool,
    **choices: Any,  # noqa: ANN401 - click has checked them
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

    chosen = Choices(asks=not (yes or choices["dry_run"]), **choices)
    return apply_plans(run, chosen)
