"""An apply on the command line: plans made, shown, approved and carried out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commandsync.cli.approval import approve_plans, ask_renames, decline
from commandsync.cli.output import announce_stop
from commandsync.cli.results import show_plans, show_results
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError, TooManyDeletesError, UsageError
from commandsync.sync import exits
from commandsync.sync.execution import Stop, execute, ready_of, refusal_of, write_backup
from commandsync.sync.files import check_target
from commandsync.sync.job import Planned, jobs, load, plan_all, plans_of
from commandsync.sync.saved import saved_plan
from commandsync.sync.settings import about
from commandsync.sync.signals import of_signal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from commandsync.cli.output import Output
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The options of the command `apply`; `asks` is for a question before the first write."""

    asks: bool
    plan_file: str | None = None
    dry_run: bool = False
    backup: str | None = None
    unordered: bool = False
    force: bool = False


def apply_plans(settings: Settings, choices: Choices, *, output: Output, signals: Signals) -> int:
    """Plan, ask, apply and show the results; return the exit code.

    Raises:
        CommandsyncError: An error before the first write.
    """
    if choices.asks and not output.interactive:
        raise UsageError(
            "apply asks before it writes, and there is no terminal to ask on",
            hint="--yes applies without asking, --dry-run only shows the plan",
        )
    with _planned(settings, choices) as planned:
        return apply_planned(planned, settings, choices, output=output, signals=signals)


def apply_planned(
    planned: Sequence[Planned | CommandsyncError],
    settings: Settings,
    choices: Choices,
    *,
    output: Output,
    signals: Signals,
) -> int:
    """Ask, apply plans and show the results; return the exit code.

    Raises:
        CommandsyncError: An error before the first write.
    """
    ready = ready_of(planned)
    if choices.dry_run or len(ready) < len(planned):
        return _show_only(planned, output)
    approved = _approved(ready, output, choices)
    if approved is None:
        return exits.Exit.FAILED
    return _carry_out(approved, settings, choices, output=output, signals=signals)


@contextmanager
def _planned(
    settings: Settings, choices: Choices
) -> Iterator[Sequence[Planned | CommandsyncError]]:
    """Make or read the plans; before that, refuse to write with no token or another bot's."""
    if choices.plan_file:
        _check_backup(choices, [choices.plan_file])
        with saved_plan(settings, choices.plan_file, writes=not choices.dry_run) as plan:
            yield [plan]
        return
    manifests = load(settings)
    if choices.backup and len(manifests) != 1:
        raise UsageError("--backup takes one listing", hint="apply the manifests one by one")
    _check_backup(choices, manifests[0].paths)
    with jobs(settings, manifests) as opened:
        for job in () if choices.dry_run else opened:
            job.site.check_token()
        planned = plan_all(opened)
        if choices.asks:
            planned = [ask_renames(item) if isinstance(item, Planned) else item for item in planned]
        yield planned


def _check_backup(choices: Choices, read: Sequence[str]) -> None:
    if choices.backup:
        check_target(choices.backup, force=choices.force, read=read)


def _approved(ready: list[Planned], output: Output, choices: Choices) -> list[Planned] | None:
    """Return the plans to apply, asked about if the user is to be asked; None after a no."""
    if choices.asks and any(planned.plan.changes for planned in ready):
        approved = approve_plans(ready, output)
        if approved is None:
            decline(output)
        return approved
    if output.format == "text" and output.verbosity >= 0:
        show_plans([planned.plan for planned in ready], output)
    return ready


def _carry_out(
    planned: list[Planned],
    settings: Settings,
    choices: Choices,
    *,
    output: Output,
    signals: Signals,
) -> int:
    if choices.backup:
        _back_up(planned[0], choices.backup, output, force=choices.force)
    stop = Stop(announce_stop)
    with signals.answered_by(stop):
        results = execute(
            planned,
            stop,
            settings=settings,
            signals=signals,
            unordered=choices.unordered,
        )
        code = show_results(results, output)
    return of_signal(signals.number) if signals.number else code


def _back_up(planned: Planned, path: str, output: Output, *, force: bool) -> None:
    if not planned.plan.changes:
        output.talk(f"{path} was not written: there are no changes")
        return
    warnings = write_backup(planned, path, force=force)
    output.notices([Notice(warning) for warning in warnings])
    output.talk(f"wrote {path}: the listing before this apply")


def _show_only(planned: Sequence[Planned | CommandsyncError], output: Output) -> int:
    """Show the plans, and why some of them would not be applied."""
    plans = plans_of(planned)
    errors = [_error_of(item, of=len(planned)) for item in planned]
    if output.format == "json":
        show_plans([error or plan for error, plan in zip(errors, plans, strict=True)], output)
    else:
        show_plans(plans, output)
        for error, plan in zip(errors, plans, strict=True):
            if isinstance(plan, CommandsyncError) or error is None:
                continue  # shown already, or there is no error
            if plan.refusal is not None and isinstance(error, TooManyDeletesError):
                output.talk("Nothing was changed.")  # the plan shows why
            else:
                output.failure(error)
    return exits.worst(map(exits.of_error, filter(None, errors)))


def _error_of(item: Planned | CommandsyncError, *, of: int) -> CommandsyncError | None:
    """Return why a plan is missing or refused; of several plans, with the manifest's name."""
    if isinstance(item, CommandsyncError):
        return item
    error = refusal_of(item)
    return error and about(error, item.plan.manifest[0], of=of)
