"""Two processes on one PostgreSQL are one service, and kills lose and double nothing."""

import json
import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from http.client import HTTPException
from itertools import count
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

import pytest

from commandsync.server import storage
from commandsync.server.database import Database, opened
from commandsync.server.service import running
from commandsync.server.votes import with_counts
from tests.e2e.server.test_process import Served, serving
from tests.support.callers import Caller, Writer, write_until_killed, writers_of
from tests.support.gateway import Listener
from tests.support.home import LONGEST, Home
from tests.support.inside import told
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


def test_kills_lose_and_double_nothing(home: Home, postgres_url: str, seed: str) -> None:
    writers: list[Writer] = []
    for goal in KILLED_AFTER:
        with two_processes(home, postgres_url, seed) as served:
            callers = [process.caller("1") for process in served]
            listed = callers[0].listed()
            writers = writers or writers_of(listed, WRITERS)
            for writer in writers:
                writer.check(listed)

            def kill(processes: list[Served] = served) -> None:
                for process in processes:
                    process.child.kill()

            write_until_killed(writers, callers, kill, goal)
    with running(postgres_url, seed=Path(seed)) as service:
        listed = Caller(service.url, "1", service.bots[0].token).listed()
        for writer in writers:
            writer.check(listed)

    assert sum(writer.edits_done + len(writer.done) for writer in writers) >= sum(KILLED_AFTER)


def vote(caller: Caller, user: str) -> None:
    assert caller.ask("POST", "/votes", {"user": {"id": user}})[0] == 200


def test_a_vote_reaches_clients_of_both(home: Home, postgres_url: str, seed: str) -> None:
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


BOT = {"id": "42", "profile": {"username": "Lantern"}}
VOTERS = 4
KILLED_AFTER_VOTES = (20, 45)  # votes


def cast_until_killed(served: Served, goal: int, users: Iterator[int]) -> list[str]:
    """Cast votes from several threads until a kill; return the users of the acknowledged ones."""
    caller, lock, acknowledged = served.caller("42"), Lock(), list[str]()

    def work() -> None:
        while True:
            with lock:
                user = str(next(users))
            try:
                status, _ = caller.ask("POST", "/votes", {"user": {"id": user}})
            except (OSError, HTTPException):
                return
            assert status == 200
            with lock:
                acknowledged.append(user)
                if len(acknowledged) == goal:
                    served.child.kill()

    with ThreadPoolExecutor(VOTERS) as pool:
        for result in [pool.submit(work) for _ in range(VOTERS)]:
            result.result()
    return acknowledged


def reminded(database: Database) -> list[tuple[str, str]]:
    """Return the events once every vote has its reminder."""
    deadline, events = monotonic() + LONGEST, told(database)
    while sum(event == "vote" for event, _ in events) > len(events) / 2 and monotonic() < deadline:
        sleep(0.05)
        events = told(database)
    return events


def test_a_kill_loses_and_doubles_no_vote(home: Home, database_url: str) -> None:
    seed = home.write(json.dumps({"bots": [BOT]}), "seed.json")
    options = ("--seed", str(seed), "--database", database_url, "--vote-interval", "1")
    acknowledged, users = list[str](), count()
    for goal in KILLED_AFTER_VOTES:
        with serving(home, *options, bots=1) as served:
            acknowledged += cast_until_killed(served, goal, users)
    with (
        serving(home, *options, bots=1) as served,
        opened(database_url) as database,
        Listener(served.url, {"token": served.tokens["42"]}),
    ):
        events = reminded(database)
        with database.reading() as connection:
            (bot,) = with_counts(
                connection, [storage.bot_of(connection, "42")], at=datetime.now(UTC)
            )
    cast = [user for event, user in events if event == "vote"]

    assert set(Counter(events).values()) == {1}
    assert set(acknowledged) <= set(cast)
    assert len(cast) <= len(acknowledged) + VOTERS * len(KILLED_AFTER_VOTES)
    assert sorted(cast) == sorted(user for event, user in events if event == "reminder")
    assert bot["statistics"]["totalVotes"] == len(cast)
