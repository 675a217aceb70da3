"""Break apply, plan, records and the retry policy bit by bit, and hold what survives to the list.

mutmut makes the breaks and runs the tests that [tool.mutmut] in pyproject.toml names. A break that
no test notices must be explained in tests/MUTANTS.md, by the function it is in; there is nothing
else there. Ends with 1 otherwise, and when two hours were not enough.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MUTMUT = (sys.executable, "-m", "mutmut")
LONGEST = 120 * 60  # seconds
NOTICED = {"killed", "timeout"}  # a time-out is noticed too: the tests did not end

_MUTANT = re.compile(r"^\s*(\S+?)\.x(?:ǁ\w+ǁ|_)(\w+)__mutmut_\d+: (\S.*)$", re.MULTILINE)
_EXPLAINED = re.compile(r"^\| `([\w.]+)` \| (\d+) \|", re.MULTILINE)


def main() -> int:
    """Run, compare and say what differs."""
    shutil.rmtree(ROOT / "mutants", ignore_errors=True)  # what older tests noticed says nothing
    try:
        subprocess.run([*MUTMUT, "run"], cwd=ROOT, timeout=LONGEST, check=False)  # noqa: S603 - this file's own command
    except subprocess.TimeoutExpired:
        print("two hours were not enough; what was not tried is named below")
    listed = subprocess.run(  # noqa: S603 - as above
        [*MUTMUT, "results", "--all", "true"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    mutants = _MUTANT.findall(listed.stdout)
    survived = Counter(
        f"{module.removeprefix('commandsync.')}.{name}"
        for module, name, fate in mutants
        if fate not in NOTICED
    )
    text = (ROOT / "tests" / "MUTANTS.md").read_text(encoding="utf-8")
    explained = Counter({name: int(count) for name, count in _EXPLAINED.findall(text)})
    unexplained = survived - explained
    for name, count in sorted(unexplained.items()):
        print(f"{name}: {count} more than tests/MUTANTS.md explains; see  mutmut results")
    for name, count in sorted((explained - survived).items()):
        print(f"{name}: tests/MUTANTS.md explains {count} that did not survive")
    print(
        f"{len(mutants)} mutants: {len(mutants) - survived.total()} noticed, "
        f"{(survived & explained).total()} explained, {unexplained.total()} not explained"
    )
    return 1 if unexplained or not mutants else 0


if __name__ == "__main__":
    sys.exit(main())
