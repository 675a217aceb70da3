"""Break apply, plan, policy and snapshot bit by bit, and hold what survives to the list.

mutmut makes the breaks and runs the tests that [tool.mutmut] in pyproject.toml names. A break that
no test notices must be explained in tests/MUTANTS.md, by the function it is in; there is nothing
else there. Ends with 1 otherwise, and when half an hour was not enough.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MUTMUT = (sys.executable, "-m", "mutmut")
LONGEST = 30 * 60  # seconds

_SURVIVOR = re.compile(r"^\s*(\S+?)\.x(?:ǁ\w+ǁ|_)(\w+)__mutmut_\d+: (\S.*)$", re.MULTILINE)
_EXPLAINED = re.compile(r"^\| `([\w.]+)` \| (\d+) \|", re.MULTILINE)


def main() -> int:
    """Run, compare and say what differs."""
    try:
        subprocess.run([*MUTMUT, "run"], cwd=ROOT, timeout=LONGEST, check=False)  # noqa: S603 - this file's own command
    except subprocess.TimeoutExpired:
        print("half an hour was not enough; what was not tried is named below")
    listed = subprocess.run(  # noqa: S603 - as above
        [*MUTMUT, "results"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    survived = Counter(
        f"{module.removeprefix('commandsync.')}.{name}"
        for module, name, fate in _SURVIVOR.findall(listed.stdout)
        if fate != "timeout"  # it was noticed: the tests did not end
    )
    text = (ROOT / "tests" / "MUTANTS.md").read_text(encoding="utf-8")
    explained = Counter({name: int(count) for name, count in _EXPLAINED.findall(text)})
    for name, count in sorted((survived - explained).items()):
        print(f"{name}: {count} more than tests/MUTANTS.md explains; see  mutmut results")
    return 1 if survived - explained else 0


if __name__ == "__main__":
    sys.exit(main())
