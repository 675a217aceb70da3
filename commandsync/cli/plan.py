"""`commandsync plan`: the changes that an apply would make are shown, and nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

import click

from commandsync.cli.options import (
    EVERY_FORMAT,
    PLANNING,
    PlanningArguments,
    Run,
    RunCommand,
    check_unread,
    force_option,
    manifest_arguments,
    option,
    options,
)
from commandsync.sync import setting

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.errors import CommandsyncError
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan
    from commandsync.report import Format
    from commandsync.sync.job import Job, Planned
    from commandsync.sync.settings import Settings


@click.command("plan", cls=RunCommand, formats=EVERY_FORMAT)
@manifest_arguments
@option("--out PATH", "Save the plan, for apply --plan.")
@option("--against PATH", "Compare with another manifest instead of the page, with no network.")
@option("--detailed-exitcode", "Exit 3 when changes are pending.")
@option(setting.UNSEEN)
@option("--requests", "Print the requests that apply would send to write, without the token.")
@force_option
@options(setting.FILES, *PLANNING)
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
    manifests: tuple[str, ...],
    files: tuple[str, ...],
    **planning: Unpack[PlanningArguments],
) -> int:
    """Show the changes that apply would make; nothing is written.

    It needs no token, since reading is public; it sends the token if there is one.

    \b
    Example:
      commandsync plan
      commandsync plan --detailed-exitcode          # 3: the page differs
      commandsync plan --out plan.json              # then: apply --plan plan.json
      commandsync plan bot.yaml --against old.yaml  # what did this edit change?
    """
    from commandsync.errors import Exit, UsageError, worst_exit
    from commandsync.sync.files import check_target, write_file
    from commandsync.sync.selection import jobs, plan_jobs, split
    from commandsync.sync.settings import load

    settings = replace(run.settings, files=files + manifests, unseen=unseen, **planning)
    loaded = load(settings)
    if out:
        if against or len(loaded) != 1:
            raise UsageError(_ONE_PLAN, hint="give one manifest, and no --against")
        check_target(out, force=force, read=loaded[0].paths)
    if requests:
        with jobs(settings, loaded) as opened:
            check_unread(settings, opened)
            return _show_requests(plan_jobs(opened), run.output)
    plans = _plans(loaded, against, settings=settings, form=run.output.format, saved=bool(out))
    from commandsync.cli.output import show_plans
    from commandsync.report import render_plans  # after the page is asked

    made, errors = split(plans)
    if out and made:  # an error in the place of the plan is shown, not saved
        write_file(out, render_plans(made, format="json", screen=run.output.screen()), force=force)
    show_plans(plans, run.output)
    changes = detailed_exitcode and any(plan.pending for plan in made)
    code = Exit.CHANGES if changes else Exit.DONE
    return worst_exit([code, *(error.exit_code for error in errors)])


_ONE_PLAN = "--out saves one plan of records: of the page, or of discord"


def _saved(opened: Sequence[Job]) -> list[Job]:
    """Return the job whose plan is saved; raises `UsageError` for several, and for a list."""
    from commandsync.errors import UsageError
    from commandsync.sync.job import RecordJob
    from commandsync.sync.lists import ListJob

    if len(opened) != 1 or isinstance(opened[0], ListJob):
        raise UsageError(_ONE_PLAN, hint="select it with --listing, such as --listing discord")
    (job,) = opened
    if not job.is_read:
        job.site.check_token()
    # The saved plan of a page is the same with and without other listings.
    return [replace(job, name="") if isinstance(job, RecordJob) else job]


def _plans(
    manifests: Sequence[Manifest],
    against: str | None,
    *,
    settings: Settings,
    form: Format,
    saved: bool,
) -> list[Plan | CommandsyncError]:
    from commandsync.report import module_of
    from commandsync.sync.selection import jobs, plan_jobs, plans_in

    if against:
        from commandsync.sync.selection import plan_against

        return [plan_against(settings, manifests, against)]
    with jobs(settings, manifests) as opened:
        check_unread(settings, opened)
        shows = partial(module_of, form)  # loaded while the answers travel
        return plans_in(plan_jobs(_saved(opened) if saved else opened, meanwhile=shows))


def _show_requests(planned: Sequence[Planned | CommandsyncError], output: Output) -> int:
    """Print the requests that an apply would send to write; return the exit code."""
    from commandsync.errors import CommandsyncError, worst_exit
    from commandsync.report.records import document
    from commandsync.sync.job import Planned

    errors = [item for item in planned if isinstance(item, CommandsyncError)]
    plans = [item for item in planned if isinstance(item, Planned)]
    requests = [shown for item in plans for shown in item.job.shown(item)]
    if output.format == "json":
        output.result(document({"requests": requests}))
    else:
        output.result("\n\n".join(map(_request, requests)) or "no request: nothing is left to do")
    for error in errors:
        output.failure(error)
    return worst_exit(error.exit_code for error in errors)


def _request(shown: Mapping[str, object]) -> str:
    """Return a request as text."""
    from json import dumps

    authorization = shown["authorization"]
    header = f"Authorization: {authorization}\n" if authorization else ""
    head = f"{shown['method']} {shown['url']}\n{header}"
    if shown["body"] is None:
        return head.rstrip("\n")
    return f"{head}Content-Type: application/json\n\n{dumps(shown['body'], indent=2)}"
