"""What is seen while writing: a bar on a terminal, a line per change with -v elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from commandsync import report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from commandsync.apply.outcomes import Settled
    from commandsync.cli.output import Output
    from commandsync.plan.plan import Plan


@contextmanager
def showing(plan: Plan, output: Output) -> Iterator[Callable[[Sequence[Settled]], None]]:
    """Show outcomes as they come, for as long as the block lasts."""
    if output.verbosity == 0 and sys.stderr.isatty() and plan.changes:
        with _bar(plan) as on_settled:
            yield on_settled
    else:
        yield lambda settled: _lines(settled, output)


def _lines(settled: Sequence[Settled], output: Output) -> None:
    for one in settled:
        output.talk(report.render_settled(one, color=output.colored(sys.stderr)), at=1)


@contextmanager
def _bar(plan: Plan) -> Iterator[Callable[[Sequence[Settled]], None]]:
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.progress import Progress  # noqa: PLC0415 - as above

    done: set[int] = set()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("Applying", total=len(plan.changes))

        def on_settled(settled: Sequence[Settled]) -> None:
            done.update(id(one.change) for one in settled)
            progress.update(task, completed=len(done))

        yield on_settled
