"""Write the Action's lock: the libraries of its run, for every platform, with hashes.

Versions that the lock names already stay, if they still fit. Remove the version of a line, or the
file, to get the newest.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

from commandsync.action.bootstrap import LOCK, NEWEST, locked

ROOT = Path(__file__).resolve().parents[1]
NOT_IMPORTED = {"click", "python-dotenv", "rich"}
"""What only the command line imports."""

HEADER = f"""\
# What the Action runs with: exact versions, and the hashes of the wheels for every platform and for
# Python 3.11 to {".".join(map(str, NEWEST))}. Written by .ci/lock.py.
"""
CONSTRAINTS = "deepdiff<9\n"  # 9 needs cachebox, which has no wheels for Windows on ARM
UV = (sys.executable, "-m", "uv", "pip", "compile", "--quiet", "-")
FORM = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate")


def main() -> int:
    """Write the lock; return the exit code of the resolver."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [text for text in project["dependencies"] if Requirement(text).name not in NOT_IMPORTED]
    ended = subprocess.run(  # noqa: S603 - this file's own command
        [*UV, *FORM, "--no-header", "--output-file", str(LOCK)],
        input="\n".join([*asked, CONSTRAINTS]),
        text=True,
        check=False,
    )
    if not ended.returncode:
        text = LOCK.read_text(encoding="utf-8")
        LOCK.write_text(HEADER + text, encoding="utf-8", newline="\n")
        print(f"{LOCK.name}: locked {len(locked(text))} libraries")
    return ended.returncode


if __name__ == "__main__":
    sys.exit(main())
