"""Plans shown, agreed to, and carried out."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from commandsync.cli.output import ResultLostError, print_err
from commandsync.cli.progress import showing
from commandsync.cli.showing import show_plans, show_results, shown_plans
from commandsync.diagnostics import Notice
from commandsync.errors import CommandsyncError
from commandsync.sync import exits
from commandsync.sync.execution import Stop, execute, refusal_of, write_backup
from commandsync.sync.signals import of_signal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.cli.output import Output
    from commandsync.plan.changes import Change
    from commandsync.sync.job import Planned
    from commandsync.sync.settings import Settings
    from commandsync.sync.signals import Signals


_STOPPING = b"\nstopping: what is in flight is finished first (again: stop at once)\n"


@dataclass(frozen=True, slots=True)
class Choices:
    """How the user wants plans to be applied.

    Attributes:
        asks: Ask before the first write.
        backup: Where to write what is listed now; None for nowhere.
        unordered: Add concurrently.
        force: Replace a file that is in the backup's place.
    """

    asks: bool
    backup: str | None
    unordered: bool
    force: bool


def carry_out(
    planned: list[Planned],
    *,
    settings: Settings,
    output: Output,
    choices: Choices,
    signals: Signals,
) -> int:
    """Apply plans that may be applied, and show what became of them.

    Args:
        planned: What to apply.
        settings: Flags and environment.
        output: Where it is shown.
        choices: How the user wants it.
        signals: Who hears of signals.

    Returns:
        The exit code.

    Raises:
        CommandsyncError: Before the first write: reading again failed or was refused, or the
            backup cannot be written.
    """
    if choices.asks and any(one.plan.changes for one in planned):
        agreed = _agreed(planned, output)
        if agreed is None:
            _declined(output)
            return exits.Exit.FAILED
        planned = agreed
    elif output.format == "text":
        show_plans([one.plan for one in planned], output)
    if choices.backup:
        _back_up(planned[0], choices.backup, output, force=choices.force)
    stop = Stop(_tell_stopping)
    with signals.answered_by(stop):
        results = execute(
            planned,
            stop,
            settings=settings,
            signals=signals,
            progress=lambda plan: showing(plan, output),
            unordered=choices.unordered,
        )
        code = _shown(results, output)
    if signals.number:
        return of_signal(signals.number)
    return code


def _tell_stopping() -> None:
    """Say that the run is stopping; in the middle of another print, so it writes raw."""
    with suppress(OSError):  # nobody may be there to read it
        os.write(2, _STOPPING)


def _shown(results: Sequence[Result], output: Output) -> int:
    """Show results, and return their exit code: what nobody could be told is incomplete."""
    try:
        show_results(results, output)
    except ResultLostError as error:
        output.failure(error)
        touched = any(result.touched for result in results)
        return exits.Exit.INCOMPLETE if touched else exits.Exit.FAILED
    return exits.of_result(*results)


def renames_asked(planned: Planned) -> Planned:
    """Ask of each added command that looks like a deleted one whether it is a rename of it."""
    if planned.pinned is None:
        return planned
    from commandsync.plan.hints import likely_renames  # noqa: PLC0415 - loads with the plan

    pins = {
        add.location: delete.id
        for add, delete in likely_renames(planned.plan.changes)
        if _yes(f'Is "{_name(delete)}" renamed to "{_name(add)}", with its id and uses kept?')
    }
    return planned.pinned(pins) if pins else planned


def _agreed(planned: list[Planned], output: Output) -> list[Planned] | None:
    """Show plans and ask; after a yes read again, and ask again if what is touched has changed."""
    while True:
        output.talk(shown_plans([one.plan for one in planned], output), at=-1)
        count = sum(len(one.plan.changes) for one in planned)
        if not _yes(f"\nMake {count} change{'s' if count != 1 else ''} on the listing?"):
            return None
        now = [one.again() for one in planned]
        if refused := next(filter(None, map(refusal_of, now)), None):
            raise refused
        if [one.plan.fingerprint for one in now] == [one.plan.fingerprint for one in planned]:
            return now
        output.talk("\nThe listing has changed meanwhile. This is the plan now:\n", at=-1)
        planned = now


def _name(change: Change) -> str:
    from commandsync.report.escape import visible  # noqa: PLC0415 - as above
    from commandsync.report.linediff import cut  # noqa: PLC0415 - loads with the plan

    return visible(cut(change.name))


def _yes(question: str) -> bool:
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort:
        print_err("")  # no answer, no end of the question's line
        return False


def _declined(output: Output) -> None:
    if output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed"), kind="declined")
    else:
        output.talk("Nothing was changed.")


def _back_up(one: Planned, path: str, output: Output, *, force: bool) -> None:
    if not one.plan.changes:
        output.talk(f"{path} is not written: nothing is to be changed")
        return
    warnings = write_backup(one, path, force=force)
    output.notices([Notice(warning) for warning in warnings])
    output.talk(f"wrote {path}: what was listed before")
