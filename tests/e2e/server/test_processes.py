"""Two processes on one PostgreSQL, which start at once: together they are one service."""

import json
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from tests.e2e.server.test_process import Served, serving
from tests.support.callers import Caller, Writer, write_until_killed, writers_of
from tests.support.home import Home
from tests.support.listeners import Listener
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
WRITERS = 6
KILLED_AFTER = (60, 60)  # acknowledged writes


@contextmanager
def two_processes(home: Home, database: str, seed: str) -> Iterator[list[Served]]:
    def start(stack: ExitStack) -> Served:
        options = ("--database", database, "--seed", seed)
        return stack.enter_context(serving(home, *options, bots=1))

    with ExitStack() as stack, ThreadPoolExecutor(2) as pool:
        yield [*pool.map(start, [stack] * 2)]


@pytest.fixture
def seed(home: Home) -> str:
    texts = {"description": "0", "syntax": "s"}
    commands = [{"name": f"{number}", **texts} for number in range(WRITERS * 40)]
    bot = {"id": "1", "profile": {"username": "Lantern"}, "commands": commands}
    return str(home.write(json.dumps({"bots": [bot]}), "seed.json"))


def test_kills_and_new_starts_lose_nothing_and_double_nothing(
    home: Home, postgres_url: str, seed: str
) -> None:
    writers: list[Writer] = []
    for goal in (*KILLED_AFTER, 0):
        with two_processes(home, postgres_url, seed) as served:
            callers = [process.caller("1") for process in served]
            listed = callers[0].listed()
            writers = writers or writers_of(listed, WRITERS)
            for writer in writers:
                writer.check(listed)

            def kill(processes: list[Served] = served) -> None:
                for process in processes:
                    process.child.kill()

            if goal:
                write_until_killed(writers, callers, kill, goal)

    assert sum(writer.edits_done + len(writer.done) for writer in writers) >= sum(KILLED_AFTER)


def vote(caller: Caller, user: str) -> None:
    assert caller.ask("POST", "/votes", {"user": {"id": user}})[0] == 200


def test_a_vote_in_one_process_reaches_the_clients_of_both_in_one_order(
    home: Home, postgres_url: str, seed: str
) -> None:
    users = [str(number) for number in range(40)]
    with two_processes(home, postgres_url, seed) as served, ExitStack() as stack:
        callers = [process.caller("1") for process in served]
        listeners = [
            stack.enter_context(Listener(caller.url, {"token": caller.token}))
            for caller in callers * 3
        ]
        for listener in listeners:
            listener.greeted()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(vote, callers * 20, users))
        orders = {tuple(listener.users(len(users))) for listener in listeners}
        ended = [process.end(signal.SIGTERM) for process in served]

    assert [sorted(order, key=int) for order in orders] == [users]
    assert ended == [(0, "", "")] * 2
