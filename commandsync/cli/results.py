"""Plans, progress and results, in the format that the user asked for."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commandsync import report
from commandsync.cli.output import ResultLostError, in_flags
from commandsync.sync import exits
from commandsync.sync.job import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commandsync.apply.outcomes import Result, Settled
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


@contextmanager
def show_progress(plan: Plan, output: Output) -> Iterator[Callable[[Sequence[Settled]], None]]:
    """Show outcomes while they come: as a bar on a terminal, elsewhere with -v as lines."""

    def show_lines(outcomes: Sequence[Settled]) -> None:
        for outcome in outcomes:
            output.talk(report.render_settled(outcome, screen=output.screen(sys.stderr)), at=1)

    if output.verbosity == 0 and sys.stderr.isatty() and plan.changes:
        with _bar(plan) as on_settled:
            yield on_settled
    else:
        yield show_lines


@contextmanager
def _bar(plan: Plan) -> Iterator[Callable[[Sequence[Settled]], None]]:
    from rich.console import Console  # only a terminal needs it
    from rich.progress import Progress

    done: set[int] = set()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Applying", total=len(plan.changes))

        def on_settled(outcomes: Sequence[Settled]) -> None:
            done.update(id(outcome.change) for outcome in outcomes)
            progress.update(task, completed=len(done))

        yield on_settled
