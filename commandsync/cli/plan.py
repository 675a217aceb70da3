"""`commandsync plan`: show what apply would change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.options import (
    force_option,
    format_option,
    limit_options,
    path_option,
    service_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.cli.output import Output
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.settings import Settings


@click.command("plan", cls=Command)
@path_option("--out", help="Save the plan, for apply --plan.")
@path_option(
    "--against", help="Compare with another manifest instead of the page, with no network."
)
@click.option("--detailed-exitcode", is_flag=True, help="Exit 3 when changes are pending.")
@force_option
@format_option
@service_options
@limit_options
def plan_command(
    *,
    settings: Settings,
    output: Output,
    out: str | None,
    against: str | None,
    detailed_exitcode: bool,
    force: bool,
) -> int:
    """Show what apply would change; nothing is written.

    It needs no token, since reading is public; it sends the token if there is one.

    \b
    Example:
      commandsync plan
      commandsync plan --detailed-exitcode          # 3: the page differs
      commandsync plan --out plan.json              # then: apply --plan plan.json
      commandsync plan --against old/commands.yaml  # what did this edit change?
    """
    from commandsync.cli.results import show_plans
    from commandsync.errors import UsageError
    from commandsync.report import render_plans
    from commandsync.sync import exits
    from commandsync.sync.files import check_target, write_file
    from commandsync.sync.job import load, split

    manifests = load(settings)
    if out and (against or len(manifests) != 1):
        raise UsageError(
            "--out saves one plan of one listing", hint="give one manifest, and no --against"
        )
    if out:
        check_target(out, force=force, read=manifests[0].paths)
    plans = _plans(settings, manifests, against)
    made, errors = split(plans)
    if out and made:  # an error in the place of the plan is shown, not saved
        write_file(out, render_plans(made, format="json"), force=force)
    show_plans(plans, output)
    changes = detailed_exitcode and any(plan.changes for plan in made)
    return exits.worst([*map(exits.of_error, errors), exits.Exit.CHANGES if changes else 0])


def _plans(
    settings: Settings, manifests: Sequence[Manifest], against: str | None
) -> list[Plan | CommandsyncError]:
    from commandsync.sync.comparison import plan_against
    from commandsync.sync.job import jobs, plan_all, plans_of

    if against:
        return [plan_against(settings, manifests, against, called=against)]
    with jobs(settings, manifests) as opened:
        return plans_of(plan_all(opened))
