"""Check the promise for every fault, and print the tables: `python -m tests.faults`.

Every fault on every operation at every moment, every moment of a kill, and random schedules of
faults, kills and second runs, in simulated time; then generated cases of manifests, listings and
services of every kind, and some of these with listings that take whole lists, too. All are cases
of tests/support/story.py; `make test` runs a part of them.
Exit code 1: anything was lost, doubled or misreported.

    python -m tests.faults --case 17            one generated case, step by step
    python -m tests.faults --case 17 --smaller  the same case, reduced to what still fails
    python -m tests.faults --case 17 --smaller "plan: not enough"  the same, for one of its problems
    python -m tests.faults --case 17 --lists   the same case with the lists beside its page
    python -m tests.faults --generated 2000     only this number of generated cases
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from time import monotonic

from commandsync.apply.outcomes import Aborted, Interrupted
from tests.faults.tally import Tally, played, story, table
from tests.support.cases import OPERATIONS, Case
from tests.support.draws import drawn
from tests.support.driver import Kill
from tests.support.everywhere import has_lists, prove_everywhere
from tests.support.listing import FAULTS
from tests.support.scene import MODES, every_pair, every_stop, met, scheduled

SEED = 20_260_701
GENERATED = 50_000
WITH_LISTS = 4_000  # of the same; those without commands and with saved plans have none
RANDOM = 6_000  # schedules, half of them with a second run
PARTS = os.cpu_count() or 1  # each draws all cases, and plays its own


def faulted(part: int, seed: int) -> Tally:
    """Play a part of the cases in which faults are met in the scene."""
    return played(islice(every_fault(seed), part, None, PARTS))


def generated(part: int, seed: int, count: int) -> Tally:
    """Play a part of so many generated cases."""
    return played(drawn(number, seed) for number in range(part, count, PARTS))


def with_lists(part: int, seed: int, count: int) -> Tally:
    """Play a part of so many generated cases that can have lists beside the page."""
    cases = (drawn(number, seed) for number in range(part, count, PARTS))
    return played(filter(has_lists, cases), prove_everywhere)


def every_fault(seed: int) -> Iterator[Case]:
    """Yield every case of faults, always the same ones for one seed."""
    for mode in MODES:
        yield from every_pair(FAULTS, mode)
        for operation in OPERATIONS:
            for fault in FAULTS:
                yield from (met(operation, fault, first, mode, stays=True) for first in range(2))
        for stop in (Kill(), Aborted(), Interrupted()):
            for lands in (False, True):
                yield from every_stop(stop, mode, lands=lands)
    numbers = random.Random(seed)  # noqa: S311 - a schedule is not a secret
    modes = sorted(MODES)
    for n in range(RANDOM):
        second = n % 2 == 1
        yield _scheduled(numbers, "apply" if second else numbers.choice(modes), second=second)


def _scheduled(numbers: random.Random, mode: str, *, second: bool) -> Case:
    return scheduled(
        {numbers.randrange(40): numbers.choice(FAULTS) for _ in range(numbers.randrange(7))},
        kills=tuple(numbers.randrange(120) for _ in range(numbers.randrange(4))),
        flights=tuple(numbers.randrange(1, 10) for _ in range(numbers.randrange(1, 9))),
        turns=tuple(numbers.randrange(2) for _ in range(numbers.randrange(1, 60)))
        if second
        else (),
        same=numbers.random() < 0.5,
        mode=mode,
    )


def _seed() -> int:
    return int(os.environ.get("FAULTS_SEED", SEED))


def main() -> int:
    """Play what the command line asks for: by default all of it, on every processor."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--case", type=int, help="tell the story of one generated case")
    parser.add_argument(
        "--smaller",
        nargs="?",
        const="",
        metavar="KIND",
        help="make that case smaller first: whatever it still fails without, in this way, goes",
    )
    parser.add_argument("--generated", type=int, help="play only so many generated cases")
    parser.add_argument("--lists", action="store_true", help="play that case with lists, too")
    asked = parser.parse_args()
    if asked.case is not None:
        print(story(asked.case, _seed(), asked.smaller, lists=asked.lists))
        return 0
    wrong = 0
    if not asked.generated:
        print("Faults met in one scene, by operation: failed of so many.\n")
        wrong = show(partial(faulted, seed=_seed()))
    print("\nGenerated cases, by service and by what comes between: failed of so many.\n")
    count = asked.generated or GENERATED
    wrong = max(wrong, show(partial(generated, seed=_seed(), count=count)))
    print("\nThe same, with a page and three whole lists in each manifest: failed of so many.\n")
    return max(wrong, show(partial(with_lists, seed=_seed(), count=min(count, WITH_LISTS))))


def show(play: Callable[[int], Tally]) -> int:
    """Play all parts on every processor, print the table, and return the exit code."""
    begun = monotonic()
    tally = Tally()
    with ProcessPoolExecutor() as pool:
        for part in pool.map(play, range(PARTS)):
            tally.add(part)
    print(table(tally))
    print(f"seed {_seed()}, {(monotonic() - begun) / 60:.1f} minutes")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
