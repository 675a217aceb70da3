"""Installing from the lock; everything here runs without a network, from a folder of wheels."""

import os
import shutil
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.home import fields
from tests.support.runner import Runner, other

WINDOWS = os.name == "nt"
REAL_UV = shutil.which("uv", path=sysconfig.get_path("scripts")) or shutil.which("uv")


@pytest.fixture
def machine(tmp_path: Path, system_python_with_pip: Path) -> Runner:
    """A machine off the network, whose Python has pip."""
    runner = Runner(tmp_path / "runner", str(system_python_with_pip))
    runner.variables |= {"PIP_NO_INDEX": "1", "PIP_RETRIES": "0"}
    runner.variables["CALLS"] = str(tmp_path / "calls")
    runner.write(fields(("help",)))
    return runner


@pytest.fixture
def without_pip(tmp_path: Path, system_python: Path) -> Runner:
    """A machine whose Python has nothing."""
    runner = Runner(tmp_path / "runner", str(system_python))
    runner.write(fields(("help",)))
    return runner


def knows(runner: Runner, uv: Path | str) -> None:
    runner.variables["PATH"] = os.pathsep.join((str(Path(uv).parent), os.environ["PATH"]))


def folders(runner: Runner) -> list[Path]:
    return [one for one in runner.temp.iterdir() if one.is_dir()]


@pytest.mark.skipif(WINDOWS, reason="no system owns a Python there")
def test_the_machine_is_one_where_pip_by_itself_installs_nothing(
    machine: Runner, tmp_path: Path
) -> None:
    wheel = tmp_path / "lantern-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("lantern.py", "")
    ended = subprocess.run(
        [machine.python, "-I", "-m", "pip", "install", "--no-index", str(wheel)],
        env={**os.environ, **machine.variables},
        capture_output=True,
        check=False,
    )

    assert ended.returncode != 0
    assert b"externally-managed-environment" in ended.stderr


def test_a_fresh_machine_installs_offline_with_one_call_and_only_once(
    machine: Runner, wheels: Path, tmp_path: Path
) -> None:
    machine.variables |= {"PIP_USER": "1", "PIP_TARGET": "/nowhere", "PIP_REQUIRE_VIRTUALENV": "1"}
    settings = machine.folder / "home" / ".config" / "pip" / "pip.conf"
    settings.parent.mkdir(parents=True)
    settings.write_text("[global]\nuser = true\nrequire-virtualenv = true\n", encoding="utf-8")
    (site,) = Path(machine.python).parents[1].rglob("site-packages")
    machine.variables["PIP_FIND_LINKS"] = str(wheels)
    first = machine.run(other("workflow_dispatch"))
    second = machine.run(other("workflow_dispatch"))

    assert first.outputs["result"] == "valid", first.log
    assert second.outputs["result"] == "valid", second.log
    assert "Installing" in first.log
    assert "Installing" not in second.log
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "call\n"
    assert [one.name for one in site.iterdir()] == ["pip"]
    assert len(folders(machine)) == 1


@pytest.mark.promise("locked-action")
def test_a_wheel_that_is_not_the_locked_one_is_refused(
    machine: Runner, wheels: Path, tmp_path: Path
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(wheels, changed)
    wheel = next(changed.glob("annotated_types-*.whl"))
    wheel.write_bytes(wheel.read_bytes() + b"\0")
    machine.variables["PIP_FIND_LINKS"] = str(changed)
    step = machine.run(other("workflow_dispatch"))

    assert (step.code, step.outputs["result"]) == (1, "failed")
    assert (step.outputs["failure-reason"], step.outputs["changed"]) == ("network", "")
    assert "not be installed" in step.annotations("error")[0].data
    assert "did not run" in step.summary
    assert folders(machine) == []


@pytest.mark.skipif(REAL_UV is None, reason="there is no uv on this machine")
def test_the_real_uv_takes_what_it_is_given(without_pip: Runner, wheels: Path) -> None:
    knows(without_pip, REAL_UV or "")
    without_pip.write("this is not TOML", "uv.toml")
    without_pip.write("[tool.uv]\nno-binary = true\n", "pyproject.toml")
    without_pip.variables |= {"UV_OFFLINE": "1", "UV_FIND_LINKS": str(wheels)}
    step = without_pip.run(other("workflow_dispatch"))

    assert step.outputs["result"] == "valid", step.log


def test_a_preview_needs_what_its_own_lock_has_and_nothing_else(
    machine: Runner, preview_wheels: Path
) -> None:
    machine.variables["PIP_FIND_LINKS"] = str(preview_wheels)
    step = machine.run(other("workflow_dispatch"), preview="true")

    assert (step.code, step.outputs["result"]) == (0, "valid"), step.log
    page = (Path(step.outputs["preview"]) / "index.html").read_text(encoding="utf-8")
    assert "Plan: 1 to add, 0 to edit, 0 to delete, 0 unchanged." in page
