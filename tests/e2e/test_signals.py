"""SIGINT and SIGTERM: requests in flight are finished and reported, and none is started."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.bots import Bot, Instead, Proxy, Rule, Service
from tests.support.home import LONGEST, Home, Ran, checked, failed, fields
from tests.support.rawserver import Request
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")

NAMES = [f"command {number}" for number in range(12)]
BOTH = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    """A bot with twelve edits to make."""
    home.write(fields(*((name, "Reworded.") for name in NAMES)))
    return home.knows(service.bot(NAMES), url=proxy.url)


@pytest.fixture
def held(proxy: Proxy) -> Iterator[threading.Event]:
    """Hold every write until this is set."""
    released = threading.Event()
    proxy.rule = holding(released, writes=True)
    yield released
    released.set()


def holding(released: threading.Event, *, writes: bool = False) -> Rule:
    def hold(seen: Request) -> None:
        if seen.writes or not writes:
            released.wait(LONGEST)

    return hold


def heard(child: subprocess.Popen[bytes]) -> None:
    """Return when the program has said that it stops."""
    assert child.stderr is not None
    while line := child.stderr.readline():
        if line.startswith(b"stopping: "):
            return
    raise AssertionError("it ended without a word")


def hold(ran: Ran, form: str) -> None:
    """Hold a run against the promise: one message says that no listing was changed."""
    if form == "json":
        assert "no listing was changed" in failed(ran, "interrupted")
    else:
        assert (ran.out, ran.err.count("\n")) == ("", 1)
        assert ran.err.startswith("error: interrupted; no listing was changed")


def end_of(child: subprocess.Popen[bytes], *, exits: int | None = None) -> Ran:
    out, err = child.communicate(timeout=LONGEST)
    return Ran(child.returncode, out.decode(), err.decode()).ending(exits)


@BOTH
def test_a_signal_lets_what_is_in_flight_finish_and_reports_it(
    home: Home, bot: Bot, proxy: Proxy, held: threading.Event, number: signal.Signals, code: int
) -> None:
    child = home.started("apply", "--yes", "--format", "json")
    proxy.wait_for(4)
    child.send_signal(number)
    heard(child)
    held.set()

    ran = end_of(child, exits=code)

    result = checked(ran, "result")
    assert len(proxy.writes) == 4
    assert result["interrupted"] is True
    assert result["outcomes"] == {"done": 4, "failed": 0, "unknown": 0, "skipped": 8}
    changed = [record["name"] for record in bot.commands() if record["description"] == "Reworded."]
    told = [change["name"] for change in result["changes"] if change["outcome"] == "done"]
    assert sorted(changed) == sorted(told)
    assert home.run("apply", "--yes").code == 0
    assert len(proxy.writes) == 12
    assert {record["description"] for record in bot.commands()} == {"Reworded."}


@pytest.mark.usefixtures("bot")
@BOTH
def test_a_second_signal_ends_at_once_and_calls_the_rest_unknown(
    home: Home, proxy: Proxy, held: threading.Event, number: signal.Signals, code: int
) -> None:
    child = home.started("apply", "--yes", "--format", "json")
    proxy.wait_for(4)
    child.send_signal(number)
    heard(child)
    child.send_signal(number)

    ran = end_of(child, exits=code)  # while the writes are still held

    result = checked(ran, "result")
    assert not held.is_set()
    assert result["outcomes"] == {"done": 0, "failed": 0, "unknown": 4, "skipped": 8}
    assert result["verified"] is False


def test_a_signal_ends_the_wait_before_the_next_try(home: Home, bot: Bot, proxy: Proxy) -> None:
    def slow_down(seen: Request) -> Instead | None:
        return Instead(429, {"error": "x"}, {"Retry-After": "100"}) if seen.writes else None

    proxy.rule = slow_down
    child = home.started("apply", "--yes", "--concurrency", "1")
    proxy.wait_for(1)
    child.send_signal(signal.SIGINT)

    end_of(child, exits=130)

    assert len(proxy.writes) == 1
    assert {record["description"] for record in bot.commands()} == {"Does it."}


@pytest.mark.usefixtures("bot")
@BOTH
@pytest.mark.parametrize("command", ["plan", "apply --yes", "pull", "plan --format json"])
def test_a_signal_while_reading_ends_at_once_with_nothing_changed(
    home: Home, proxy: Proxy, command: str, number: signal.Signals, code: int
) -> None:
    released = threading.Event()
    proxy.rule = holding(released)
    child = home.started(*command.split())
    proxy.wait_for(1, writes=False)
    child.send_signal(number)

    ran = end_of(child, exits=code)

    released.set()
    assert proxy.writes == []
    hold(ran, command.rpartition(" ")[2])


AT_IMPORT = """
import os, sys
left = int(os.environ["AT_IMPORT"])
begun = False  # the program has: its first import of its own
def hook(event, args):
    global left, begun
    own = event == "import" and args[0].startswith("commandsync.")
    begun = begun or (own and args[0] != "commandsync.__main__")
    if event != "import" or not begun:
        return
    left -= 1
    if left == -1:
        os.close(os.open("sent", os.O_CREAT))
        os.kill(os.getpid(), int(os.environ["NUMBER"]))
sys.addaudithook(hook)
"""


@settings(max_examples=max(8, settings().max_examples // 4))  # each of them is a child
@given(
    moment=st.integers(0, 220),
    number=st.sampled_from([signal.SIGINT, signal.SIGTERM]),
    form=st.sampled_from(["json", "text", "markdown"]),
)
def test_a_signal_while_the_program_loads_is_reported_like_any_other(
    home: Home, moment: int, number: signal.Signals, form: str
) -> None:
    home.write(fields(("help",)))
    home.write(AT_IMPORT, "hook/sitecustomize.py")
    sent = home.path / "sent"
    sent.unlink(missing_ok=True)
    path = os.pathsep.join([str(home.path / "hook"), home.environment()["PYTHONPATH"]])

    ran = home.child(
        *("plan", "--against", "commands.yaml", "--format", form),
        PYTHONPATH=path,
        AT_IMPORT=str(moment),
        NUMBER=str(int(number)),
    )

    assert "Traceback" not in ran.said
    if not sent.exists():  # it had loaded everything by then
        assert ran.code == 0
    else:
        assert ran.code == 128 + number
        hold(ran, form)


def test_of_several_plans_those_not_begun_are_skipped(
    home: Home, bot: Bot, service: Service, proxy: Proxy, held: threading.Event
) -> None:
    other = service.bot(NAMES)
    home.forget("COMMANDSYNC_BOT")
    wanted = fields(*((name, "Reworded.") for name in NAMES))
    for name, one in (("A", bot), ("B", other)):
        home.variable(f"COMMANDSYNC_{name}", one.token)
        home.write(f'{wanted}bot: "{one.id}"\ntoken_env: COMMANDSYNC_{name}\n', f"bots/{name}.yaml")
    child = home.started("apply", "--yes", "-f", "bots", "--format", "json")
    proxy.wait_for(4)
    child.send_signal(signal.SIGINT)
    heard(child)
    held.set()

    ran = end_of(child, exits=130)

    first, second = checked(ran, "result")["results"]
    assert first["outcomes"]["done"] == 4
    assert second["outcomes"] == {"done": 0, "failed": 0, "unknown": 0, "skipped": 12}
