"""`commandsync plan`: show what apply would change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import click

from commandsync.cli.help import Command
from commandsync.cli.option import option
from commandsync.cli.options import Run, manifest_arguments, plan_options

if TYPE_CHECKING:
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan


@click.command("plan", cls=Command)
@manifest_arguments
@option("--out PATH", "Save the plan, for apply --plan.")
@option("--against PATH", "Compare with another manifest instead of the page, with no network.")
@option("--detailed-exitcode", "Exit 3 when changes are pending.")
@option("--requests", "Print the requests that would replace whole lists, without the token.")
@plan_options
def plan_command(
    run: Run,
    /,
    *,
    out: str | None,
    against: str | None,
    detailed_exitcode: bool,
    requests: bool,
    force: bool,
) -> int:
    """Show what apply would change; nothing is written.

    It needs no token, since reading is public; it sends the token if there is one.

    \b
    Example:
      commandsync plan
      commandsync plan --detailed-exitcode          # 3: the page differs
      commandsync plan --out plan.json              # then: apply --plan plan.json
      commandsync plan bot.yaml --against old.yaml  # what did this edit change?
    """
    from commandsync.cli.results import show_plans, show_requests
    from commandsync.errors import Exit, worst_exit
    from commandsync.report import render_plans
    from commandsync.sync.files import check_target, write_file
    from commandsync.sync.selection import jobs, plan_jobs, split
    from commandsync.sync.settings import load

    manifests = load(run.settings)
    if out:
        _check_one_page(manifests, against)
        check_target(out, force=force, read=manifests[0].paths)
    if requests:
        with jobs(run.settings, manifests) as opened:
            return show_requests(plan_jobs(opened), run.output)
    plans = _plans(run, manifests, against)
    made, errors = split(plans)
    if out and made:  # an error in the place of the plan is shown, not saved
        write_file(out, render_plans(made, format="json"), force=force)
    show_plans(plans, run.output)
    changes = detailed_exitcode and any(plan.pending for plan in made)
    code = Exit.CHANGES if changes else Exit.DONE
    return worst_exit([code, *(error.exit_code for error in errors)])


def _check_one_page(manifests: Sequence[Manifest], against: str | None) -> None:
    from commandsync.errors import UsageError

    if against or len(manifests) != 1 or manifests[0].listings:
        raise UsageError(
            "--out saves one plan of one page",
            hint="give one manifest without listings:, and no --against",
        )


def _plans(
    run: Run, manifests: Sequence[Manifest], against: str | None
) -> list[Plan | CommandsyncError]:
    from commandsync.sync.selection import jobs, plan_jobs, plans_in

    if against:
        from commandsync.sync.selection import plan_against

        return [plan_against(run.settings, manifests, against)]
    with jobs(run.settings, manifests) as opened:
        shows = partial(import_module, f"commandsync.report.{run.output.format}")
        return plans_in(plan_jobs(opened, meanwhile=shows))
