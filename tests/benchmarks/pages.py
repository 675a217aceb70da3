"""How large the page of a bot is, and how soon the service answers with it."""

from __future__ import annotations

import json
from contextlib import closing
from http.client import HTTPConnection
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from commandsync.server.service import running
from tests.benchmarks.budgets import Row, best, ratio
from tests.benchmarks.manifests import records

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ROUNDS = 40
_SIZES = (500, 2_000)  # commands


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    bots = [
        {"id": str(size), "profile": {"username": "Lantern"}, "commands": _commands(size)}
        for size in _SIZES
    ]
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"bots": bots}), encoding="utf-8")
    with (
        running(seed=seed) as service,
        closing(HTTPConnection(urlsplit(service.url).netloc)) as connection,
    ):
        small, large = (_page(connection, f"/bot/{size}") for size in _SIZES)
        size, _ = small()
        found = best({"small": lambda: small()[1], "large": lambda: large()[1]}, rounds=_ROUNDS)
    return [
        Row("the page of 500 commands, compressed", size / 1_000, 100, "kB"),
        Row(
            "the page of 500 commands, from the request to its last byte",
            found["small"] * 1_000,
            15,
            "ms",
        ),
        ratio("the page of 2,000 commands / 500", found["large"], found["small"], 4.6),
    ]


def _commands(number: int) -> list[dict[str, str]]:
    """Return commands without ids: the service gives them."""
    return [
        {name: text for name, text in record.items() if name != "id"} for record in records(number)
    ]


def _page(connection: HTTPConnection, path: str) -> Callable[[], tuple[int, float]]:
    """Return a run that asks for a page: the bytes of its body, and the seconds it took."""

    def run() -> tuple[int, float]:
        begun = perf_counter()
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        content = answer.read()
        passed = perf_counter() - begun
        assert answer.headers["Content-Encoding"] == "gzip"
        return len(content), passed

    return run
