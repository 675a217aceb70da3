"""The figures of the table: how each is measured, what it may be, and whether it is.

Times and memory are the best of several interleaved rounds, each command a process of its own. For
a command that waits for nothing, its processor time is measured: on a free machine that is the time
that people wait, and on a busy one it still is the cost of the command itself.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


PYTHON = sys.executable
COMMANDSYNC = (PYTHON, "-m", "commandsync")

# A child's peak counts what its parent had when it was started, so a small process starts it.
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def best(runs: Mapping[str, Callable[[], float]], *, rounds: int) -> dict[str, float]:
    """Return the least that each run took; what they are compared by is measured in turn.

    Args:
        runs: What to measure; each returns its figure.
        rounds: How often; what disturbs the machine meets all of them alike.
    """
    figures: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            figures[name].append(run())
    return {name: min(found) for name, found in figures.items()}


def work(*arguments: str) -> Callable[[], float]:
    """Return a run of a whole command that gives its processor time, in seconds.

    Raises:
        CalledProcessError: When run, it exits with an error.
    """

    def run() -> float:
        before = _children_time()
        command(*arguments)()
        return _children_time() - before

    return run


def command(*arguments: str, **variables: str) -> Callable[[], float]:
    """Return a run of a whole command that gives the time from its start to its end, in seconds.

    Args:
        arguments: The command.
        variables: Environment variables of it.

    Raises:
        CalledProcessError: When run, it exits with an error.
    """

    def run() -> float:
        begun = perf_counter()
        env = environment() | variables
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=env)
        return perf_counter() - begun

    return run


def printed_seconds(*arguments: str) -> Callable[[], float]:
    """Return a run of a command that prints its own figure."""

    def run() -> float:
        ended = subprocess.run(
            arguments, check=True, stdout=subprocess.PIPE, text=True, env=environment()
        )
        return float(ended.stdout)

    return run


def peak_memory(*arguments: str) -> float:
    """Return the most memory that a command held, in MB."""
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return printed_seconds(PYTHON, "-c", _PEAK, *arguments)() * kilobyte / 1_000_000


def _children_time() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def environment() -> dict[str, str]:
    """Return this environment without what would steer the program or slow it down."""
    steering = ("COMMANDSYNC_", "COVERAGE_", "PYTHON")
    return {name: value for name, value in os.environ.items() if not name.startswith(steering)}


@dataclass(frozen=True, slots=True)
class Row:
    """One budget.

    Attributes:
        name: What was measured.
        measured: The figure.
        budget: The most it may be.
        unit: What both count in; times a reference where it is `x`.
        seen: The raw times behind it, for those who want to check the arithmetic.
    """

    name: str
    measured: float
    budget: float
    unit: str = "x"
    seen: str = ""

    @property
    def ok(self) -> bool:
        """Whether the budget is kept."""
        return self.measured <= self.budget

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as shown."""
        figures = (self._shown(self.measured), self._shown(self.budget))
        return (self.name, *figures, "ok" if self.ok else "OVER", self.seen)

    def _shown(self, figure: float) -> str:
        return f"{figure:.2f} x" if self.unit == "x" else f"{figure:.0f} {self.unit}"


def ratio(name: str, measured: float, reference: float, budget: float, *, less: float = 0.0) -> Row:
    """Return the budget of a time as times a reference; `less` seconds do not count."""
    seen = f"{milliseconds(measured)} / {milliseconds(reference)}"
    return Row(name, (measured - less) / reference, budget, seen=seen)


def compared(
    name: str,
    measured: Callable[[], float],
    reference: Callable[[], float],
    budget: float,
    *,
    rounds: int,
    less: float = 0.0,
) -> Row:
    """Measure a run and its reference in turn, and return the budget of their ratio."""
    found = best({"measured": measured, "reference": reference}, rounds=rounds)
    return ratio(name, found["measured"], found["reference"], budget, less=less)


HEAD = ("what", "measured", "budget", "", "seen")


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table whose source reads as well as its page."""
    cells = [HEAD, *(row.cells for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(map(str.ljust, line, widths)) + " |"  # each cell as wide as its column
        for line in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def milliseconds(seconds: float) -> str:
    """Return a time as it is shown."""
    return f"{seconds * 1000:.0f} ms"
