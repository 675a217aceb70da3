"""`commandsync apply`: the listing is changed to match the manifest; see `application`."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import click

from commandsync.cli.options import (
    EVERY_FORMAT,
    PLANNING,
    PlanningArguments,
    Run,
    RunCommand,
    force_option,
    manifest_arguments,
    option,
    options,
    yes_option,
)
from commandsync.sync import setting


@click.command("apply", cls=RunCommand, formats=EVERY_FORMAT)
@manifest_arguments
@option(setting.PLAN_FILE)
@option(setting.DRY_RUN)
@yes_option
@option(
    "--backup PATH",
    "If there are changes, first write the listed records, with ids, as a manifest.",
)
@options(setting.OWNED, setting.UNSEEN, setting.UNORDERED)
@force_option
@options(setting.FILES, *PLANNING)
def apply_command(  # noqa: PLR0913 - its own options
    run: Run,
    /,
    *,
    plan_file: str,
    dry_run: bool,
    yes: bool,
    backup: str | None,
    owned: bool,
    unseen: bool,
    unordered: bool,
    force: bool,
    manifests: tuple[str, ...],
    files: tuple[str, ...],
    **planning: Unpack[PlanningArguments],
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

    files += manifests
    settings = replace(run.settings, files=files, owned=owned, unseen=unseen, **planning)
    choices = Choices(
        asks=not (yes or dry_run),
        plan_file=plan_file,
        dry_run=dry_run,
        backup=backup or "",
        unordered=unordered,
        force=force,
    )
    return apply_plans(run._replace(settings=settings), choices)
