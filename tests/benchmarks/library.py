"""What the client library costs on top of the libraries below it, and how fast it reads events."""

from __future__ import annotations

import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    PYTHON,
    Row,
    best,
    environment,
    milliseconds,
    printed_seconds,
)
from tests.benchmarks.calls import CONCURRENCY
from tests.benchmarks.manifests import BOT, records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CALLS = 1_000
_LISTED = 40  # commands, as many as a bot's list has
_FRAMES = 100_000
_CALLED = (PYTHON, "-m", "tests.benchmarks.calls")


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    with _embedded(folder) as where:
        kinds = ("asynchronous", "aiohttp", "client", "requests")
        found = best(
            {kind: printed_seconds(*_CALLED, kind, str(_CALLS), *where) for kind in kinds}, rounds=4
        )
    several = f"{_CALLS:,} get_commands, {CONCURRENCY} at a time"
    return [
        _row(f"{several}: AsyncClient / aiohttp", found["asynchronous"], found["aiohttp"], 1.3),
        _row(
            f"{_CALLS:,} get_commands: Client / requests", found["client"], found["requests"], 1.2
        ),
        _frames(1, "one-fold", 2.2),
        _frames(2, "two-fold", 1.9),
    ]


def _frames(folds: int, name: str, budget: float) -> Row:
    """Compare with `json.loads` of the same frames, in the same run."""
    frames = (*_CALLED, "frames", str(_FRAMES), str(folds))
    found = best({kind: printed_seconds(*frames, kind) for kind in ("ours", "json")}, rounds=5)
    return Row(
        f"{_FRAMES:,} {name} event frames / json.loads",
        found["ours"] / found["json"],
        budget,
        seen=f"{_FRAMES / found['ours']:,.0f} per second",
    )


def _row(what: str, ours: float, bare: float, budget: float) -> Row:
    return Row(what, ours / bare, budget, seen=f"{milliseconds(ours)} / {milliseconds(bare)}")


@contextmanager
def _embedded(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Run the embedded service, and yield its base URL, a bot and the bot's token."""
    seed = folder / "seed.json"
    fields = ("name", "description", "syntax", "category")
    listed = [{name: record[name] for name in fields} for record in records(_LISTED)]
    bot = {"id": BOT, "profile": {"username": "Lantern"}, "commands": listed}
    seed.write_text(json.dumps({"bots": [bot]}), encoding="utf-8")
    # In memory no answer is kept: the service works for each, as it does for a bot of its own.
    words = ["serve", "--port", "0", "--database", ":memory:", "--seed", str(seed)]
    words += ["--rate-limit", "100000/second"]  # the service's own is for a public network
    with subprocess.Popen(
        [*COMMANDSYNC, *words], stdout=subprocess.PIPE, text=True, env=environment()
    ) as process:
        assert process.stdout is not None
        try:
            url = process.stdout.readline().split()[-1]
            token = next(line for line in process.stdout if "COMMANDSYNC_TOKEN=" in line)
            yield url, BOT, token.strip().partition("=")[2]
        finally:
            process.terminate()
