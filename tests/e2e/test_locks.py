"""Two applies on one machine: the second one waits for the first, and reads what it left."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic

import pytest

from commandsync import AsyncClient
from commandsync.sync import Result, run_async
from commandsync.sync.apply import apply
from commandsync.sync.selection import jobs
from commandsync.sync.settings import LockProgress, Settings, load, read_clock
from commandsync.sync.statefile import Locks, holder_of
from tests.support.bots import Bot, Proxy, Service
from tests.support.home import LONGEST, Home, Ran, fields
from tests.support.rawserver import Request
from tests.support.terminal import Terminal

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="the folder for locks can be moved on Linux"
)
NAMES = [f"command {number:03}" for number in range(690)]


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("one",), ("two",)))
    return home.knows(service.bot([]), url=proxy.url)


def ended(child: subprocess.Popen[bytes]) -> Ran:
    out, err = child.communicate(timeout=LONGEST)
    return Ran(child.returncode, out.decode(), err.decode())


def line_of(child: subprocess.Popen[bytes], begin: str) -> str:
    """Wait for a line on standard error that begins so, and return it."""
    assert child.stderr is not None
    while line := child.stderr.readline().decode():
        if line.startswith(begin):
            return line
    raise AssertionError(begin)


@pytest.mark.promise("one-apply")
def test_two_applies_of_many_commands_at_once_leave_no_copy(home: Home, service: Service) -> None:
    bot = home.knows(service.bot([]))
    home.write(fields(*((name,) for name in NAMES)))
    children = [home.started("apply", "--yes") for _ in range(2)]
    with ThreadPoolExecutor() as threads:  # a plan is longer than what a pipe holds
        ran = [*threads.map(ended, children)]

    assert [each.code for each in ran] == [0, 0], [each.said for each in ran]
    assert bot.names() == NAMES
    waited = [each for each in ran if "waiting for the apply" in each.err]
    (first,) = (child.pid for child, each in zip(children, ran, strict=True) if each not in waited)
    assert f"waiting for the apply of bot {bot.id} at {bot.url} in process {first}\n" in (
        waited[0].err
    )


@pytest.fixture
def held(proxy: Proxy) -> threading.Event:
    """Let writes wait until this is set."""
    released = threading.Event()

    def hold(seen: Request) -> None:
        if seen.writes:
            released.wait(LONGEST)

    proxy.rule = hold
    return released


@pytest.mark.promise("one-apply")
@pytest.mark.usefixtures("bot")
def test_an_interruption_ends_the_wait_at_once(
    home: Home, proxy: Proxy, held: threading.Event
) -> None:
    first = home.started("apply", "--yes")
    proxy.wait_for(1)
    second = home.started("apply", "--yes")
    said = line_of(second, "waiting for the apply")
    start = monotonic()
    second.send_signal(signal.SIGINT)
    stopped = ended(second)
    seconds = monotonic() - start
    held.set()

    assert said.endswith(f"in process {first.pid}\n")
    assert (stopped.code, stopped.err) == (130, "error: interrupted; no listing was changed\n")
    assert seconds < 2
    assert ended(first).code == 0
    assert len(proxy.writes) == 2


def test_a_killed_apply_holds_nothing(
    home: Home, bot: Bot, proxy: Proxy, held: threading.Event
) -> None:
    first = home.started("apply", "--yes")
    proxy.wait_for(1)
    first.kill()
    first.wait()
    held.set()
    proxy.rule = lambda _: None

    ran = home.child("apply", "--yes")

    assert "waiting" not in ran.err
    assert sorted(set(bot.names())) == ["one", "two"]


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["plan", "apply --dry-run"])
def test_what_only_plans_waits_for_nothing(
    home: Home, proxy: Proxy, held: threading.Event, command: str
) -> None:
    first = home.started("apply", "--yes")
    proxy.wait_for(1)

    ran = home.child(*command.split(), exits=0)

    assert "waiting" not in ran.err
    held.set()
    assert ended(first).code == 0


def test_another_bot_is_not_waited_for(
    home: Home, bot: Bot, service: Service, proxy: Proxy, held: threading.Event
) -> None:
    first = home.started("apply", "--yes")
    proxy.wait_for(1)
    other = service.bot([])

    ran = home.child(
        *("apply", "--yes", "--bot", other.id, "--base-url", other.url),
        COMMANDSYNC_TOKEN=other.token,
        exits=0,
    )

    assert "waiting" not in ran.err
    assert (bot.names(), other.names()) == ([], ["one", "two"])
    held.set()
    assert ended(first).code == 0


def test_a_question_holds_no_lock_and_is_asked_again_after_a_change(home: Home, bot: Bot) -> None:
    with Terminal.running(home, "apply", piped=True) as terminal:
        terminal.until("[y/N]:")
        home.child("apply", "--yes", exits=0)
        terminal.type("y\n")
        code, _, _ = terminal.ended()

    assert code == 0
    assert bot.names() == ["one", "two"]


@pytest.mark.usefixtures("bot")
def test_without_a_folder_for_locks_that_is_said(home: Home, bot: Bot) -> None:
    file = home.write("", "file")

    ran = home.child("apply", "--yes", XDG_STATE_HOME=str(file), exits=0)

    assert "another apply on this machine would not wait for this one: not a directory" in ran.err
    assert bot.names() == ["one", "two"]


def test_locks_are_taken_in_one_order_and_by_one_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first, second = Locks(["b", "a"]), Locks(["a", "c"])

    assert (first.attempt(), second.attempt(), second.attempt()) == ("", "a", "a")
    assert holder_of("a") == str(os.getpid())
    assert holder_of("unknown") == ""
    first.close()
    assert (second.attempt(), first.attempt()) == ("", "a")
    second.close()
    assert first.attempt() == ""
    first.close()


@pytest.mark.parametrize(
    ("number", "shown"),
    [("123", [[], *[["123"]] * 19]), ("", [*[[]] * 10, *[[""]] * 10])],
)
def test_a_wait_is_reported_once_the_process_is_known_or_after_ten_attempts(
    home: Home, bot: Bot, monkeypatch: pytest.MonkeyPatch, number: str, shown: list[list[str]]
) -> None:
    state = home.path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setenv("COMMANDSYNC_TOKEN", bot.token)
    reports: list[object] = []
    files = (str(home.path / "commands.yaml"),)
    settings = Settings(
        now=read_clock(), files=files, base_url=bot.url, bot=bot.id, on_progress=reports.append
    )
    with jobs(settings, load(settings)) as (job,):
        other = Locks([job.identity])
    assert other.attempt() == ""
    (holder,) = state.rglob("*.pid")
    holder.unlink()  # the other apply has taken the lock, and not written its number yet
    steps = apply(load=partial(load, settings), connect=partial(jobs, settings))
    next(steps)
    steps.send(load(settings))
    if number:
        holder.write_text(number)
    seen = []
    for _ in shown:
        seen.append([each.process for each in reports if isinstance(each, LockProgress)])
        steps.send(None)
    steps.close()
    other.close()

    assert seen == shown


@pytest.mark.promise("one-apply")
def test_two_runs_of_the_library_in_one_loop_leave_no_copy(home: Home, bot: Bot) -> None:
    async def both() -> list[Result]:
        async with (
            AsyncClient(bot.token, bot.url, bot=bot.id) as one,
            AsyncClient(bot.token, bot.url, bot=bot.id) as other,
        ):
            path = home.path / "commands.yaml"
            return [*await asyncio.gather(run_async(one, path), run_async(other, path))]

    results = asyncio.run(both())

    assert [result.verified for result in results] == [True, True]
    assert bot.names() == ["one", "two"]
