"""How soon a large list is checked, and how soon a bot has its commands, against bare parsing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    PYTHON,
    Row,
    best,
    environment,
    milliseconds,
    printed_seconds,
    work,
)
from tests.benchmarks.manifests import records, write_manifest
from tests.benchmarks.validating import BARE_LOAD

if TYPE_CHECKING:
    from pathlib import Path

_LOAD = """
import sys, time, commandsync
load = commandsync.load
begun = time.process_time()
load(sys.argv[1])
print(time.process_time() - begun)
"""
_SAFE_LOAD = """
import sys, time, yaml
begun = time.process_time()
with open(sys.argv[1], encoding="utf-8") as file:
    yaml.load(file, yaml.CSafeLoader)
print(time.process_time() - begun)
"""
_ROUNDS = 5


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    small = write_manifest(folder / "bot.yaml", records(200))
    large = write_manifest(folder / "bots.yaml", records(10_000))
    page = str(folder / "COMMANDS.md")
    docs = (*COMMANDSYNC, "docs", page, "-f", large)
    subprocess.run(docs, check=True, stderr=subprocess.DEVNULL, env=environment())
    found = best(
        {
            "bare": printed_seconds(PYTHON, "-c", BARE_LOAD, large),
            "validate": work(*COMMANDSYNC, "validate", "-f", large),
            "check": work(*docs, "--check"),
            "safe": printed_seconds(PYTHON, "-c", _SAFE_LOAD, small),
            "load": printed_seconds(PYTHON, "-c", _LOAD, small),
        },
        rounds=_ROUNDS,
    )
    seen = {name: milliseconds(seconds) for name, seconds in found.items()}
    return [
        Row(
            "`docs --check` of 10,000, less `validate` / bare load",
            (found["check"] - found["validate"]) / found["bare"],
            2.5,
            seen=f"{seen['check']} - {seen['validate']} / {seen['bare']}",
        ),
        Row(
            "`commandsync.load` of 200 / `yaml.load`",
            found["load"] / found["safe"],
            3.0,
            seen=f"{seen['load']} / {seen['safe']}",
        ),
    ]
