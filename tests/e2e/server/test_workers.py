"""`commandsync serve --workers`: several processes on one PostgreSQL, and one service."""

from __future__ import annotations

import json
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.e2e.server.test_process import serving, until_refused
from tests.support.listeners import Closed, Listener
from tests.support.terminal import POSIX

if TYPE_CHECKING:
    from tests.support.callers import Caller
    from tests.support.home import Home

pytestmark = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
SEED = {"bots": [{"id": str(number), "profile": {"username": "Bot"}} for number in range(2)]}
WRITERS = 6
WRITES = 5  # of each writer


def add(caller: Caller, writer: int) -> None:
    for number in range(WRITES):
        texts = {"name": f"{writer}.{number}", "description": "d", "syntax": "s"}
        assert caller.ask("POST", "/commands", texts)[0] == 200


def test_writes_at_once_are_all_listed_in_the_order_of_each_writer(
    home: Home, postgres_url: str
) -> None:
    seed = home.write(json.dumps(SEED), "seed.json")
    options = ("--database", postgres_url, "--workers", "2", "--seed", str(seed))
    with serving(home, *options, bots=2) as served:
        caller = served.caller("0")
        with ThreadPoolExecutor(WRITERS) as pool:
            for work in [pool.submit(add, caller, writer) for writer in range(WRITERS)]:
                work.result()
        names = [record["name"] for record in caller.listed()]
        ended = served.end(signal.SIGTERM)

    assert ended == (0, "", "")
    assert set(Counter(names).values()) == {1}
    for writer in range(WRITERS):
        own = [name for name in names if name.startswith(f"{writer}.")]
        assert own == [f"{writer}.{number}" for number in range(WRITES)]


def vote(caller: Caller, user: str) -> None:
    assert caller.ask("POST", "/votes", {"user": {"id": user}})[0] == 200


def test_a_vote_in_one_process_reaches_the_clients_of_all(home: Home, postgres_url: str) -> None:
    seed = home.write(json.dumps(SEED), "seed.json")
    options = ("--database", postgres_url, "--workers", "2", "--seed", str(seed))
    users = [str(number) for number in range(40)]
    with serving(home, *options, bots=2) as served, ExitStack() as stack:
        caller = served.caller("0")
        query = {"token": caller.token}
        listeners = [stack.enter_context(Listener(served.url, query)) for _ in range(8)]
        for listener in listeners:
            listener.greeted()
        with ThreadPoolExecutor(4) as pool:
            for work in [pool.submit(vote, caller, user) for user in users]:
                work.result()
        orders = {tuple(listener.users(len(users))) for listener in listeners}
        ended = served.end(signal.SIGTERM)

        assert [sorted(order, key=int) for order in orders] == [users]
        assert ended == (0, "", "")
        assert {listener.ended() for listener in listeners} == {
            Closed(1012, "the service restarts")
        }


def test_the_workers_end_when_the_first_process_is_killed(home: Home, postgres_url: str) -> None:
    with serving(home, "--database", postgres_url, "--workers", "2", bots=0) as served:
        served.end(signal.SIGKILL)
        until_refused(served.url)


def test_a_file_has_one_process(home: Home) -> None:
    ran = home.run("serve", "--workers", "2")

    assert (ran.code, ran.out) == (2, "")
    assert "--workers needs a PostgreSQL database" in ran.err
    assert not (home.path / "listing.db").exists()
