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
    """Measure the processor time of the step on machines without its libraries; it takes uv.

    A fresh machine has no compiled modules. The time of an installer depends on its release and on
    the index: the downloads are cached, and the bare installation of the same file, in the same
    run, is subtracted; most of the rest compiles modules. With pip the step does the same, and pip
    takes most of the time, so it has no row.

    Args:
        bash: The shell.
        folder: Where the machines are.
        root: The Action.
    """
    uv = shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv")
    if uv is None:
        return []
    venv.create(folder / "machine")  # without pip, which the step would take
    python = str(folder / "machine" / "bin" / "python")
    listed = records(100)
    manifest = write_manifest(folder / "start.yaml", listed)
    lock = root / "commandsync" / "action" / "requirements.txt"
    cache = f"UV_CACHE_DIR={folder / 'uv-cache'}"
    install = ("/usr/bin/env", cache, uv, "pip", "install", "--quiet", "--python", python)
    options = ("--no-deps", "--require-hashes", "--only-binary", ":all:", "-r", str(lock))
    with running(listed, folder) as url, tempfile.TemporaryDirectory(dir=folder) as tools:
        inputs = {"FILE": manifest, "BASE_URL": url, "BOT": BOT, "PYTHON": python}
        (Path(tools) / "uv").symlink_to(uv)
        step = partial(_machine, bash, folder, root, inputs, path=tools, cache=cache)

        def bare() -> float:
            return work(*install, *options, "--target", tempfile.mkdtemp(dir=folder))()

        def fresh() -> float:
            return step()()

        bare()  # fills the cache
        warm = step()
        warm()
        found = best({"fresh": fresh, "bare": bare, "warm": warm}, rounds=5)
    return [
        Row(
            "the Action's step, fresh, less the bare `uv pip install` / warm",
            (found["fresh"] - found["bare"]) / found["warm"],
            2.5,
            seen=f"{milliseconds(found['fresh'])} / {milliseconds(found['bare'])}",
        ),
        Row("the Action's step, warm", found["warm"] * 1000, 700, unit="ms"),
    ]


def _machine(
    bash: str,
    folder: Path,
    root: Path,
    inputs: dict[str, str],
    *,
    path: str,
    cache: str,
) -> Callable[[], float]:
    """Return a run of the step on a machine that has never run it; its later runs are warm."""
    machine = Path(tempfile.mkdtemp(dir=folder))
    action = shutil.copytree(
        root / "commandsync",
        machine / "action" / "commandsync",
        ignore=shutil.ignore_patterns("__pycache__"),
    ).parent
    shutil.copy(root / "action.yml", action)
    name, _, value = cache.partition("=")
    variables = {"PATH": os.pathsep.join((path, "/usr/bin", "/bin")), name: value}
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
