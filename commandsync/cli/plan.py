"""`commandsync plan`: the changes that an apply would make are shown, and nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import Command, option
from commandsync.cli.options import Run, manifest_arguments, plan_options, unseen_option

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.job import Planned


@click.command("plan", cls=Command)
@manifest_arguments
@option("--out PATH", "Save the plan, for apply --plan.")
@option("--against PATH", "Compare with another manifest instead of the page, with no network.")
@option("--detailed-exitcode", "Exit 3 when changes are pending.")
@unseen_option
@option("--requests", "Print the requests that would replace whole lists, without the token.")
@plan_options
def plan_command(  # noqa: PLR0913 - its own options
    run: Run,
    /,
    *,
    out: str | None,
    against: str | None,
    detailed_exitcode: bool,
    unseen: bool,
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
    from commandsync.errors import Exit, worst_exit
    from commandsync.sync.files import check_target, write_file
    from commandsync.sync.selection import jobs, plan_jobs, split
    from commandsync.sync.settings import load

    run = run._replace(settings=replace(run.settings, unseen=unseen))
    manifests = load(run.settings)
    if out:
        _check_one_page(manifests, against)
        check_target(out, force=force, read=manifests[0].paths)
    if requests:
        with jobs(run.settings, manifests) as opened:
            return _show_requests(plan_jobs(opened), run.output)
    plans = _plans(run, manifests, against)
    from commandsync.cli.output import show_plans
    from commandsync.report import render_plans  # after the page is asked

    made, errors = split(plans)
    if out and made:  # an error in the place of the plan is shown, not saved
        write_file(out, render_plans(made, format="json", screen=run.output.screen()), force=force)
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
    from commandsync.report import render_plans
    from commandsync.sync.selection import jobs, plan_jobs, plans_in

    if against:
        from commandsync.sync.selection import plan_against

        return [plan_against(run.settings, manifests, against)]
    with jobs(run.settings, manifests) as opened:
        shows = partial(render_plans.load, run.output.format)
        return plans_in(plan_jobs(opened, meanwhile=shows))


def _show_requests(planned: Sequence[Planned | CommandsyncError], output: Output) -> int:
    """Print the requests that an apply would send to replace whole lists; return the exit code."""
    from commandsync.errors import CommandsyncError, worst_exit
    from commandsync.report.records import document
    from commandsync.sync.job import Planned
    from commandsync.sync.lists import ListJob

    errors = [item for item in planned if isinstance(item, CommandsyncError)]
    plans = [(item.job, item) for item in planned if isinstance(item, Planned)]
    requests = [job.shown(item) for job, item in plans if isinstance(job, ListJob)]
    if output.format == "json":
        output.result(document({"requests": requests}))
    else:
        output.result("\n\n".join(map(_request, requests)) or "no listing takes a whole list")
    for error in errors:
        output.failure(error)
    return worst_exit(error.exit_code for error in errors)


def _request(shown: Mapping[str, object]) -> str:
    """Return a request as text."""
    from json import dumps

    authorization = shown["authorization"]
    header = f"Authorization: {authorization}\n" if authorization else ""
    head = f"{shown['method']} {shown['url']}\n{header}Content-Type: application/json"
    return f"{head}\n\n{dumps(shown['body'], indent=2)}"
