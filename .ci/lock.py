"""Write the Action's locks: what its run imports, for every platform, with hashes.

One is for the input `preview`, which needs templates. Versions that a lock names already
stay, if they still fit. Remove a line's version, or the file, to get the newest.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from commandsync.action.bootstrap import LOCK, NEWEST, PREVIEW_LOCK, locked

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[1]
NOT_IMPORTED = {"click", "rich", "markdown-it-py"}
"""What only the command line imports."""

IN_PREVIEW = {"markdown-it-py"}
"""What of these the page imports, too."""

HEADER = f"""\
# What the Action runs with: exact versions, and the hashes of the wheels for every platform and for
# Python 3.11 to {".".join(map(str, NEWEST))}. Written by .ci/lock.py.
"""
CONSTRAINTS = "deepdiff<9\n"  # 9 needs cachebox, which has no wheels for Windows on ARM
UV = (sys.executable, "-m", "uv", "pip", "compile", "--quiet", "-")
FORM = ("--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate")


def wanted(*, preview: bool) -> list[str]:
    """Return the project's own requirements that a run of the Action imports."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left_out = NOT_IMPORTED - IN_PREVIEW if preview else NOT_IMPORTED
    own = [text for text in project["dependencies"] if Requirement(text).name not in left_out]
    return own + project["optional-dependencies"]["preview"] if preview else own


def write(lock: Path, asked: Sequence[str], *options: str) -> int:
    """Write a lock; return the exit code of what resolves it."""
    ended = subprocess.run(  # noqa: S603 - this file's own command
        [*UV, *FORM, *options, "--no-header", "--output-file", str(lock)],
        input="\n".join([*asked, CONSTRAINTS]),
        text=True,
        check=False,
    )
    if not ended.returncode:
        text = lock.read_text(encoding="utf-8")
        lock.write_text(HEADER + text, encoding="utf-8", newline="\n")
        print(f"{lock.name}: locked {len(locked(text))} libraries")
    return ended.returncode


def main() -> int:
    """Write the locks, the larger one with the versions of the other; return the exit code."""
    more = wanted(preview=True)
    return write(LOCK, wanted(preview=False)) or write(
        PREVIEW_LOCK, more, "--constraint", str(LOCK)
    )


if __name__ == "__main__":
    sys.exit(main())
