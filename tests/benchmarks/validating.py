"""How soon and in how much memory a large manifest is checked, against bare parsing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    PYTHON,
    Row,
    best,
    peak_memory,
    printed_seconds,
    ratio,
    work,
)
from tests.benchmarks.manifests import records, write_manifest

if TYPE_CHECKING:
    from pathlib import Path

BARE_LOAD = """
import sys, time, yaml
text = open(sys.argv[1], encoding="utf-8").read()
begun = time.process_time()
yaml.load(text, yaml.CBaseLoader)
print(time.process_time() - begun)
"""
"""What any program pays that reads the file with PyYAML's C parser."""

_LIBRARIES = "import click, yaml"
_ROUNDS = 5


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    few = write_manifest(folder / "10.yaml", records(10))
    small = write_manifest(folder / "10000.yaml", records(10_000))
    large = write_manifest(folder / "20000.yaml", records(20_000))
    validate = (*COMMANDSYNC, "validate", "-f")
    found = best(
        {
            "libraries": work(PYTHON, "-c", _LIBRARIES),
            "few": work(*validate, few),
            "load": printed_seconds(PYTHON, "-c", BARE_LOAD, small),
            "small": work(*validate, small),
            "large": work(*validate, large),
        },
        rounds=_ROUNDS,
    )
    load, small_one = found["load"], found["small"]
    return [
        ratio("`validate` of 10 / its libraries' imports", found["few"], found["libraries"], 3.0),
        ratio("`validate` of 10,000, less 150 ms / bare load", small_one, load, 1.6, less=0.150),
        ratio("`validate` of 20,000 / 10,000", found["large"], small_one, 2.2),
        Row("`validate` of 10,000, peak memory", peak_memory(*validate, small), 150, "MB"),
    ]
