"""What more listings cost: a plan of four over a slow line."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.benchmarks.budgets import (
    COMMANDSYNC,
    Row,
    best,
    command,
    environment,
    milliseconds,
)
from tests.benchmarks.manifests import records, write_manifest
from tests.benchmarks.planning import LATENCY
from tests.benchmarks.service import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_COMMANDS = 100  # the most that Telegram accepts
_LOSSY = "    lossy: [description, category, syntax, options]\n"
_TELEGRAM = f"  - service: telegram\n    base_url: {{}}\n{_LOSSY}"
_UNREAD = "".join(f"  - service: {name}\n{_LOSSY}" for name in ("top.gg", "discordbotlist.com"))
_VARIABLE = "COMMANDSYNC_TOKEN_TELEGRAM"


def rows(folder: Path) -> list[Row]:
    """Measure them all."""
    listed = [{**record, "name": f"command_{n}"} for n, record in enumerate(records(_COMMANDS))]
    return [_plans(folder, listed)]


def _plans(folder: Path, listed: list[dict[str, str]]) -> Row:
    """Compare a plan of a page with one of that page and three lists, of which one is read."""
    with running(listed, folder, delay=LATENCY) as page, _slow_telegram() as (telegram, token):
        base_url = f"base_url: {page}\n"
        lists = f"{base_url}listings:\n{_TELEGRAM.format(telegram)}{_UNREAD}"
        one = write_manifest(folder / "one.yaml", listed, more=base_url)
        four = write_manifest(folder / "four.yaml", listed, more=lists)
        plan = (*COMMANDSYNC, "plan", "-q", "-f")
        found = best(
            {"one": command(*plan, one), "four": command(*plan, four, **{_VARIABLE: token})},
            rounds=10,
        )
    return Row(
        "`plan` of four listings, two of them read at 50 ms / of one",
        found["four"] / found["one"],
        1.3,
        seen=f"{milliseconds(found['four'])} / {milliseconds(found['one'])}",
    )


@contextmanager
def _slow_telegram() -> Iterator[tuple[str, str]]:
    """Run a simulation whose answers are late, and yield its URL and a token."""
    latency = f"{LATENCY * 1000:g}"
    arguments = (*COMMANDSYNC, "serve", "--as", "telegram", "--port", "0", "--latency", latency)
    with subprocess.Popen(
        arguments,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        try:
            output = ""
            while "base_url: " not in output and (line := process.stdout.readline()):
                output += line
            url = re.search(r"base_url: (\S+)", output)
            token = re.search(rf"{_VARIABLE}=(\S+)", output)
            if url is None or token is None:
                raise RuntimeError(f"the simulation did not start: {output}")
            yield url[1], token[1]
        finally:
            process.terminate()
