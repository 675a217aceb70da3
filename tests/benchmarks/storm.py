"""A storm of writes on a service that is killed again and again: nothing acknowledged is lost.

    python -m tests.benchmarks.storm [WRITES]

10,000 writes of 50 writers, on SQLite with one process and on PostgreSQL with two; after each fifth
all processes are killed at once (SIGKILL) and started again. Then every acknowledged write is there
once, in the order of its writer, and nothing that was not asked for. Ends with 1 otherwise.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.bots import token_of
from tests.support.callers import Caller
from tests.support.postgres import serving
from tests.support.writers import write_until_killed, writers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.writers import Writer

_WRITERS = 50
_KILLS = 5
_LONGEST = 600  # seconds


@contextmanager
def _served(database: str, seed: Path, workers: int) -> Iterator[tuple[Caller, int]]:
    """Run the service; yield the owner of its bot, and the group of its processes."""
    command = (sys.executable, "-m", "commandsync", "serve", "--port", "0", "--seed", str(seed))
    with subprocess.Popen(
        [*command, "--database", database, "--workers", str(workers)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            assert child.stdout is not None
            url = child.stdout.readline().removeprefix("listening on ").strip()
            yield Caller(url, "1", token_of("1", database=database)), child.pid
        finally:
            _kill(child.pid)


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return  # killed before


def _storm(database: str, folder: Path, workers: int, writes: int) -> float:
    """Write and kill; return the seconds that the writes took, without the starts."""
    share = 20 + writes // _WRITERS  # a third of the writes are deletes, and some writers are quick
    command = {"description": "0", "syntax": "s"}
    commands = [{"name": str(number), **command} for number in range(_WRITERS * (share + 1))]
    bot = {"id": "1", "profile": {"username": "Lantern"}, "commands": commands}
    seed = folder / "seed.json"
    seed.write_text(json.dumps({"bots": [bot]}), encoding="utf-8")
    writers: list[Writer] = []
    seconds = 0.0
    for last in (*[False] * _KILLS, True):
        with _served(database, seed, workers) as (caller, group):
            listed = caller.listed()
            writers = writers or writers_of(listed, _WRITERS)
            for writer in writers:
                writer.check(listed)
            if not last:
                started = time.perf_counter()
                write_until_killed(writers, caller, lambda: _kill(group), writes // _KILLS)
                seconds += time.perf_counter() - started
    return seconds


def main(writes: int) -> None:
    """Run both storms and print their speed."""
    for number in (signal.SIGALRM, signal.SIGTERM):  # what was started is ended then, too
        signal.signal(number, lambda number, _: sys.exit(f"ended by signal {number}"))
    signal.alarm(_LONGEST)
    with tempfile.TemporaryDirectory() as name, serving(f"storm{os.getpid()}") as server:
        folder = Path(name)
        seconds = _storm(str(folder / "listing.db"), folder, 1, writes)
        print(f"SQLite, 1 process: {writes} writes, {writes / seconds:.0f} a second", flush=True)
        with server.database() as url:
            seconds = _storm(url, folder, 2, writes)
        print(f"PostgreSQL, 2 workers: {writes} writes, {writes / seconds:.0f} a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
