"""A bad day, on request: each condition does what it says."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from commandsync.server.conditions import Conditions
from commandsync.server.service import create_app, running
from tests.support.callers import COMMAND, Caller
from tests.support.home import Home

SEED = '{"bots": [{"id": "1", "profile": {"username": "Lantern"}}]}'


@contextmanager
def on_a_bad_day(folder: Path, **conditions: float | str) -> Iterator[Caller]:
    """Give the owner of the one bot of a service."""
    seed = folder / "seed.json"
    seed.write_text(SEED)
    application = partial(create_app, conditions=Conditions(**conditions))  # type: ignore[arg-type]  # by name
    with running(seed=seed, application=application) as service:
        yield Caller(service.url, "1", service.bots[0].token)


# Latency


def test_every_answer_takes_the_latency_at_least(tmp_path: Path) -> None:
    with on_a_bad_day(tmp_path, latency=50) as caller:
        before = monotonic()
        caller.ask("POST", "/commands", COMMAND)
        middle = monotonic()
        caller.raw("GET", "/v1/nothing")
        after = monotonic()

    assert middle - before >= 0.05
    assert after - middle >= 0.05


# Rate limit


def test_requests_over_the_limit_are_told_when_to_come_back(tmp_path: Path) -> None:
    with on_a_bad_day(tmp_path, rate_limit="3/hour") as caller:
        replies = [
            caller.raw("GET", "/v1/bot/1/commands", headers=caller.headers()) for _ in range(5)
        ]

    assert [reply.status for reply in replies] == [200, 200, 200, 429, 429]
    assert 3_590 < int(replies[3].headers["retry-after"]) <= 3_600
    assert json.loads(replies[3].content).keys() == {"error"}


def test_a_valid_token_has_a_limit_of_its_own(tmp_path: Path) -> None:
    with on_a_bad_day(tmp_path, rate_limit="1/hour") as caller:
        tokens = [f"Bot {caller.token}", "Bot a", "Bot b", None, f"bot  {caller.token}"]
        statuses = [caller.ask("GET", Authorization=token)[0] for token in tokens]

    assert statuses == [200, 200, 429, 429, 429]


def test_what_is_not_of_the_interface_has_no_conditions(tmp_path: Path) -> None:
    with on_a_bad_day(tmp_path, rate_limit="1/hour", fail=1) as caller:
        statuses = {caller.raw("GET", "/elsewhere").status for _ in range(5)}

    assert statuses == {404}


# Failures


def written(folder: Path, seed: int, *, fail: float) -> list[tuple[int, bool]]:
    """Add commands; return the status of each answer, and whether the command is listed."""
    names = [f"{number}" for number in range(60)]
    with on_a_bad_day(folder, fail=fail, chaos_seed=seed) as caller:
        statuses = [caller.ask("POST", "/commands", {**COMMAND, "name": name})[0] for name in names]
        while (answer := caller.ask("GET", "/commands"))[0] != 200:
            pass
    listed = {command["name"] for command in answer[1]["data"]}
    return [(status, name in listed) for name, status in zip(names, statuses, strict=True)]


def test_requests_fail_before_or_after_their_work_and_the_seed_repeats_it(tmp_path: Path) -> None:
    first = written(tmp_path, 1, fail=0.4)
    failed = [outcome for outcome in first if outcome[0] != 200]

    assert written(tmp_path, 1, fail=0.4) == first != written(tmp_path, 2, fail=0.4)
    assert 12 <= len(failed) <= 36
    assert {outcome for outcome in first if outcome not in failed} == {(200, True)}
    assert set(failed) == {(500, True), (500, False), (503, True), (503, False)}


# All of them, and the client


# The command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--latency", "-1"], "-1"),
        (["--latency", "nan"], ", not 'nan'"),
        (["--rate-limit", "30/fortnight"], "give it as"),
        (["--rate-limit", ""], "a valid rate"),
        (["--fail", "30"], ", not 30"),
        (["--fail", "nan"], ", not 'nan'"),
        (["--chaos-seed", "-1"], "-1"),
    ],
)
def test_an_impossible_condition_is_refused(home: Home, arguments: list[str], said: str) -> None:
    ran = home.run("serve", "--port", "0", *arguments)

    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_serve_names_its_conditions_and_has_them(home: Home) -> None:
    options = ("--latency=1", "--rate-limit=2/hour", "--fail=1", "--chaos-seed=7")
    arguments = ("serve", "--port", "0", "--database", ":memory:", *options)
    with home.started(*arguments) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        url = child.stdout.readline().decode().removeprefix("listening on ").strip()
        statuses = [Caller(url, "1", "").raw("GET", "/v1/bot/1").status for _ in range(3)]
        child.send_signal(signal.SIGTERM)
        child.wait(timeout=60)
        said = child.stderr.read().decode()

    assert statuses[0] in {500, 503}
    assert statuses[2] == 429
    assert said.splitlines() == [
        "latency 1 ms",
        "rate limit 2/hour",
        "failures 100.0%, chaos seed 7",
    ]
