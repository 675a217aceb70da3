"""Build the wheel and test it where the source tree cannot be seen, with and without the extras.

The tests here are those that a file missing from the wheel would fail: entry points, package data,
imports, extras, the document's commands from the first to the last, and the demo. The two last are
run here alone; `make test` and `make check` run all others in the source tree.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What the tests read, and what a user of the wheel does not get by installing it.
BESIDE = (
    *(".ci", ".github", "docs", "examples", "schemas", "tests"),
    *(".pre-commit-hooks.yaml", "Makefile", "README.md", "mkdocs.yml", "pyproject.toml"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md"),
)
PACKAGING = (
    *("e2e/test_demo.py", "e2e/test_readme.py"),
    *("unit/pages", "unit/test_examples.py", "unit/test_extras.py", "unit/testing"),
)

# Imports every module but those that need an extra or a bot framework; these are absent, so that a
# stray import of one fails here.
IMPORT_ALL = """
import importlib, pkgutil, commandsync
extra = {"commandsync.client.asynctransport", "commandsync.client.stream", "commandsync.recording"}
without = ("commandsync.server", "commandsync.pages.",
           "commandsync.action.proposal", "commandsync.ext.", "commandsync.testing.",
           "commandsync.sources.javascript", "commandsync.recording.")
found = []
for module in pkgutil.walk_packages(commandsync.__path__, "commandsync.", lambda name: None):
    if module.name not in extra and not module.name.startswith(without):
        importlib.import_module(module.name)
        found.append(module.name)
assert len(found) > 10, found
"""


def run(*command: str | Path, cwd: Path, fails: bool = False) -> str:
    """Run a command where it cannot see the source tree, and return what it says.

    Stops everything when it fails, or when it does not though it should.
    """
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    finished = subprocess.run(  # noqa: S603 - the commands are this file's own
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    output = f"{finished.stdout}{finished.stderr}"
    if bool(finished.returncode) is not fails:
        sys.exit(f"{' '.join(map(str, command))}: exit {finished.returncode}\n{output}")
    return output


def build(folder: Path) -> Path:
    """Build the wheel into a folder, and return where it is."""
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path) -> Path:
    """Make a virtual environment, and return its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(python: Path, *what: str | Path) -> None:
    """Install into the environment of that Python."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    run(*pip, "install", *what, cwd=python.parent)


def test_with_extras(wheel: Path, folder: Path) -> None:
    """Run the tests of the packaging against the wheel.

    The libraries come from the environment this runs in: a path file shows them, but does not
    follow the editable install among them, which would bring the source tree back.
    """
    python = environment(folder / "with-extras")
    install(python, "--no-deps", wheel)
    (purelib,) = (folder / "with-extras").rglob("site-packages")
    (purelib / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    beside = folder / "beside"
    beside.mkdir()
    for name in BESIDE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, beside / name)
    where = "import commandsync, pathlib, sys; sys.exit(not pathlib.Path(commandsync.__file__)"
    run(python, "-c", f"{where}.is_relative_to(sys.prefix))", cwd=beside)
    tests = [f"tests/{name}" for name in PACKAGING]
    run(python, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *tests, cwd=beside)


def test_without_extras(wheel: Path, folder: Path) -> None:
    """Install only what the wheel itself asks for; the main job has to work with that."""
    python = environment(folder / "without-extras")
    install(python, wheel)
    program = python.with_name("commandsync.exe" if os.name == "nt" else "commandsync")
    example = ROOT / "examples" / "commands.yaml"
    run(python, "-c", IMPORT_ALL, cwd=folder)
    run(program, "--version", cwd=folder)
    run(program, "validate", "-f", example, cwd=folder)
    run(program, "init", "new.yaml", cwd=folder)
    run(program, "plan", "-f", example, "--against", example, "--detailed-exitcode", cwd=folder)
    for extra, *words in (
        ("server", "serve"),
        ("html", "docs", "commands.html", "-f", example),
        ("javascript", "import", "bot.js"),
        ("record", "import", "--", "true"),
    ):
        advice = run(program, *words, cwd=folder, fails=True)
        if f"commandsync[{extra}]" not in advice or "Traceback" in advice:
            sys.exit(f"{words[0]} without its extra has to name what to install:\n{advice}")


def main() -> None:
    """Do it all in a temporary folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        wheel = build(folder)
        print(f"testing {wheel.name} without the source tree ...", flush=True)
        with ThreadPoolExecutor() as pool:  # while one installs, the other tests
            tests = (test_with_extras, test_without_extras)
            for tested in [pool.submit(test, wheel, folder) for test in tests]:
                tested.result()
        print("the wheel works")


if __name__ == "__main__":
    main()
