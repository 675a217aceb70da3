"""The command line's door to an apply: plans are shown and asked about, then the results.

The questions to the user are on a terminal, before anything is written.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from commandsync import report
from commandsync.cli.options import Run, check_unread
from commandsync.cli.output import Output, ResultLostError, print_err, show_plans
from commandsync.diagnostics import Notice
from commandsync.document.view import question_of
from commandsync.errors import CommandsyncError, Exit, StalePlanError, UsageError, worst_exit
from commandsync.plan.comparison import likely_renames
from commandsync.plan.plan import RecordPlan
from commandsync.report.lines import cut, visible
from commandsync.services.service import RecordService
from commandsync.sync.apply import (
    AppliedPlans,
    CheckedPlans,
    Declined,
    Hooks,
    apply,
    carry_out,
    write_backup,
)
from commandsync.sync.files import check_target
from commandsync.sync.job import Job, Planned
from commandsync.sync.process import Interruption
from commandsync.sync.selection import jobs, plans_in, saved_jobs
from commandsync.sync.settings import load

if TYPE_CHECKING:
    from commandsync.manifest import Manifest
    from commandsync.plan.plan import Plan


_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


def confirm(question: str) -> bool:
    """Ask a question; no answer is a no."""
    asked = f"{question} [y/N]"
    try:
        while (
            answer := str(click.prompt(asked, "n", show_default=False, err=True)).strip().lower()
        ) not in _ANSWERS:
            asked = "answer y or n"
    except (click.Abort, Interruption) as error:
        print_err("")  # end the line of the question
        if isinstance(error, Interruption):
            raise
        return False
    return _ANSWERS[answer]


def check_terminal(command: str, hint: str) -> None:
    """Refuse to ask without a terminal; the hint names the options that need no answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        message = f"{command} needs an answer before it writes, and this is not a terminal"
        raise UsageError(message, hint=hint)


def decline(output: Output) -> None:
    """Show that nothing was changed because the user answered no."""
    if output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed", kind="declined"))
    else:
        output.talk("Nothing was changed.")


def approve_plans(output: Output, planned: Sequence[Planned], changed: bool) -> bool:  # noqa: FBT001 - as `Hooks.ask`
    """Show plans and ask; they are new if the listing has changed since the last question."""
    if changed:
        output.talk("\nThe listing has changed in the meantime. The new plan:\n", at=-1)
    plans = [item.plan for item in planned]
    screen = output.screen(sys.stderr, whole=True)
    output.talk(report.render_plans(plans, format="text", screen=screen), at=-1)
    return confirm(f"\n{question_of(plans)}. Make these changes?")


def ask_renames(planned: Planned) -> Planned:
    """Ask for each added command that resembles a deleted one whether it was renamed."""
    job, plan = planned.job, planned.plan
    if not isinstance(plan, RecordPlan) or plan.saved:
        return planned
    abilities = plan.target.abilities
    pins = {
        add.location: delete.id
        for kind in plan.scope
        if abilities[kind].edit
        for add, delete in likely_renames(c for c in plan.changes if c.resource is kind)
        if confirm(
            f'Is "{visible(cut(delete.name))}" renamed to "{visible(cut(add.name))}", '
            f"with its id{' and uses' if abilities[kind].uses else ''} kept?"
        )
    }
    return job.pinned(pins).planned(planned.listed) if pins else planned


_ONE_BACKUP = "--backup takes one listing of records: the page, or discord"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of the command `apply`; `asks` is for a question before the first write."""

    asks: bool
    plan_file: str = ""
    dry_run: bool = False
    backup: str = ""
    unordered: bool = False
    force: bool = False


def apply_plans(run: Run, choices: Choices) -> int:
    """Apply manifests or a saved plan, and show the results; return the exit code."""
    settings = run.settings
    if choices.asks:
        check_terminal("apply", "--yes applies without asking, --dry-run only shows the plan")
        settings = replace(settings, unseen=True)  # the question names the lists that it replaces

    def load_manifests() -> Sequence[Manifest]:
        manifests = () if choices.plan_file else load(settings)
        if choices.backup:
            if not choices.plan_file and len(manifests) != 1:
                raise UsageError(_ONE_BACKUP, hint="apply the manifests one by one")
            read = [choices.plan_file] if choices.plan_file else manifests[0].paths
            check_target(choices.backup, force=choices.force, read=read)
        return manifests

    def open_listings(manifests: Sequence[Manifest]) -> AbstractContextManager[Sequence[Job]]:
        if choices.plan_file:
            return saved_jobs(settings, choices.plan_file)
        return jobs(settings, manifests)

    ask = ask_renames if choices.asks else lambda planned: planned
    return apply_shown(run, choices, load=load_manifests, connect=open_listings, planned=ask)


def apply_shown(
    run: Run,
    choices: Choices,
    *,
    load: Callable[[], Sequence[Manifest]],
    connect: Callable[[Sequence[Manifest]], AbstractContextManager[Sequence[Job]]],
    planned: Callable[[Planned], Planned] = lambda planned: planned,
) -> int:
    """Show the plans of an apply, ask if the user is to be asked, and show the results.

    The other arguments are as in `apply`. Returns the exit code.
    """
    output, backup = run.output, choices.backup

    def check_listings(opened: Sequence[Job]) -> None:
        check_unread(run.settings, opened)
        if backup and (len(opened) != 1 or not isinstance(opened[0].site.service, RecordService)):
            hint = "apply the listings one by one: --listing selects one"
            raise UsageError(_ONE_BACKUP, hint=hint)

    def show_passed(passed: Sequence[Planned], left: Sequence[CommandsyncError]) -> None:
        for error in left if output.format != "json" else ():
            output.failure(error)
        asked = choices.asks and any(item.plan.writes for item in passed)
        if not asked and output.format == "text" and output.verbosity >= 0:
            show_plans([item.plan for item in passed], output, asks=choices.asks)

    def back_up(approved: Sequence[Planned]) -> None:
        for item in approved if backup else ():
            if not item.plan.changes:
                output.talk(f"{backup} was not written: there are no changes")
                continue
            warnings = write_backup(item, backup, force=choices.force)
            output.notices([Notice(warning) for warning in warnings])
            output.talk(f"wrote {backup}: the listing before this apply")

    steps = apply(
        load=load,
        connect=connect,
        hooks=Hooks(
            opened=check_listings,
            planned=planned,
            passed=show_passed,
            ask=partial(approve_plans, output) if choices.asks else None,
            begin=back_up,
        ),
        dry_run=choices.dry_run,
        unordered=choices.unordered,
    )
    match carry_out(steps, signals=run.signals):
        case CheckedPlans() as ending:
            return _show_only(ending, output, dry_run=choices.dry_run)
        case Declined():
            decline(output)
            return Exit.FAILED
        case AppliedPlans() as ending:
            return run.signals.code(_show_results(ending, output))


def _show_only(ending: CheckedPlans, output: Output, *, dry_run: bool) -> int:
    """Show the plans, and why some of them are not applied; a dry run exits as `plan` does."""
    plans, errors = plans_in(ending.planned), ending.errors
    if dry_run:  # a plan itself shows why it would be refused, unless it is a saved one and stale
        refused = [
            isinstance(item, Planned) and not isinstance(error, StalePlanError)
            for item, error in zip(ending.planned, errors, strict=True)
        ]
        errors = [None if of else error for error, of in zip(errors, refused, strict=True)]
    if output.format == "json":
        show_plans([error or plan for error, plan in zip(errors, plans, strict=True)], output)
    else:
        show_plans(plans, output, asks=dry_run)
        _show_refusals([*zip(errors, plans, strict=True)], output)
    return worst_exit(error.exit_code for error in errors if error)


def _show_refusals(
    pairs: Sequence[tuple[CommandsyncError | None, Plan | CommandsyncError]], output: Output
) -> None:
    """Print why plans are refused, except the reasons that the plans themselves have shown."""
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


def _show_results(ending: AppliedPlans, output: Output) -> int:
    """Print the results of plans; return their exit code: results that are lost are incomplete.

    The errors of listings that were left out are part of a JSON document, after the results.
    """
    from commandsync.apply.outcomes import exit_code

    results, left = ending.results, ending.left if output.format == "json" else ()
    try:
        text = report.render_results(
            [*results, *left], format=output.format, screen=output.screen()
        )
        output.result(text)
    except ResultLostError as error:
        touched = any(result.touched for result in results)
        output.failure(error.after_writing() if touched else error)
        return Exit.INCOMPLETE if touched else Exit.FAILED
    return exit_code(*results, left=ending.left)
