"""How soon many edits are made over a slow line, and how many requests a run costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.benchmarks.budgets import COMMANDSYNC, REQUESTS, Row, best, command, milliseconds
from tests.benchmarks.manifests import edited, records, write_manifest
from tests.benchmarks.planning import LATENCY, plan
from tests.benchmarks.service import requests_since, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_EDITS = 200
_CONCURRENCY = 4  # the default
_NEWS = """
announcements:
  - title: v2.0 is out
    description: Slash commands everywhere.
"""


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    return [_edits(folder), *_requests(folder)]


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


def _requests(folder: Path) -> list[Row]:
    """Count the requests of a run with changes, and of one without; two collections are managed."""
    everything = records(30)
    manifest = write_manifest(folder / "requests.yaml", everything[5:], more=_NEWS)
    listed = edited(everything[:-5], 10)  # five to delete, five to edit, five to add
    changes, collections = 5 + 5 + 5 + 1, 2
    with running(listed, folder) as url:
        _apply(folder, manifest, url)()
        applied = requests_since(url)
        command(*plan(manifest, url))()
        planned = requests_since(url)
    every = collections + changes + collections
    return [
        Row("no-op `plan` of two collections", planned, collections, REQUESTS),
        Row(f"`apply` of {changes} changes in two collections", applied, every, REQUESTS),
    ]


def _apply(folder: Path, manifest: str, base_url: str) -> Callable[[], float]:
    token = folder / "token"
    token.write_text("any", encoding="utf-8")
    where = ("--token-file", str(token), "-f", manifest, "--base-url", base_url)
    return command(*COMMANDSYNC, "apply", "--yes", *where)
