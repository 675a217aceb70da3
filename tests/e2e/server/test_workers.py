"""`commandsync serve --workers`: several processes on one PostgreSQL, and one service."""

import json
import os
import signal
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import takewhile

import pytest

from tests.e2e.server.test_process import serving, until_refused
from tests.support.callers import Caller
from tests.support.home import Home
from tests.support.listeners import Closed, Listener
from tests.support.livestream import opened_stream
from tests.support.postgres import Server
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
SEED = {"bots": [{"id": str(number), "profile": {"username": "Bot"}} for number in range(2)]}
WRITERS = 6
WRITES = 5  # of each writer


def add(caller: Caller, writer: int) -> None:
    for number in range(WRITES):
        texts = {"name": f"{writer}.{number}", "description": "d", "syntax": "s"}
        assert caller.ask("POST", "/commands", texts)[0] == 200


@pytest.fixture
def seeded(home: Home, postgres_url: str) -> tuple[str, ...]:
    """The options of a service with two bots."""
    seed = home.write(json.dumps(SEED), "seed.json")
    return "--database", postgres_url, "--workers", "2", "--seed", str(seed)


def test_writes_at_once_are_all_listed_in_the_order_of_each_writer(
    home: Home, seeded: tuple[str, ...]
) -> None:
    with serving(home, *seeded, bots=2) as served:
        caller = served.caller("0")
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(partial(add, caller), range(WRITERS)))
        names = [record["name"] for record in caller.listed()]
        ended = served.end(signal.SIGTERM)

    assert ended == (0, "", "")
    assert set(Counter(names).values()) == {1}
    for writer in range(WRITERS):
        own = [name for name in names if name.startswith(f"{writer}.")]
        assert own == [f"{writer}.{number}" for number in range(WRITES)]


def vote(caller: Caller, user: str) -> None:
    assert caller.ask("POST", "/votes", {"user": {"id": user}})[0] == 200


def test_a_vote_in_one_process_reaches_the_clients_of_all(
    home: Home, seeded: tuple[str, ...]
) -> None:
    users = [str(number) for number in range(40)]
    with serving(home, *seeded, bots=2) as served, ExitStack() as stack:
        caller = served.caller("0")
        query = {"token": caller.token}
        listeners = [stack.enter_context(Listener(served.url, query)) for _ in range(8)]
        for listener in listeners:
            listener.greeted()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(partial(vote, caller), users))
        orders = {tuple(listener.users(len(users))) for listener in listeners}
        ended = served.end(signal.SIGTERM)

        assert [sorted(order, key=int) for order in orders] == [users]
        assert ended == (0, "", "")
        assert {listener.ended() for listener in listeners} == {
            Closed(1012, "the service restarts")
        }


def test_a_vote_in_one_process_is_counted_on_the_pages_of_all(
    home: Home, seeded: tuple[str, ...]
) -> None:
    users = [str(number) for number in range(20)]
    with serving(home, *seeded, bots=2) as served, ExitStack() as stack:
        pages = [stack.enter_context(opened_stream(served.url, "/bot/0/live")) for _ in range(8)]
        before = {page.votes() for page in pages}
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(partial(vote, served.caller("0")), users))
        counted = [list(takewhile(len(users).__ne__, iter(page.votes, None))) for page in pages]
        ended = served.end(signal.SIGTERM)

        assert (before, ended) == ({0}, (0, "", ""))
        assert all(sorted(set(numbers)) == numbers for numbers in counted)
        assert {page.rest().replace(b":\n\n", b"") for page in pages} == {b""}  # or comments


def test_the_workers_end_when_the_first_process_is_killed(home: Home, postgres_url: str) -> None:
    with serving(home, "--database", postgres_url, "--workers", "2", bots=0) as served:
        served.end(signal.SIGKILL)
        until_refused(served.url)


def test_a_worker_that_cannot_be_replaced_ends_the_service_with_its_reason(
    home: Home, postgres: Server, postgres_url: str
) -> None:
    with serving(home, "--database", postgres_url, "--workers", "2", bots=0) as served:
        worker = workers_of(served.child.pid)[0]
        with postgres.closed_to_others(postgres_url):
            os.kill(worker, signal.SIGTERM)
            code, _, err = served.ended()

    assert code == 1
    assert f"process {worker} ended" in err
    assert "not currently accepting connections" in err
    assert "Traceback" not in err


def workers_of(parent: int) -> list[int]:
    """Return the workers of a service; its other child is Python's own."""
    command = ("ps", "-A", "-ww", *("-o", "pid="), *("-o", "ppid="), *("-o", "args="))
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listed.splitlines()]
    return [int(pid) for pid, of, args in rows if of == str(parent) and "spawn_main" in args]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "a PostgreSQL database"),
        (("--latency", "1"), "have conditions"),
    ],
)
def test_what_several_processes_cannot_have_is_refused(
    home: Home, options: tuple[str, ...], message: str
) -> None:
    ran = home.run("serve", "--workers", "2", *options)

    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert not (home.path / "listing.db").exists()
