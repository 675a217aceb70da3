"""The start of the Action: it installs what is locked, and loads what a run needs."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from commandsync.action import bootstrap
from tests.support.bots import Service
from tests.support.home import fields
from tests.support.runner import ROOT, Runner, other, pull_request

LOCKED = bootstrap.locked(bootstrap.LOCK.read_text(encoding="utf-8"))
POSIX = pytest.mark.skipif(os.name == "nt", reason="the stand-in for an installer is a script")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    """A runner of the bootstrap, in whose search path the locked versions seem to be."""
    for name, version in LOCKED.items():
        (tmp_path / "seeming" / f"{name.replace('-', '_')}-{version}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "seeming"), *sys.path])
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    runner = Runner(tmp_path / "runner", python="", main=lambda _: bootstrap.main())
    runner.write(fields(("help",)))
    yield runner
    for number, handler in handlers.items():
        signal.signal(number, handler)


def has_uv(runner: Runner, script: str) -> None:
    """Leave nothing importable, and a uv that runs these lines."""
    sys.path.clear()
    uv = runner.folder / "uv"
    uv.write_text(f"#!{sys.executable} -I\nimport os, signal, sys\n{script}\n", encoding="utf-8")
    uv.chmod(0o755)
    runner.variables["PATH"] = str(runner.folder)


def test_with_the_libraries_there_the_run_begins_at_once(started: Runner) -> None:
    step = started.run(other("workflow_dispatch"))

    assert (step.code, step.outputs["result"]) == (0, "valid"), step.log
    assert list(started.temp.iterdir()) == []


@POSIX
@pytest.mark.parametrize("summary", ["true", "false"])
def test_without_them_the_failure_is_reported(started: Runner, summary: str) -> None:
    has_uv(started, "sys.exit(1)")
    step = started.run(other("workflow_dispatch"), summary=summary)

    assert (step.code, step.outputs["failure-reason"]) == (1, "network")
    assert "not be installed" in step.annotations("error")[0].data
    assert ("not be installed" in step.summary) == (summary == "true")


@POSIX
def test_without_the_runners_files_the_failure_is_still_told(started: Runner) -> None:
    has_uv(started, "sys.exit(1)")
    started.variables |= {"GITHUB_OUTPUT": "", "GITHUB_STEP_SUMMARY": str(started.folder)}
    step = started.run(other("workflow_dispatch"), ends="1")

    assert "not be installed" in step.annotations("error")[0].data


@POSIX
def test_a_signal_while_installing_ends_the_run_and_leaves_nothing(started: Runner) -> None:
    has_uv(started, "os.kill(os.getppid(), signal.SIGTERM); signal.pause()")
    with pytest.raises(SystemExit) as caught:
        started.run(other("workflow_dispatch"))

    assert caught.value.code == 143
    assert list(started.temp.iterdir()) == []


def test_as_a_program_it_has_the_exit_code_and_no_plugin(started: Runner, tmp_path: Path) -> None:
    started.write("version: 2\n")
    plugin = tmp_path / "seeming" / "plugin-1.dist-info" / "entry_points.txt"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("[pydantic]\nplugin = plugin\n", encoding="utf-8")
    (tmp_path / "seeming" / "plugin.py").write_text("raise SystemExit('a plugin ran')\n")
    started.variables["PYTHONPATH"] = os.pathsep.join((str(tmp_path / "seeming"), str(ROOT)))
    started.variables |= {k: v for k, v in os.environ.items() if k.startswith("COVERAGE_")}
    environment, files = started.prepared(other("workflow_dispatch"), {})
    ended = subprocess.run(
        [sys.executable, "-m", "commandsync.action.bootstrap"],
        env=environment,
        capture_output=True,
        check=False,
    )

    assert ended.returncode == 4, ended.stderr
    assert b"::error file=commands.yaml,line=1,col=10" in ended.stdout
    assert "failure-reason" in files["GITHUB_OUTPUT"].read_text(encoding="utf-8")


@pytest.mark.parametrize("listings", [False, True])
def test_only_a_manifest_with_listings_loads_what_they_need(
    started: Runner, service: Service, *, listings: bool
) -> None:
    bot = service.bot(["help"])
    more = "listings: [{service: telegram}]\n" if listings else ""
    started.write(f"{fields(('help',))}bot: {bot.id}\nbase_url: {bot.url}\n{more}")
    event = pull_request()
    environment, _ = started.prepared(event, {"comment": "never", "github_token": ""})
    script = "import os, sys; from commandsync.action.run import main; main(os.environ)"
    ended = subprocess.run(
        [sys.executable, "-c", f"{script}; print(*sys.modules, sep='\\n')"],
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )

    lists = {"commandsync.action.deployments", "commandsync.sync.lists", "commandsync.services.fit"}
    assert "Plan: 0 to add" in ended.stdout
    assert lists & set(ended.stdout.splitlines()) == (lists if listings else set())


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


@pytest.mark.thorough
@pytest.mark.skipif(WINDOWS, reason="no system owns a Python there")
def test_pip_alone_installs_nothing_there(machine: Runner, tmp_path: Path) -> None:
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


@pytest.mark.thorough
def test_a_new_machine_installs_offline_once(machine: Runner, wheels: Path, tmp_path: Path) -> None:
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


@pytest.mark.thorough
@pytest.mark.promise("locked-action")
def test_a_wheel_must_be_the_locked_one(machine: Runner, wheels: Path, tmp_path: Path) -> None:
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


@pytest.mark.thorough
@pytest.mark.skipif(REAL_UV is None, reason="there is no uv on this machine")
def test_the_real_uv_takes_what_it_is_given(without_pip: Runner, wheels: Path) -> None:
    knows(without_pip, REAL_UV or "")
    without_pip.write("this is not TOML", "uv.toml")
    without_pip.write("[tool.uv]\nno-binary = true\n", "pyproject.toml")
    without_pip.variables |= {"UV_OFFLINE": "1", "UV_FIND_LINKS": str(wheels)}
    step = without_pip.run(other("workflow_dispatch"))

    assert step.outputs["result"] == "valid", step.log
