"""`commandsync apply`: make the listing match the manifest."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from commandsync.cli.applying import Choices, carry_out, renames_asked
from commandsync.cli.options import (
    PATH,
    force_option,
    format_option,
    limit_options,
    not_empty,
    service_options,
    yes_option,
)
from commandsync.cli.showing import show_plans
from commandsync.errors import CommandsyncError, TooManyDeletesError, UsageError
from commandsync.sync import exits
from commandsync.sync.execution import refusal_of
from commandsync.sync.files import check_free, check_unread
from commandsync.sync.job import Planned, jobs, load, plan_all
from commandsync.sync.saved import saved_plan
from commandsync.sync.settings import about

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@click.command("apply")
@click.option(
    "--plan",
    "plan_file",
    type=PATH,
    metavar="PATH",
    callback=not_empty,
    help="Apply this saved plan and nothing else.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and write nothing.")
@yes_option
@click.option(
    "--backup",
    type=PATH,
    metavar="PATH",
    callback=not_empty,
    help="First write what is listed now, as a manifest.",
)
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
    choices = Choices(asks=not yes, backup=backup, unordered=unordered, force=force)
    if choices.asks and not (dry_run or output.interactive):
        raise UsageError(
            "apply asks before it writes, and there is no terminal to ask on",
            hint="--yes applies without asking, --dry-run only shows the plan",
        )
    if backup:
        check_free(backup, force=force)
    with _planned(settings, plan_file, backup=backup, writes=not dry_run) as found:
        asks = choices.asks and not dry_run
        planned = [
            renames_asked(one) if asks and isinstance(one, Planned) else one for one in found
        ]
        ready = [one for one in planned if isinstance(one, Planned) and refusal_of(one) is None]
        if dry_run or len(ready) < len(planned):
            return _only_show(planned, output)
        return carry_out(ready, settings=settings, output=output, choices=choices, signals=signals)


@contextmanager
def _planned(
    settings: Settings, plan_file: str | None, *, backup: str | None, writes: bool
) -> Iterator[Sequence[Planned | CommandsyncError]]:
    """Make or read the plans; before that, refuse to write with no token or another bot's."""
    if plan_file:
        if backup:
            check_unread(backup, [plan_file])
        with saved_plan(settings, plan_file, writes=writes) as one:
            yield [one]
        return
    manifests = load(settings)
    if backup and len(manifests) != 1:
        raise UsageError("--backup takes one listing", hint="apply the manifests one by one")
    if backup:
        check_unread(backup, manifests[0].paths)
    with jobs(settings, manifests) as some:
        for job in some if writes else ():
            job.site.check_token()
        yield plan_all(some)


def _only_show(planned: Sequence[Planned | CommandsyncError], output: Output) -> int:
    """Show the plans and why some of them would not be applied."""
    errors = [
        one if isinstance(one, CommandsyncError) else _refusal(one, of=len(planned))
        for one in planned
    ]
    plans = [one.plan if isinstance(one, Planned) else one for one in planned]
    if output.format == "json":
        show_plans([error or plan for error, plan in zip(errors, plans, strict=True)], output)
    else:
        show_plans(plans, output)
        for error, plan in zip(errors, plans, strict=True):
            if isinstance(plan, CommandsyncError) or error is None:
                continue  # shown already, or there is nothing to say
            if plan.refusal is not None and isinstance(error, TooManyDeletesError):
                output.talk("Nothing was changed.")  # the plan says why
            else:
                output.failure(error)
    return exits.worst(exits.of_error(error) for error in errors if error is not None)


def _refusal(planned: Planned, *, of: int) -> CommandsyncError | None:
    """Say why a plan is refused; where there are several, which one."""
    error = refusal_of(planned)
    return None if error is None else about(error, planned.plan.manifest[0], of=of)
