"""How soon the versions of a manifest are read from git: a change in every tenth commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.benchmarks.budgets import PYTHON, Row, best, milliseconds, printed_seconds

_COMMITS = 2000
_EVERY = 10
_COMMANDS = 100
_READ = """
import os, sys
from commandsync.manifest import load_manifests
from commandsync.sync.history import History, on_page
(manifest,) = load_manifests(sys.argv[1:], stdin=bytes)
begun = sum(os.times()[:4])  # with the processes of git
assert sum(1 for _ in History(manifest, on_page(manifest, "42", "https://listing.example"))) == 201
print(sum(os.times()[:4]) - begun)
"""


def rows(folder: Path) -> list[Row]:
    """Measure the reading of every version, which a plan with a foreign record needs."""
    manifest = str(_repository(folder / "history") / "commands.yaml")
    seconds = best({"read": printed_seconds(PYTHON, "-c", _READ, manifest)}, rounds=3)["read"]
    name = f"{_COMMITS // _EVERY} versions of {_COMMANDS} commands in {_COMMITS:,} commits"
    return [Row(name, seconds * 1000, 2000, "ms", seen=milliseconds(seconds))]


def _repository(path: Path) -> Path:
    path.mkdir()
    stream = "".join(_commit(number) for number in range(_COMMITS))
    _git(path, "init", "--quiet", "--initial-branch=main")
    _git(path, "fast-import", "--quiet", sent=stream)
    _git(path, "checkout", "--quiet", "main")
    return path


def _commit(number: int) -> str:
    files = {f"src/{number % 100}.py": f"number = {number}\n"}
    if number % _EVERY == 0:
        files["commands.yaml"] = _manifest(number)
    head = f"commit refs/heads/main\ncommitter N <n@example.com> {1_790_000_000 + number} +0000\n"
    return f"{head}data 0\n\n" + "".join(
        f"M 100644 inline {name}\ndata {len(text)}\n{text}\n" for name, text in files.items()
    )


def _manifest(version: int) -> str:
    commands = "".join(
        f"  - name: command{n}\n    description: Does the thing {n or version}.\n"
        f'    syntax: "{{prefix}}command{n} [text]"\n'
        for n in range(_COMMANDS)
    )
    return f'version: 1\nprefix: "/"\ncommands:\n{commands}'


def _git(path: Path, *arguments: str, sent: str = "") -> None:
    subprocess.run(["git", *arguments], cwd=path, input=sent.encode(), check=True)  # noqa: S607 - the machine's git, with our own arguments
