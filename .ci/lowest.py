"""Run the tests with the lowest versions of its libraries that pyproject.toml allows.

Only what commandsync itself asks for is as low as may be: its libraries' own libraries, and what
the tests need, are as new as fits, as they are for somebody who has held back one of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = (sys.executable, "-m", "uv", "--quiet", "pip")


def run(*command: str | Path) -> None:
    """Run a command in the source tree; stop everything when it fails."""
    finished = subprocess.run([str(part) for part in command], cwd=ROOT, check=False)  # noqa: S603 - this file's own commands
    if finished.returncode:
        sys.exit(finished.returncode)


def main() -> None:
    """Do it in an environment of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        lowest = folder / "lowest.txt"
        resolve = ("--all-extras", "--resolution", "lowest-direct", "--no-annotate", "--no-header")
        run(sys.executable, "-m", "venv", python.parents[1])
        run(*UV, "compile", "pyproject.toml", *resolve, "--python", python, "-o", lowest)
        print(lowest.read_text(encoding="utf-8"), flush=True)
        what = ("--editable", ".[async,javascript,postgres,server]", "--group", "test")
        run(*UV, "install", "--python", python, "--constraint", lowest, *what)
        run(python, "-m", "pytest", "-n", "auto")


if __name__ == "__main__":
    main()
