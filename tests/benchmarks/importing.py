"""How soon a pull request knows that its manifest is up to date with its sources."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.benchmarks.budgets import COMMANDSYNC, Row, best, environment, milliseconds, work
from tests.benchmarks.manifests import records

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = "version: 1\nimport: {from: listed.json}\ncommands: []\n"
_ROUNDS = 5


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    here = folder / "imported"
    here.mkdir()
    manifest = here / "commands.yaml"
    manifest.write_text(_HEAD, encoding="utf-8")
    (here / "listed.json").write_text(json.dumps(records(500)), encoding="utf-8")
    command = (*COMMANDSYNC, "import", "-f", str(manifest))
    subprocess.run([*command, "--yes"], check=True, capture_output=True, env=environment())
    found = best(
        {
            "check": work(*command, "--check"),
            "validate": work(*COMMANDSYNC, "validate", "-f", str(manifest)),
        },
        rounds=_ROUNDS,
    )
    milli = {name: milliseconds(seconds) for name, seconds in found.items()}
    return [
        Row(
            "`import --check` of 500 / `validate`",
            found["check"] / found["validate"],
            2.0,
            seen=f"{milli['check']} / {milli['validate']}",
        ),
        Row("`import --check` of 500", found["check"] * 1000, 1000, "ms"),
    ]
