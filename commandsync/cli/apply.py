"""`commandsync apply`: make the listing match the manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from commandsync.cli.help import Command
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


@click.command("apply", cls=Command)
@path_option("--plan", "plan_file", help="Apply this saved plan and nothing else.")
@click.option("--dry-run", is_flag=True, help="Show the plan and write nothing.")
@yes_option
@path_option(
    "--backup", help="If there are changes, first write what is listed, with ids, as a manifest."
)
@click.option("--unordered", is_flag=True, help="Add concurrently, in any order; quicker.")
@force_option
@format_option
@service_options
@limit_options
@click.pass_obj
def apply_command(
    signals: Signals,
    /,
    *,
    settings: Settings,
    output: Output,
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
    return apply_plans(settings, chosen, output=output, signals=signals)
