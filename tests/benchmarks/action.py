"""What the GitHub Action adds to the bare call, and what it takes to install its libraries."""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
import venv
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import yaml

from tests.benchmarks.budgets import PYTHON, Row, best, milliseconds, work
from tests.benchmarks.manifests import BOT, records, write_manifest
from tests.benchmarks.planning import plan
from tests.benchmarks.service import running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_ROOT = Path(__file__).resolve().parents[2]
_BASH = ("--noprofile", "--norc", "-e", "-o", "pipefail")


def rows(folder: Path) -> list[Row]:
    """Measure them all; without bash, on Windows, there is nothing to compare."""
    bash = shutil.which("bash")
    if bash is None:
        return []
    temporary = folder / "runner"
    temporary.mkdir()
    return [
        _added(bash, folder, temporary),
        *starts(bash, folder, _ROOT),
    ]


def starts(bash: str, folder: Path, root: Path) -> list[Row]:
    """Measure the processor time of the step on machines without its libraries.

    A fresh machine has no cache either, neither of packages nor of compiled modules.

    Args:
        bash: The shell.
        folder: Where the machines are.
        root: The Action.
    """
    venv.create(folder / "machine", with_pip=True)
    python = str(folder / "machine" / "bin" / "python")
    listed = records(100)
    manifest = write_manifest(folder / "start.yaml", listed)
    uv = shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv")
    budgets = {"fresh, with uv": 1200, "fresh, with pip": 4500, "warm": 700}
    with running(listed, folder) as url, tempfile.TemporaryDirectory(dir=folder) as tools:
        inputs = {"FILE": manifest, "BASE_URL": url, "BOT": BOT, "PYTHON": python}
        if uv:
            (Path(tools) / "uv").symlink_to(uv)

        def fresh(path: str) -> float:
            return _machine(bash, folder, root, inputs, path=path)()

        runs = {"fresh, with uv": partial(fresh, tools), "fresh, with pip": partial(fresh, "")}
        if not uv:
            del runs["fresh, with uv"]
        found = best(runs, rounds=2)
        warm = _machine(bash, folder, root, inputs)
        warm()
        found |= best({"warm": warm}, rounds=5)
    return [
        Row(f"the Action's step, {how}", seconds * 1000, budgets[how], unit="ms")
        for how, seconds in found.items()
    ]


def _machine(
    bash: str, folder: Path, root: Path, inputs: dict[str, str], *, path: str = ""
) -> Callable[[], float]:
    """Return a run of the step on a machine that has never run it; its later runs are warm."""
    machine = Path(tempfile.mkdtemp(dir=folder))
    action = shutil.copytree(
        root / "commandsync",
        machine / "action" / "commandsync",
        ignore=shutil.ignore_patterns("__pycache__"),
    ).parent
    shutil.copy(root / "action.yml", action)
    variables = {
        "PATH": os.pathsep.join(filter(None, (path, "/usr/bin", "/bin"))),
        "PIP_CACHE_DIR": str(machine / "pip"),
        "UV_CACHE_DIR": str(machine / "uv"),
    }
    if path:  # where only pip's variables name an index, pip goes first
        variables |= dict.fromkeys((name for name in os.environ if name.startswith("PIP_")), "")
    return work(*_step(bash, machine, inputs, root=action, variables=variables))


def _added(bash: str, folder: Path, temporary: Path) -> Row:
    """Compare the step, its libraries installed, with the bare call."""
    listed = records(100)
    manifest = write_manifest(folder / "action.yaml", listed)
    with running(listed, folder) as url:
        inputs = {"FILE": manifest, "BASE_URL": url, "BOT": BOT, "PYTHON": PYTHON}
        found = best(
            {
                "action": work(*_step(bash, temporary, inputs)),
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


def _step(
    bash: str,
    temporary: Path,
    inputs: Mapping[str, str],
    *,
    root: Path = _ROOT,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    """Return the command of the step of action.yml, as a runner runs it."""
    definition = yaml.safe_load((root / "action.yml").read_text(encoding="utf-8"))
    (step,) = definition["runs"]["steps"]
    script = temporary / "step.sh"
    script.write_text(step["run"], encoding="utf-8")
    pairs = {
        f"INPUT_{name.upper().replace('-', '_')}": declared.get("default", "")
        for name, declared in definition["inputs"].items()
    }
    pairs |= {f"INPUT_{name}": value for name, value in inputs.items()}
    pairs |= {"INPUT_MODE": "plan", "INPUT_GITHUB_TOKEN": ""}
    pairs |= {
        "GITHUB_ACTION_PATH": str(root),
        "GITHUB_WORKSPACE": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
        "RUNNER_TEMP": str(temporary),
    }
    assigned = [f"{name}={value}" for name, value in {**pairs, **variables}.items()]
    return ["/usr/bin/env", *assigned, bash, *_BASH, str(script)]
