"""`commandsync validate`, `plan` and `apply`: from a checked manifest to a listing that matches it.

`validate` checks manifests offline, `plan` shows the changes, and `apply` carries them out, in
`application`, which no other command loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from commandsync.cli.option import Command, option
from commandsync.cli.options import (
    Run,
    file_option,
    format_option,
    manifest_arguments,
    plan_options,
    strict_option,
    talk_options,
    yes_option,
)

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.sync.job import Planned


@click.command("validate", cls=Command)
@manifest_arguments
@file_option
@strict_option
@format_option
@talk_options
def validate_command(run: Run, /) -> None:
    """Check manifests, with no network and no token.

    Shows the problems of all files, each as path:line:column. Exits 4 if there are any.

    \b
    Example:
      commandsync validate
      commandsync validate bots/ --format github
    """
    from commandsync import report
    from commandsync.sync.companions import with_objects
    from commandsync.sync.settings import load

    manifests = [with_objects(manifest) for manifest in load(run.settings)]
    form, screen = run.output.format, run.output.screen()
    run.output.result(report.render_validated(manifests, format=form, screen=screen))


_unseen_option = option("--unseen", "Allow replacing a list even if its content is not known.")


@click.command("plan", cls=Command)
@manifest_arguments
@option("--out PATH", "Save the plan, for apply --plan.")
@option("--against PATH", "Compare with another manifest instead of the page, with no network.")
@option("--detailed-exitcode", "Exit 3 when changes are pending.")
@_unseen_option
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
@_unseen_option
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
