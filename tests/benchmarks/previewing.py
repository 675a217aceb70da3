"""How soon a save of the manifest is marked on the open page of its preview.

The clock starts when the file is written, and stops when a page that hears of the change and asks
for it has the new mark.
"""

from __future__ import annotations

import json
import subprocess
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from commandsync.server.runner import running
from tests.benchmarks.budgets import COMMANDSYNC, Row, environment
from tests.benchmarks.manifests import BOT, records, write_manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Records = list[dict[str, str]]

COMMANDS = 500
SAVES = 15
LIMIT = 300  # milliseconds


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    listed = records(COMMANDS)
    path = folder / "previewed.yaml"
    seed = folder / "previewed.json"
    bot = {"id": BOT, "profile": {"username": "Lantern"}}
    commands = [{name: text for name, text in each.items() if name != "id"} for each in listed]
    seed.write_text(json.dumps({"bots": [{**bot, "commands": commands}]}), encoding="utf-8")
    figures: dict[str, list[float]] = {}
    with running(seed=seed) as service:
        for place, option in (("", ("--base-url", service.url)), (", all new", ("--offline",))):
            write_manifest(path, listed)
            with _page(path, *option) as saved:
                figures[f"one edit{place}"] = [saved(_edited(listed, n)) for n in range(SAVES)]
                figures[f"one new{place}"] = [saved(_inserted(listed, n)) for n in range(SAVES)]
    return [
        Row(
            f"from a save to the page marked, {COMMANDS}, {name}",
            median(seconds) * 1000,
            LIMIT,
            "ms",
            seen=f"{min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f} ms",
        )
        for name, seconds in figures.items()
    ]


def _edited(listed: Records, number: int) -> tuple[Records, str]:
    """Return the commands with another description of one, and that description."""
    text = f"Edited for the {number}th time."
    return [
        {**each, "description": text} if at == number * 20 else each
        for at, each in enumerate(listed)
    ], text


def _inserted(listed: Records, number: int) -> tuple[Records, str]:
    """Return the commands with a new one in the middle, and its description."""
    text = f"New for the {number}th time."
    new = {**listed[0], "name": f"fresh {number}", "description": text, "syntax": "/fresh"}
    return [*listed[: COMMANDS // 2], new, *listed[COMMANDS // 2 :]], text


@contextmanager
def _page(path: Path, *options: str) -> Iterator[Callable[[tuple[Records, str]], float]]:
    """Open the page of a preview, and yield what saves a manifest and returns the seconds."""
    command = [*COMMANDSYNC, "preview", str(path), "--no-open", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    ) as child:
        assert child.stdout is not None
        url = urlsplit(child.stdout.readline().decode().rpartition(" at ")[2].strip())
        with (
            closing(HTTPConnection(url.netloc)) as live,
            closing(HTTPConnection(url.netloc)) as pages,
        ):
            version = _version(live, 0)

            def saved(change: tuple[Records, str]) -> float:
                nonlocal version
                wanted, text = change
                begun = perf_counter()
                write_manifest(path, wanted)
                while True:
                    version = _version(live, version)
                    pages.request("GET", url.path, headers={"Accept-Encoding": "gzip"})
                    pages.getresponse().read()
                    taken = perf_counter() - begun
                    pages.request("GET", url.path)
                    if text.encode() in pages.getresponse().read():
                        return taken

            try:
                yield saved
            finally:
                child.terminate()


def _version(pages: HTTPConnection, after: int) -> int:
    """Wait until the service has another version of the page, and return its number."""
    version = after
    while version == after:
        pages.request("GET", f"/live?after={after}")
        version = json.loads(pages.getresponse().read())["version"]
    return version
