"""`commandsync apply`: make the listing match the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.options import (
    force_option,
    format_option,
    limit_options,
    path_option,
    service_options,
    yes_option,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.command("apply")
@path_option("--plan", "plan_file", help="Apply this saved plan and nothing else.")
@click.option("--dry-run", is_flag=True, help="Show the plan and write nothing.")
@yes_option
@path_option("--backup", help="First write what is listed now, as a manifest.")
@click.option("--unordered", is_flag=True, help="Add concurrently, in any order; quicker.")
@force_option
@format_option
@limit_options
@service_options
@click.pass_obj
def apply_command(  # noqa: PLR0913 - one for each option
    signals: Signals,
    *,
    settings: Settings,
    output: Output,
    plan_file: str | None,
    dry_run: bool,
    yes: bool,
    backup: str | None,
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
      commandsync apply --plan plan.json --yes         # what was reviewed, and nothing else
    """
    from commandsync.cli.application import Choices, apply_plans

    choices = Choices(
        plan_file=plan_file,
        dry_run=dry_run,
        asks=not (yes or dry_run),
        backup=backup,
        unordered=unordered,
        force=force,
    )
    return apply_plans(settings, choices, output=output, signals=signals)
