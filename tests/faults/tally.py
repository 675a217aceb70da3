"""What came of many cases, as a table; and the story of one of them, whole or made smaller."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.support.cases import Case
from tests.support.draws import drawn
from tests.support.everywhere import prove_everywhere
from tests.support.shrinking import shrunk
from tests.support.story import Story, prove, told

_COPIED = ("adds what", "copied", "added again", "twice", "again", "announcements swing")
_LOST = (
    "another",
    "commands swing",
    "deletes",
    "emptied",
    "goes without",
    "guard",
    "lost",
    "outside its plan",
    "stale plan is applied",
)


@dataclass
class Tally:
    """What came of some of the cases.

    Attributes:
        cases: How many there were of each row and column.
        failed: In how many of them something was wrong.
        wrong: Which they were, by what was wrong.
    """

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, other: Tally) -> None:
        """Take in what came of other cases."""
        self.cases += other.cases
        self.failed += other.failed
        for kind, names in other.wrong.items():
            self.wrong[kind] += names

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


def played(cases: Iterable[Case], prove: Callable[[Case], Story] = prove) -> Tally:
    """Play cases."""
    tally = Tally()
    for case in cases:
        problems = prove(case).problems
        place = (case.kind, case.trouble)
        tally.cases[place] += 1
        tally.failed[place] += bool(problems)
        for kind in {problem.kind for problem in problems}:
            tally.wrong[kind].append(str(case))
    return tally


def table(tally: Tally) -> str:
    """Show how many cases there were of each row and column, and what was wrong."""
    columns = [*dict.fromkeys(column for _, column in tally.cases)]
    rows = [*dict.fromkeys(row for row, _ in tally.cases)]
    widths = [max(len(column), 9) + 2 for column in columns]
    head = "".join(f"{name:>{width}}" for name, width in zip(columns, widths, strict=True))
    lines = [f"{'':36}{head}"]
    for row in rows:
        cells = [
            f"{_cell(tally, row, name):>{width}}"
            for name, width in zip(columns, widths, strict=True)
        ]
        lines.append(f"{row:36}{''.join(cells)}")
    sorts = ", ".join(f"{sort} {tally.count(sort)}" for sort in ("lost", "copied", "untrue"))
    lines += ["", f"cases {tally.total:,}: {sorts}"]
    for kind, names in sorted(tally.wrong.items(), key=lambda item: -len(item[1])):
        lines.append(f"WRONG {len(names):6} {kind}: {'; '.join(names[:5])}")
    return "\n".join(lines)


def _cell(tally: Tally, row: str, column: str) -> str:
    count = tally.cases[row, column]
    return f"{tally.failed[row, column]} of {count}" if count else "-"


def story(number: int, seed: int, smaller: str | None, *, lists: bool) -> str:
    """Tell the story of one case; as small as it still fails in this way, if one is given."""
    case = drawn(number, seed)
    if lists:
        return told(prove_everywhere(case))
    return told(prove(case if smaller is None else shrunk(case, smaller)))
