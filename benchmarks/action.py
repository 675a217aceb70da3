"""What the GitHub Action adds to the bare call, and what it takes to install its libraries."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmarks.budgets import Row, milliseconds
from benchmarks.manifests import BOT, records, write_manifest
from benchmarks.measuring import PYTHON, best, environment, work
from benchmarks.planning import plan
from benchmarks.service import running

if TYPE_CHECKING:
    from collections.abc import Callable

_ROOT = Path(__file__).resolve().parents[1]
_BASH = ("--noprofile", "--norc", "-e", "-o", "pipefail")
_CALLS = f"""
import os, sys
sys.path.insert(0, {str(_ROOT)!r})
from commandsync.action import bootstrap
calls = []
sys.addaudithook(lambda event, _: event == "subprocess.Popen" and calls.append(event))
folder = bootstrap.prepare(os.environ)
assert bootstrap.prepare(os.environ) == folder
print(len(calls))
"""


def rows(folder: Path) -> list[Row]:
    """Measure them all; without bash, on Windows, there is nothing to compare."""
    bash = shutil.which("bash")
    if bash is None:
        return []
    temporary = folder / "runner"
    temporary.mkdir()
    calls = _installed(temporary)
    return [
        Row("the Action's fresh install", calls, 1, unit="calls", seen="pip, by the locked hashes"),
        _added(bash, folder, temporary),
    ]


def _installed(temporary: Path) -> int:
    """Install as a fresh runner does; return how often an installer was called."""
    ended = subprocess.run(
        # An isolated interpreter shows no library: neither ours nor the lock's.
        [PYTHON, "-I", "-S", "-c", _WITH_PIP + _CALLS],
        env={**environment(), "RUNNER_TEMP": str(temporary)},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return int(ended.stdout.splitlines()[-1])


# -S leaves site-packages out, and with it pip, which is looked for in there.
_WITH_PIP = f"""
import importlib.util, importlib.machinery
found = importlib.machinery.PathFinder.find_spec("pip", {[p for p in sys.path if p]!r})
importlib.util.find_spec = lambda name: found
"""


def _added(bash: str, folder: Path, temporary: Path) -> Row:
    """Compare the step, its libraries installed, with the bare call."""
    listed = records(100)
    manifest = write_manifest(folder / "action.yaml", listed)
    with running(listed, folder) as url:
        found = best(
            {
                "action": _step(bash, temporary, {"FILE": manifest, "BASE_URL": url, "BOT": BOT}),
                "bare": work(*plan(manifest, url)),
            },
            rounds=10,
        )
    return Row(
        "the Action's step, less the bare `commandsync plan`",
        (found["action"] - found["bare"]) * 1000,
        150,
        unit="ms",
        seen=f"{milliseconds(found['action'])} / {milliseconds(found['bare'])}",
    )


def _step(bash: str, temporary: Path, inputs: dict[str, str]) -> Callable[[], float]:
    """Return a run of the step of action.yml, as a runner runs it."""
    definition = yaml.safe_load((_ROOT / "action.yml").read_text(encoding="utf-8"))
    (step,) = definition["runs"]["steps"]
    script = temporary / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    defaults = {
        f"INPUT_{name.upper().replace('-', '_')}": one.get("default", "")
        for name, one in definition["inputs"].items()
    }
    given = {f"INPUT_{name}": value for name, value in inputs.items()}
    own = {"INPUT_MODE": "plan", "INPUT_PYTHON": PYTHON, "INPUT_GITHUB_TOKEN": ""}
    variables = {
        "GITHUB_ACTION_PATH": str(_ROOT),
        "GITHUB_WORKSPACE": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "RUNNER_TEMP": str(temporary),
    }
    pairs = {**defaults, **given, **own, **variables}
    assigned = [f"{name}={value}" for name, value in pairs.items()]
    return work("/usr/bin/env", *assigned, bash, *_BASH, str(script))
