"""How soon a plan says that nothing is to do, and how soon edits are made over a slow line."""

from __future__ import annotations

from pathlib import Path

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    PYTHON,
    Row,
    best,
    command,
    compared,
    printed_seconds,
    ratio,
    work,
)
from tests.benchmarks.manifests import BOT, edited, records, write_manifest
from tests.benchmarks.service import running
from tests.benchmarks.validating import BARE_LOAD

LATENCY = 0.050  # seconds per answer
_EDITS = 200
_CONCURRENCY = 4  # the default
_LIBRARIES = """
import sys
import click, requests, yaml
requests.get(sys.argv[1] + "/v1/bot/" + sys.argv[2] + "/commands", timeout=30)
"""


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    rows = (_one, _large, _edited, _changes, _slow, _edits)
    return [row(folder) for row in rows]


def _one(folder: Path) -> Row:
    """Compare the smallest plan with the imports of its libraries."""
    listed = records(1)
    manifest = write_manifest(folder / "one.yaml", listed)
    with running(listed, folder) as url:
        return compared(
            "no-op `plan` of one / its libraries' imports",
            work(*plan(manifest, url)),
            work(PYTHON, "-c", "import click, requests, yaml"),
            1.6,
            rounds=10,
        )


def _large(folder: Path) -> Row:
    listed = records(10_000)
    manifest = write_manifest(folder / "large.yaml", listed)
    with running(listed, folder) as url:
        return compared(
            "no-op `plan` of 10,000, less 400 ms / bare load",
            work(*plan(manifest, url)),
            printed_seconds(PYTHON, "-c", BARE_LOAD, manifest),
            3.0,
            rounds=5,
            less=0.400,
        )


def _edited(folder: Path) -> Row:
    """Compare a plan that edits every record with one that edits none."""
    wanted = records(10_000)
    manifest = write_manifest(folder / "all.yaml", wanted)
    same, other = folder / "same", folder / "other"
    same.mkdir()
    other.mkdir()
    with running(wanted, same) as url, running(edited(wanted, len(wanted)), other) as other_url:
        return compared(
            "`plan` of 10,000 edits / no-op `plan` of them",
            work(*COMMANDSYNC, "plan", "-f", manifest, "--base-url", other_url),
            work(*plan(manifest, url)),
            3.0,
            rounds=3,
        )


def _changes(folder: Path) -> Row:
    """Compare the changes between two versions of every record with a check of one."""
    records_now = records(10_000)
    before = [{**each, "category": f"Old {each['category']}"} for each in records_now]
    new = write_manifest(folder / "new.yaml", records_now)
    old = write_manifest(folder / "old.yaml", before)
    return compared(
        "`changes` of 10,000 edits / `validate` of them",
        work(*COMMANDSYNC, "changes", "-f", new, "--since", old),
        work(*COMMANDSYNC, "validate", "-f", new),
        4.0,
        rounds=3,
    )


def _slow(folder: Path) -> Row:
    """Compare a small plan with the work that no order of the imports can save."""
    listed = records(100)
    manifest = write_manifest(folder / "hundred.yaml", listed)
    with running(listed, folder, delay=LATENCY) as url:
        return compared(
            "no-op `plan` of 100 at 50 ms / its libraries' imports and one request",
            command(*plan(manifest, url)),
            command(PYTHON, "-c", _LIBRARIES, url, BOT),
            1.3,
            rounds=10,
        )


def plan(manifest: str, base_url: str) -> tuple[str, ...]:
    """Return the command line of a plan that fails unless nothing is to do."""
    return (*COMMANDSYNC, "plan", "--detailed-exitcode", "-f", manifest, "--base-url", base_url)


def _edits(folder: Path) -> Row:
    wanted = records(_EDITS)
    manifest = write_manifest(folder / "edits.yaml", wanted)
    token = folder / "token"
    token.write_text("any", encoding="utf-8")
    apply = (*COMMANDSYNC, "apply", "--yes", "--token-file", str(token), "-f", manifest)

    def one_apply() -> float:
        with running(edited(wanted, _EDITS), folder, delay=LATENCY) as url:
            seconds = command(*apply, "--base-url", url)()
            command(*plan(manifest, url))()  # fails unless nothing is left to do
        return seconds

    return ratio(
        f"`apply` of {_EDITS} edits at 50 ms / {_EDITS} x 50 ms / {_CONCURRENCY}",
        best({"apply": one_apply}, rounds=5)["apply"],
        _EDITS * LATENCY / _CONCURRENCY,
        1.3,  # as for the no-op plan
    )
