"""Measure the speed budgets and print one table; the exit code is 1 if one is exceeded.

Arguments choose groups: `python -m tests.benchmarks reading planning`.
"""

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


def main(names: list[str]) -> int:
    """Measure these groups, or all of them, one after the other, and print one table."""
    with TemporaryDirectory(prefix="commandsync-bench-") as name:
        folder = Path(name)
        groups = {
            "starting": starting.rows,
            "validating": lambda: validating.rows(folder),
            "reading": lambda: reading.rows(folder),
            "planning": lambda: planning.rows(folder),
            "listings": lambda: listings.rows(folder),
            "action": lambda: action.rows(folder),
            "history": lambda: history.rows(folder),
            "pages": lambda: pages.rows(folder),
            "botlist": lambda: botlist.rows(folder),
            "bookkeeping": bookkeeping.rows,
            "growth": growth.rows,
        }
        if unknown := set(names) - set(groups):
            print(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(groups)}")
            return 2
        rows = [row for name in names or groups for row in groups[name]()]
    print(table(rows))
    over = sum(not row.ok for row in rows)
    print(f"\n{over} over budget." if over else f"\nAll {len(rows)} budgets are kept.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
