"""How soon the program answers: `--version` and every `--help`, against importing click."""

from __future__ import annotations

from commandsync.cli.program import COMMANDS
from tests.benchmarks.budgets import COMMANDSYNC, PYTHON, Row, best, ratio, work

_BARE = "import click"


def rows() -> list[Row]:
    """Measure them all."""
    runs = {_BARE: work(PYTHON, "-c", _BARE), "--version": work(*COMMANDSYNC, "--version")}
    for words in ((), *((name,) for name in COMMANDS)):
        runs[" ".join([*words, "--help"])] = work(*COMMANDSYNC, *words, "--help")
    found = best(runs, rounds=15)
    bare = found.pop(_BARE)
    return [
        ratio(
            f"`commandsync {name}` / `{_BARE}`",
            seconds,
            bare,
            1.1 if name == "--version" else 1.3,
        )
        for name, seconds in found.items()
    ]
