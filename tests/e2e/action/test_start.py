"""The bootstrap's own entrance, in this process and as a child that is measured."""

import os
import signal
import subprocess
import sys
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
    step = started.run(other("workflow_dispatch"))

    assert step.code == 1
    assert "not be installed" in step.annotations("error")[0].data


@POSIX
def test_a_signal_while_installing_ends_the_run_and_leaves_nothing(started: Runner) -> None:
    has_uv(started, "os.kill(os.getppid(), signal.SIGTERM); signal.pause()")
    with pytest.raises(SystemExit) as caught:
        started.run(other("workflow_dispatch"))

    assert caught.value.code == 143
    assert list(started.temp.iterdir()) == []


def test_as_a_program_it_ends_with_the_exit_code_and_runs_no_plugin(
    started: Runner, tmp_path: Path
) -> None:
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

    lists = {"commandsync.action.lastsent", "commandsync.sync.lists", "commandsync.services.fit"}
    assert "Plan: 0 to add" in ended.stdout
    assert lists & set(ended.stdout.splitlines()) == (lists if listings else set())
