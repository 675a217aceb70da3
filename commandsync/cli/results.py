"""Plans, progress and results, in the format that the user asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.cli.output import ResultLostError, in_flags
from commandsync.sync import exits
from commandsync.sync.job import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from commandsync.apply.outcomes import Result
    from commandsync.cli.output import Output
    from commandsync.errors import CommandsyncError
    from commandsync.plan.plan import Plan


def show_plans(plans: Sequence[Plan | CommandsyncError], output: Output) -> None:
    """Print plans, and the errors of those that could not be made."""
    made, errors = split(plans)
    errors = tuple(map(in_flags, errors))
    if output.format == "json" and errors:
        output.result(report.render_plans(plans, format="json"))
        return
    if made:
        screen = output.screen(sys.stdout)
        output.result(report.render_plans(made, format=output.format, screen=screen))
    for error in errors:
        output.failure(error)


def show_results(results: Sequence[Result], output: Output) -> int:
    """Print the results of plans; return their exit code: results that are lost are incomplete."""
    screen = output.screen(sys.stdout)
    try:
        output.result(report.render_results(results, format=output.format, screen=screen))
    except ResultLostError as error:
        touched = any(result.touched for result in results)
        output.failure(error.after_writing() if touched else error)
        return exits.Exit.INCOMPLETE if touched else exits.Exit.FAILED
    return exits.of_result(*results)
