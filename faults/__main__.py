"""Check the promise for every fault, and print the tables: `make faults`, or python -m faults.

Every fault on every operation at every moment, every moment of a kill, and random schedules of
faults, kills and second runs, in simulated time; then generated cases of manifests, listings and
services of every kind. The cases are those of tests/support/proof.py and tests/support/story.py;
`make test` runs a part of them. Exit code 1: anything was lost, doubled or misreported.

    python -m faults --case 17            one generated case, step by step
    python -m faults --case 17 --smaller  the same case, reduced to what still fails
    python -m faults --case 17 --smaller "plan: not enough"  the same, for one of its problems
    python -m faults --generated 2000     only this number of generated cases
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from time import monotonic
from typing import TYPE_CHECKING

from commandsync.apply.steps import Aborted, Interrupted
from faults.generated import CASES, Tally, play_generated, print_generated, story
from tests.support.driver import Kill
from tests.support.listing import FAULTS
from tests.support.proof import (
    MODES,
    MOST_RUNS,
    OPERATIONS,
    Case,
    Schedule,
    Verdict,
    every_pair,
    moments_of,
    on_all,
    prove,
    scheduled,
    stopped_at,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SEED = 20_260_701
RANDOM = 6_000  # schedules, half of them with a second run
PARTS = 64  # pieces of work
MOST_SHOWN = 20

Cell = tuple[int, int, int, int, int]
"""Cases, most runs to converge, copies, lost, untrue."""


def cases(seed: int) -> Iterator[Case]:
    """Yield every case, always the same ones for one seed."""
    for mode in MODES:
        yield from every_pair(FAULTS, mode)
        for operation in OPERATIONS:
            for fault in FAULTS:
                yield from (on_all(operation, fault, first, mode) for first in range(2))
        for moment in range(moments_of(mode)):
            for stop in (Kill(), Aborted(), Interrupted()):
                for lands in (False, True):
                    yield stopped_at(moment, stop, mode, lands=lands)
    numbers = random.Random(seed)  # noqa: S311 - a schedule is not a secret
    modes = sorted(MODES)
    for n in range(RANDOM):
        second = n % 2 == 1
        schedule = _drawn(numbers, second=second)
        yield scheduled(schedule, "apply" if second else numbers.choice(modes))


def _drawn(numbers: random.Random, *, second: bool) -> Schedule:
    return Schedule(
        faults={numbers.randrange(40): numbers.choice(FAULTS) for _ in range(numbers.randrange(7))},
        kills=tuple(numbers.randrange(120) for _ in range(numbers.randrange(4))),
        flights=tuple(numbers.randrange(1, 10) for _ in range(numbers.randrange(1, 9))),
        turns=tuple(numbers.randrange(2) for _ in range(numbers.randrange(1, 60)))
        if second
        else (),
        same=numbers.random() < 0.5,  # noqa: PLR2004 - as often as not
    )


def play(part: int) -> tuple[dict[tuple[str, str], Cell], list[str], int]:
    """Play every `PARTS`th case; return the cells, what is wrong, and how many did not converge."""
    cells: dict[tuple[str, str], Cell] = {}
    wrong: list[str] = []
    stuck = 0
    for number, case in enumerate(cases(_seed())):
        if number % PARTS != part:
            continue
        verdict = prove(case)
        place = (case.row, case.column)
        cells[place] = _joined(cells.get(place), verdict)
        stuck += verdict.runs > MOST_RUNS or any("converge" in one for one in verdict.problems)
        if verdict.problems:
            wrong.append(f"{case}: {'; '.join(verdict.problems)}")
    return cells, wrong, stuck


def _joined(cell: Cell | None, verdict: Verdict) -> Cell:
    total, runs, copies, lost, untrue = cell or (0, 0, 0, 0, 0)
    return (
        total + 1,
        max(runs, verdict.runs),
        copies + verdict.copies,
        lost + verdict.lost,
        untrue + verdict.untrue,
    )


def _seed() -> int:
    return int(os.environ.get("FAULTS_SEED", SEED))


def main() -> int:
    """Play what the command line asks for: by default all of it, on every processor."""
    parser = argparse.ArgumentParser(prog="python -m faults", description=__doc__.splitlines()[0])
    parser.add_argument("--case", type=int, help="tell the story of one generated case")
    parser.add_argument(
        "--smaller",
        nargs="?",
        const="",
        metavar="KIND",
        help="make that case smaller first: whatever it still fails without, in this way, goes",
    )
    parser.add_argument("--generated", type=int, help="play only so many generated cases")
    asked = parser.parse_args()
    if asked.case is not None:
        print(story(asked.case, _seed(), asked.smaller))
        return 0
    wrong = 0 if asked.generated else every_fault()
    return max(wrong, generated(asked.generated or CASES))


def generated(count: int) -> int:
    """Play so many generated cases, print their table, and return the exit code."""
    begun = monotonic()
    tally = Tally()
    size = -(-count // PARTS)
    parts = [range(first, min(first + size, count)) for first in range(0, count, size)]
    with ProcessPoolExecutor() as pool:
        for part in pool.map(play_generated, parts, [_seed()] * len(parts)):
            tally.add(part)
    print_generated(tally, _seed())
    print(f"{(monotonic() - begun) / 60:.1f} minutes")
    return 1 if tally.wrong else 0


def every_fault() -> int:
    """Play every fault, print the table and the totals, and return the exit code."""
    begun = monotonic()
    cells: defaultdict[tuple[str, str], Cell] = defaultdict(lambda: (0, 0, 0, 0, 0))
    wrong: list[str] = []
    stuck = 0
    with ProcessPoolExecutor() as pool:
        for found, problems, apart in pool.map(play, range(PARTS)):
            stuck += apart
            wrong += problems
            for place, cell in found.items():
                mine = cells[place]
                sums = [a + b for a, b in zip(mine, cell, strict=True)]
                cells[place] = (sums[0], max(mine[1], cell[1]), sums[2], sums[3], sums[4])
    _print_table(cells)
    total, _, copies, lost, untrue = (
        sum(cell[n] for cell in cells.values()) for n in range(len((0, 0, 0, 0, 0)))
    )
    minutes = (monotonic() - begun) / 60
    print(f"\nseed {_seed()}, {minutes:.1f} minutes")
    print(
        f"cases {total:,}, converged {total - stuck:,}, lost {lost}, copies {copies}, "
        f"untrue outcomes {untrue}, anything wrong {len(wrong)}"
    )
    for line in wrong[:MOST_SHOWN]:
        print(f"WRONG {line}")
    return 1 if wrong else 0


def _print_table(cells: dict[tuple[str, str], Cell]) -> None:
    print(
        "Cells: most runs to converge / copies / lost, of all cases; at most 2 runs are expected.\n"
    )
    rows = [fault.name for fault in FAULTS]
    print(f"{'':26}" + "".join(f"{name:>15}" for name in OPERATIONS))
    for row in rows:
        print(f"{row:26}" + "".join(f"{_cell(cells, row, name):>15}" for name in OPERATIONS))
    print()
    for row, column in cells:
        if column not in OPERATIONS:
            print(f"{row:36}{column:>14}{_cell(cells, row, column):>18}")


def _cell(cells: dict[tuple[str, str], Cell], row: str, column: str) -> str:
    if (row, column) not in cells:
        return "-"
    total, runs, copies, lost, _ = cells[row, column]
    return f"{runs}/{copies}/{lost} of {total}"


if __name__ == "__main__":
    sys.exit(main())
