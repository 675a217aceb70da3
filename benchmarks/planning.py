"""How soon a plan says that nothing is to do: a large one, and a small one over a slow line."""

from __future__ import annotations

from pathlib import Path

from benchmarks.budgets import Row, milliseconds
from benchmarks.manifests import BOT, records, write_manifest
from benchmarks.measuring import COMMANDSYNC, PYTHON, best, command, printed_seconds, work
from benchmarks.service import running
from benchmarks.validating import BARE_LOAD

LATENCY = 0.050  # seconds per answer
_SCRIPT = str(Path(__file__).with_name("script.py"))


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    return [_large(folder), _slow(folder)]


def _large(folder: Path) -> Row:
    listed = records(10_000)
    manifest = write_manifest(folder / "large.yaml", listed)
    with running(listed, folder) as url:
        found = best(
            {
                "load": printed_seconds(PYTHON, "-c", BARE_LOAD, manifest),
                "plan": work(*plan(manifest, url)),
            },
            rounds=5,
        )
    return Row(
        "no-op `plan` of 10,000, less 400 ms / bare load",
        (found["plan"] - 0.400) / found["load"],
        3.0,
        seen=f"{milliseconds(found['plan'])} / {milliseconds(found['load'])}",
    )


def _slow(folder: Path) -> Row:
    listed = records(100)
    manifest = write_manifest(folder / "hundred.yaml", listed)
    with running(listed, folder, delay=LATENCY) as url:
        found = best(
            {
                "script": command(PYTHON, _SCRIPT, manifest, url, BOT),
                "plan": command(*plan(manifest, url)),
            },
            rounds=10,
        )
    return Row(
        "no-op `plan` of 100 at 50 ms / a script of ten lines",
        found["plan"] / found["script"],
        1.4,  # pydantic reads the manifest before the request, and takes 0.1 s to load
        seen=f"{milliseconds(found['plan'])} / {milliseconds(found['script'])}",
    )


def plan(manifest: str, base_url: str) -> tuple[str, ...]:
    """Return the command line of a plan that fails unless nothing is to do."""
    return (*COMMANDSYNC, "plan", "--detailed-exitcode", "-f", manifest, "--base-url", base_url)
