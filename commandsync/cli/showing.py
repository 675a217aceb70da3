"""Results on standard output, in the form the user asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.cli.output import ResultLostError
from commandsync.errors import CommandsyncError
from commandsync.sync import exits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.cli.output import Output
    from commandsync.plan.plan import Plan


def shown_plans(plans: Sequence[Plan], output: Output) -> str:
    """Return plans as people read them on stderr, whatever the form of the result."""
    return report.render_plans(plans, format="text", color=output.colored(sys.stderr))


def show_plans(plans: Sequence[Plan | CommandsyncError], output: Output) -> None:
    """Print plans, and the errors of those that could not be made."""
    good = [plan for plan in plans if not isinstance(plan, CommandsyncError)]
    bad = [error for error in plans if isinstance(error, CommandsyncError)]
    if output.format == "json" and bad:
        output.result(report.render_mixed(plans))
        return
    if good:
        color = output.colored(sys.stdout)
        output.result(report.render_plans(good, format=output.format, color=color))
    for error in bad:
        output.failure(error)


def show_results(results: Sequence[Result], output: Output) -> None:
    """Print what became of plans.

    Raises:
        ResultLostError: It cannot be written; the message says whether the listing was changed.
    """
    color = output.colored(sys.stdout)
    try:
        output.result(report.render_results(results, format=output.format, color=color))
    except ResultLostError as error:
        if any(result.touched for result in results):
            raise error.after_writing() from error
        raise


def exit_of_plans(plans: Sequence[Plan | CommandsyncError], *, detailed: bool) -> int:
    """Return the exit code of plans that were only shown."""
    return exits.worst(
        exits.of_error(one)
        if isinstance(one, CommandsyncError)
        else (exits.Exit.CHANGES if detailed and one.changes else exits.Exit.DONE)
        for one in plans
    )
