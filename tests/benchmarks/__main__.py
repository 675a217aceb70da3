"""Measure the speed budgets and print one table; the exit code is 1 if one is exceeded."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import (
    action,
    bookkeeping,
    botlist,
    growth,
    history,
    listings,
    pages,
    planning,
    reading,
    starting,
    validating,
)
from tests.benchmarks.budgets import table


def main() -> int:
    """Measure group by group, and print one table."""
    with TemporaryDirectory(prefix="commandsync-bench-") as name:
        folder = Path(name)
        groups = (
            starting.rows,
            lambda: validating.rows(folder),
            lambda: reading.rows(folder),
            lambda: planning.rows(folder),
            lambda: listings.rows(folder),
            lambda: action.rows(folder),
            lambda: history.rows(folder),
            lambda: pages.rows(folder),
            lambda: botlist.rows(folder),
            bookkeeping.rows,
            growth.rows,
        )
        rows = [row for group in groups for row in group()]
    print(table(rows))
    over = sum(not row.ok for row in rows)
    print(f"\n{over} over budget." if over else f"\nAll {len(rows)} budgets are kept.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
