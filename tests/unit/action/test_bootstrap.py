import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync.action import bootstrap

Tool = Callable[[str], Path]

HASHED = ["--no-deps", "--require-hashes", "--only-binary", ":all:"]
LOCKED = bootstrap.locked(bootstrap.LOCK.read_text(encoding="utf-8"))


def distributions(folder: Path, versions: dict[str, str]) -> str:
    for name, version in versions.items():
        (folder / f"{name.replace('-', '_').title()}-{version}.dist-info").mkdir(parents=True)
    return str(folder)


def test_what_is_imported_first_counts(tmp_path: Path) -> None:
    old = distributions(tmp_path / "old", {"click": "1.0"})
    new = distributions(tmp_path / "new", LOCKED)

    assert bootstrap.installed([old, new, str(tmp_path / "none")]) == LOCKED | {"click": "1.0"}


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Makes a program in the place of pip or uv, with an empty `sys.path`.

    It writes down its arguments and environment, and then does what it is told to.
    """
    if os.name == "nt":
        pytest.skip("the stand-in for an installer is a script")
    monkeypatch.setattr(sys, "path", [])
    python, program = sys.executable, tmp_path / "bin" / "uv"
    program.parent.mkdir()

    def make(does: str) -> Path:
        program.write_text(
            f"""#!{python} -I
import json, os, sys
from pathlib import Path
given = sys.argv[1:]
Path({str(tmp_path / "seen")!r}).write_text(json.dumps([given, dict(os.environ)]))
target = Path(given[given.index("--target") + 1])
def install():
    for name, version in {LOCKED}.items():
        name = name.replace("-", "_")
        information = target / f"{{name}}-{{version}}.dist-info"
        information.mkdir()
        (target / f"{{name}}.py").write_text("import json")
{does}
""",
            encoding="utf-8",
        )
        program.chmod(0o755)
        return program

    return make


def seen(tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    given, environment = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    return given, environment


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a job on a machine whose uv is the stand-in."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return {"RUNNER_TEMP": str(tmp_path / "_temp")}


def test_a_folder_is_taken_again(tmp_path: Path, tool: Tool, environ: dict[str, str]) -> None:
    tool("install()")
    first = bootstrap.prepare(environ)
    tool("sys.exit(1)")

    assert bootstrap.prepare(environ) == first
    assert [str(one) for one in (tmp_path / "_temp").iterdir()] == first


def test_pip_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Tool, environ: dict[str, str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tool("install()").rename(tmp_path / "python")))
    tool("sys.exit(1)")
    (tmp_path / "site" / "pip").mkdir(parents=True)
    (tmp_path / "site" / "pip" / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site")])
    (folder,) = bootstrap.prepare(environ)
    given, _ = seen(tmp_path)

    assert given[:6] == ["-I", "-X", "utf8", "-m", "pip", "install"]
    assert given[-6:] == [*HASHED, "-r", str(bootstrap.LOCK)]
    assert bootstrap.installed([folder]) == LOCKED


def test_a_python_newer_than_the_wheels_is_named_before_anything_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Tool, environ: dict[str, str]
) -> None:
    tool("install()")
    monkeypatch.setattr(sys, "version_info", (bootstrap.NEWEST[0], bootstrap.NEWEST[1] + 1, 0))
    with pytest.raises(bootstrap.BootstrapError, match=r"3\.15 is newer than 3\.14") as caught:
        bootstrap.prepare(environ)

    assert caught.value.reason == "invalid"
    assert not (tmp_path / "_temp").exists()


def test_an_installer_gets_no_secret(tmp_path: Path, tool: Tool, environ: dict[str, str]) -> None:
    tool("install()")
    kept = {"PIP_INDEX_URL": "https://index.example", "UV_INDEX_MINE_USERNAME": "me", "HOME": "/h"}
    dropped = (
        *("INPUT_TOKEN", "COMMANDSYNC_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN"),
        *("PIP_TARGET", "PIP_PREFIX", "UV_TARGET", "PYTHONPATH"),
    )
    bootstrap.prepare(environ | kept | dict.fromkeys(dropped, "marked"))
    given, environment = seen(tmp_path)

    assert given[:3] == ["--no-config", "pip", "install"]
    assert kept.items() <= environment.items()
    assert environment["PIP_USER"] == "0"
    assert "marked" not in environment.values()


def test_where_another_job_was_quicker_both_work(tool: Tool, environ: dict[str, str]) -> None:
    tool(
        "install(); import shutil\n"
        "shutil.copytree(target, target.parent / target.name.rpartition('-')[0])"
    )
    (folder,) = bootstrap.prepare(environ)

    assert bootstrap.installed([folder]) == LOCKED


def test_a_failing_install_leaves_none(tmp_path: Path, tool: Tool, environ: dict[str, str]) -> None:
    tool("install(); sys.exit(1)")
    with pytest.raises(bootstrap.BootstrapError, match="Is the package index reachable") as caught:
        bootstrap.prepare(environ)

    assert caught.value.reason == "network"
    assert list((tmp_path / "_temp").iterdir()) == []


def test_without_an_installer_the_machine_is_not_set_up(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str]
) -> None:
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(bootstrap.BootstrapError, match="uv is not installed") as caught:
        bootstrap.prepare(environ)

    assert caught.value.reason == "invalid"


@pytest.mark.usefixtures("environ")
def test_a_machine_without_a_temporary_folder_gets_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: Tool
) -> None:
    tool("install()")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (folder,) = bootstrap.prepare({})

    assert Path(folder).parent.parent == tmp_path


def test_a_read_only_folder_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    (tmp_path / "file").touch()
    with pytest.raises(bootstrap.BootstrapError, match="cannot write to RUNNER_TEMP"):
        bootstrap.prepare({"RUNNER_TEMP": str(tmp_path / "file" / "_temp")})
