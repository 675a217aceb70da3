"""An apply on the command line: plans are made, shown, approved and carried out.

`apply_plans` makes the plans of the manifests, or reads a saved one; `apply_planned` asks, writes,
and shows the results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.cli.approval import approve_plans, ask_renames, check_terminal, decline
from commandsync.cli.options import Run
from commandsync.cli.output import Output, ResultLostError, show_plans
from commandsync.diagnostics import Notice
from commandsync.errors import (
    CommandsyncError,
    Exit,
    StalePlanError,
    UsageError,
    worst_exit,
)
from commandsync.sync.execution import Stop, begun_of, execute, refusal_of, saved_plan, write_backup
from commandsync.sync.files import check_target
from commandsync.sync.job import Planned
from commandsync.sync.selection import jobs, plan_jobs, plans_in
from commandsync.sync.settings import about, load

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.plan.plan import Plan


def show_results(
    results: Sequence[Result], output: Output, unread: Sequence[CommandsyncError] = ()
) -> int:
    """Print the results of plans; return their exit code: results that are lost are incomplete.

    The errors of listings that could not be read are part of a JSON document, after the results.
    """
    from commandsync.apply.outcomes import exit_code

    shown: list[Result | CommandsyncError] = [*results]
    if output.format == "json":
        shown += unread
    try:
        text = report.render_results(shown, format=output.format, screen=output.screen())
        output.result(text)
    except ResultLostError as error:
        touched = any(result.touched for result in results)
        output.failure(error.after_writing() if touched else error)
        return Exit.INCOMPLETE if touched else Exit.FAILED
    return exit_code(*results, unread=bool(unread))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of the command `apply`; `asks` is for a question before the first write."""

    asks: bool
    plan_file: str | None = None
    dry_run: bool = False
    backup: str | None = None
    unordered: bool = False
    force: bool = False


def apply_plans(run: Run, choices: Choices) -> int:
    """Plan, ask, apply and show the results; return the exit code."""
    settings = run.settings
    if choices.asks:
        check_terminal("apply", "--yes applies without asking, --dry-run only shows the plan")
        settings = replace(settings, unseen=True)  # the question says what it replaces
    if choices.plan_file:
        _check_backup(choices, [choices.plan_file])
        with saved_plan(settings, choices.plan_file, writes=not choices.dry_run) as plan:
            return apply_planned([plan], run, choices)
    manifests = load(settings)
    if choices.backup and (len(manifests) != 1 or manifests[0].listings):
        raise UsageError("--backup takes one page", hint="apply the listings one by one")
    _check_backup(choices, manifests[0].paths)
    with jobs(settings, manifests) as opened:
        for job in () if choices.dry_run else opened:  # before its listing is read
            job.site.check_token()
        planned = plan_jobs(opened)
        if choices.asks:
            planned = [ask_renames(item) if isinstance(item, Planned) else item for item in planned]
        return apply_planned(planned, run, choices)


def apply_planned(planned: Sequence[Planned | CommandsyncError], run: Run, choices: Choices) -> int:
    """Ask, apply plans and show the results; return the exit code."""
    begun = begun_of(planned)
    if choices.dry_run or not begun:
        return _show_only(planned, run.output, dry_run=choices.dry_run)
    unread = [item for item in planned if isinstance(item, CommandsyncError)]
    if run.output.format != "json":
        for error in unread:
            run.output.failure(error)
    approved = _approved(begun, run.output, choices)
    if approved is None:
        return Exit.FAILED
    if choices.backup:
        _back_up(approved[0], choices.backup, run.output, force=choices.force)
    stop = Stop()
    with run.signals.answered_by(stop):
        results = execute(
            approved, stop, settings=run.settings, signals=run.signals, unordered=choices.unordered
        )
        code = show_results(results, run.output, unread)
    return run.signals.code(code)


def _check_backup(choices: Choices, read: Sequence[str]) -> None:
    if choices.backup:
        check_target(choices.backup, force=choices.force, read=read)


def _approved(ready: list[Planned], output: Output, choices: Choices) -> list[Planned] | None:
    """Return the plans to apply, asked about if the user is to be asked; None after a no."""
    if choices.asks and any(planned.plan.writes for planned in ready):
        approved = approve_plans(ready, output)
        if approved is None:
            decline(output)
        return approved
    if output.format == "text" and output.verbosity >= 0:
        show_plans([planned.plan for planned in ready], output, asks=choices.asks)
    return ready


def _back_up(planned: Planned, path: str, output: Output, *, force: bool) -> None:
    if not planned.plan.changes:
        output.talk(f"{path} was not written: there are no changes")
        return
    warnings = write_backup(planned, path, force=force)
    output.notices([Notice(warning) for warning in warnings])
    output.talk(f"wrote {path}: the listing before this apply")


def _show_only(
    planned: Sequence[Planned | CommandsyncError], output: Output, *, dry_run: bool
) -> int:
    """Show the plans, and why some of them are not applied; a dry run exits as `plan` does."""
    plans = plans_in(planned)
    errors = [_error_of(item, of=len(planned), dry_run=dry_run) for item in planned]
    if output.format == "json":
        show_plans([error or plan for error, plan in zip(errors, plans, strict=True)], output)
    else:
        show_plans(plans, output, asks=dry_run)
        _show_errors([*zip(errors, plans, strict=True)], output)
    return worst_exit(error.exit_code for error in filter(None, errors))


def _show_errors(
    pairs: Sequence[tuple[CommandsyncError | None, Plan | CommandsyncError]], output: Output
) -> None:
    """Print why plans are not applied, except the reasons that the plans themselves have shown."""
    shown = False
    for error, plan in pairs:
        if error is None or isinstance(plan, CommandsyncError):  # it is shown in its place
            continue
        if output.verbosity >= 0 and plan.refusal and plan.refusal.message in error.message:
            shown = True
        else:
            output.failure(error)
    if shown:
        output.talk("Nothing was changed.")


def _error_of(
    item: Planned | CommandsyncError, *, of: int, dry_run: bool
) -> CommandsyncError | None:
    """Return the error of a missing or refused plan; of several plans, with the manifest's name.

    In a dry run a plan itself shows why it would be refused, except a saved one that is stale.
    """
    if isinstance(item, CommandsyncError):
        return item
    error = refusal_of(item)
    if dry_run and not isinstance(error, StalePlanError):
        return None
    path, label = item.plan.manifest[0], item.plan.label
    return error and about(error, f"{path}: {label}" if label else path, of=of)
