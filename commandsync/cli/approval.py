"""Questions to the user on a terminal, before anything is written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from commandsync import report
from commandsync.cli.output import print_err
from commandsync.errors import CommandsyncError
from commandsync.plan.hints import likely_renames
from commandsync.report.escape import visible
from commandsync.report.linediff import cut
from commandsync.report.summary import question
from commandsync.sync.execution import refusal_of

if TYPE_CHECKING:
    from commandsync.cli.output import Output
    from commandsync.sync.job import Planned


def confirm(question: str) -> bool:
    """Ask a question; no answer is a no."""
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort:
        print_err("")  # end the line of the question
        return False


def decline(output: Output) -> None:
    """Show that nothing was changed because the user answered no."""
    if output.format == "json":
        output.failure(CommandsyncError("declined; nothing was changed"), kind="declined")
    else:
        output.talk("Nothing was changed.")


def approve_plans(planned: list[Planned], output: Output) -> list[Planned] | None:
    """Show plans and ask; after a yes read again, and ask again if a touched record has changed.

    None is a no.

    Raises:
        CommandsyncError: Reading again failed, or what is listed now is refused.
    """
    while True:
        plans = [item.plan for item in planned]
        screen = output.screen(sys.stderr, whole=True)
        output.talk(report.render_plans(plans, format="text", screen=screen), at=-1)
        counts = question([change for plan in plans for change in plan.changes])
        if not confirm(f"\n{counts}. Make these changes?"):
            return None
        current = [item.again() for item in planned]
        if refused := next(filter(None, map(refusal_of, current)), None):
            raise refused
        if [item.plan.fingerprint for item in current] == [plan.fingerprint for plan in plans]:
            return current
        output.talk("\nThe listing has changed in the meantime. The new plan:\n", at=-1)
        planned = current


def ask_renames(planned: Planned) -> Planned:
    """Ask of each added command that is like a deleted one whether it is a rename of it."""
    if planned.pinned is None:
        return planned
    pins = {
        add.location: delete.id
        for add, delete in likely_renames(planned.plan.changes)
        if confirm(
            f'Is "{visible(cut(delete.name))}" renamed to "{visible(cut(add.name))}", '
            "with its id and uses kept?"
        )
    }
    return planned.pinned(pins) if pins else planned
