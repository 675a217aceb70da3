"""The generated cases of the model: played in numbers, one told whole, one made smaller.

A number gives the same case for ever; `python -m faults --case N` tells its story.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from tests.support.cases import drawn
from tests.support.shrinking import shrunk
from tests.support.story import prove, told

CASES = 50_000

_COPIED = ("adds what", "added again", "twice", "again", "announcements swing", "copied")
_LOST = (
    "another",
    "commands swing",
    "deletes",
    "goes without",
    "guard",
    "rename is lost",
    "outside its plan",
    "stale plan is applied",
)


@dataclass
class Tally:
    """What came of some of the cases.

    Attributes:
        cases: How many there were of each kind of service and trouble.
        wrong: The numbers of those in which something was wrong, by what it was.
    """

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: Tally) -> None:
        """Take in what came of other cases."""
        self.cases += other.cases
        self.failed += other.failed
        for kind, numbers in other.wrong.items():
            self.wrong[kind] = sorted([*self.wrong[kind], *numbers])

    def count(self, sort: str) -> int:
        """Count the cases of one sort of wrong: `copied`, `lost` or `untrue`."""
        return len({n for kind, some in self.wrong.items() if _sort(kind) == sort for n in some})

    @property
    def total(self) -> int:
        """How many cases there were."""
        return self.cases.total()


def _sort(kind: str) -> str:
    if any(words in kind for words in _LOST):
        return "lost"
    return "copied" if any(words in kind for words in _COPIED) else "untrue"


def play_generated(numbers: range, seed: int) -> Tally:
    """Play the cases of these numbers."""
    tally = Tally()
    for number in numbers:
        case = drawn(number, seed)
        problems = prove(case).problems
        place = (case.kind, case.trouble)
        tally.cases[place] += 1
        tally.failed[place] += bool(problems)
        for kind in {problem.kind for problem in problems}:
            tally.wrong[kind].append(number)
    return tally


def print_generated(tally: Tally, seed: int) -> None:
    """Print how many cases there were of each kind, and what was wrong."""
    columns = sorted({trouble for _, trouble in tally.cases})
    print(
        "\nGenerated cases, by what the service does and what comes between: failed of so many.\n"
    )
    print(f"{'':24}" + "".join(f"{name:>26}" for name in columns))
    for row in sorted({kind for kind, _ in tally.cases}):
        cells = [f"{tally.failed[row, one]} of {tally.cases[row, one]}" for one in columns]
        print(f"{row:24}" + "".join(f"{cell:>26}" for cell in cells))
    print(
        f"\ngenerated cases {tally.total:,}, seed {seed}: "
        + ", ".join(f"{sort} {tally.count(sort)}" for sort in ("lost", "copied", "untrue"))
    )
    for kind, numbers in sorted(tally.wrong.items(), key=lambda item: -len(item[1])):
        print(f"WRONG {len(numbers):6} {kind}: --case {', '.join(map(str, numbers[:5]))}")


def story(number: int, seed: int, smaller: str | None) -> str:
    """Tell the story of one case; as small as it still fails in this way, if one is given."""
    case = drawn(number, seed)
    return told(prove(case if smaller is None else shrunk(case, smaller)))
