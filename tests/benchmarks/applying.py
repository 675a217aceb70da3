"""How soon many edits are made over a slow line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.budgets import COMMANDSYNC, Row, best, command, milliseconds
from tests.benchmarks.manifests import edited, records, write_manifest
from tests.benchmarks.planning import LATENCY, plan
from tests.benchmarks.service import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_EDITS = 200
_CONCURRENCY = 4  # the default


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    return [_edits(folder)]


def _edits(folder: Path) -> Row:
    wanted = records(_EDITS)
    manifest = write_manifest(folder / "edits.yaml", wanted)

    def one_apply() -> float:
        with running(edited(wanted, _EDITS), folder, delay=LATENCY) as url:
            seconds = _apply(folder, manifest, url)()
            command(*plan(manifest, url))()  # fails unless nothing is left to do
        return seconds

    seconds = best({"apply": one_apply}, rounds=5)["apply"]
    least = _EDITS * LATENCY / _CONCURRENCY
    return Row(
        f"`apply` of {_EDITS} edits at 50 ms / {_EDITS} x 50 ms / {_CONCURRENCY}",
        seconds / least,
        1.3,  # as for the no-op plan
        seen=f"{milliseconds(seconds)} / {milliseconds(least)}",
    )


def _apply(folder: Path, manifest: str, base_url: str) -> Callable[[], float]:
    token = folder / "token"
    token.write_text("any", encoding="utf-8")
    where = ("--token-file", str(token), "-f", manifest, "--base-url", base_url)
    return command(*COMMANDSYNC, "apply", "--yes", *where)
