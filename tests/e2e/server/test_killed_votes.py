"""A service that is killed while it takes votes: each vote counts once, and is reminded of once."""

import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.client import HTTPException
from itertools import count
from threading import Lock
from time import monotonic, sleep

from commandsync.server import storage
from commandsync.server.database import Database, opened
from commandsync.server.votes import with_counts
from tests.e2e.server.test_process import Served, serving
from tests.support.home import LONGEST, Home
from tests.support.listeners import Listener
from tests.support.votes import told

BOT = {"id": "42", "profile": {"username": "Lantern"}}
VOTERS = 4
KILLED_AFTER = (20, 45, 33)  # votes


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


def test_a_kill_loses_no_vote_and_no_reminder_and_doubles_none(
    home: Home, database_url: str
) -> None:
    seed = home.write(json.dumps({"bots": [BOT]}), "seed.json")
    options = ("--seed", str(seed), "--database", database_url, "--vote-interval", "1")
    acknowledged, users = list[str](), count()
    for goal in KILLED_AFTER:
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
    assert len(cast) <= len(acknowledged) + VOTERS * len(KILLED_AFTER)
    assert sorted(cast) == sorted(user for event, user in events if event == "reminder")
    assert bot["statistics"]["totalVotes"] == len(cast)
