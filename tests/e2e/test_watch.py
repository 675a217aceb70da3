"""`watch`: events as lines for people and for programs, and a program that is run for each."""

import json
import os
import random
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from string import ascii_letters, ascii_uppercase, digits

import pytest

from commandsync.cli import progress
from commandsync.services.catalogue import LISTS
from tests.support.bots import Bot, Service
from tests.support.gateway import BOT, Gateway, Guest, closing, event, telling, vote
from tests.support.home import LONGEST, Home, lines
from tests.support.monitor import Monitor
from tests.support.terminal import POSIX

on_posix = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")
TOKEN = "marked-token-7f3a9c1e"
LIVE = {"caught_up": False}
UNTRUSTED = "::error::x\x1b[31m ##[group]y\u202e\n::z"
_KEEP = """
import pathlib, sys
with pathlib.Path(sys.argv[1]).open("a", encoding="utf-8") as file:
    file.write(sys.stdin.read())
print("kept")
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def gateway(home: Home) -> Iterator[Gateway]:
    with Gateway() as running:
        home.variable("COMMANDSYNC_BASE_URL", running.url)
        home.variable("COMMANDSYNC_BOT", "42")
        home.variable("COMMANDSYNC_TOKEN", TOKEN)
        yield running


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    bot = service.bot()
    home.knows(bot)
    return bot


def keeping(path: Path, code: int = 0) -> str:
    """Return what `--exec` is given to append its input to a file, where shells would break."""
    return shlex.join([sys.executable, "-c", _KEEP, str(path), str(code)])


@on_posix
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_events_are_lines_until_a_signal_ends_them_in_good_order(
    home: Home, gateway: Gateway, number: int, code: int
) -> None:
    said = {"user": {"id": "7", "username": "Ann"}, "bot": BOT}
    gateway.then(telling(vote(7), event("reminder", said), event("vote", {**said, "bot": {}})))
    child = home.started("watch")

    shown = lines(child, 4)
    child.send_signal(number)
    out, err = child.communicate(timeout=LONGEST)

    assert shown == [
        "ready         Helper (42)\n",
        "vote          u7 (7) for Helper (42)\n",
        "reminder      Ann (7) for Helper (42)\n",
        "vote          Ann (7)\n",
    ]
    assert (child.returncode, out, err) == (code, b"", b"")


@on_posix
def test_a_terminal_shows_that_a_stream_is_not_open_yet(
    gateway: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor = Monitor(80, monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)

    def open_late(guest: Guest) -> None:
        assert " s from 127.0.0.1" in monitor.until("open the event stream: no answer for ")
        guest.welcome()
        monitor.until("ready")
        os.kill(os.getpid(), signal.SIGINT)
        guest.stay()

    gateway.then(open_late)

    assert monitor.run("watch") == 130
    assert monitor.text == "ready         Helper (42)\n"


@on_posix
def test_a_vote_that_is_cast_on_the_service_is_shown(home: Home, bot: Bot) -> None:
    child = home.started("watch")
    shown = lines(child, 1)
    home.run("vote", "7", "--username", "Ann")
    bot.remind("7", name="Ann")
    shown += lines(child, 2)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=LONGEST)

    name = f"Bot {bot.id} ({bot.id})"
    assert shown == [
        f"ready         {name}\n",
        f"vote          Ann (7) for {name}\n",
        f"reminder      Ann (7) for {bot.id}\n",
    ]
    assert (child.returncode, out, err) == (130, b"", b"")


@on_posix
def test_every_event_is_a_json_object_on_a_line(home: Home, gateway: Gateway) -> None:
    gateway.then(closing(vote(7), code=1012, reason="restart"), telling(vote(8)))
    child = home.started("watch", "--format", "json")

    events = [json.loads(line) for line in lines(child, 6)]
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=LONGEST)

    assert events == [
        {"event": "ready", "bot": BOT},
        {"event": "vote", "user": {"id": "7", "username": "u7"}, "bot": BOT, **LIVE},
        {"event": "reconnecting", "code": 1012, "reason": "restart"},
        {"event": "reconnected"},
        {"event": "ready", "bot": BOT},
        {"event": "vote", "user": {"id": "8", "username": "u8"}, "bot": BOT, **LIVE},
    ]
    assert err.endswith(b": restart (1012)\n")


@on_posix
def test_an_event_that_cannot_be_shown_is_reported_and_the_stream_goes_on(
    home: Home, gateway: Gateway
) -> None:
    deep: list[object] = []
    for _ in range(400):
        deep = [deep]
    gateway.then(telling(event("vote", {"user": {"id": "1", "x": deep}, "bot": BOT}), vote(2)))
    child = home.started("watch")

    shown = lines(child, 2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=LONGEST)

    assert shown[1] == "vote          u2 (2) for Helper (42)\n"
    assert err == b"warning: the service's answer is nested too deeply to be shown whole\n"


def test_a_refused_token_ends_it_as_a_failure(home: Home, gateway: Gateway) -> None:
    gateway.then(closing(code=4401, reason=f"{UNTRUSTED} {TOKEN}", welcome=False))
    words = home.run("watch")
    document = home.run("watch", "--format", "json")

    assert (words.code, document.code) == (1, 1)
    assert "the gateway" in words.err
    assert document.out.count("\n") == 1
    assert document.document["error"]["kind"] == "auth"
    for said in (words.said, document.said):
        assert TOKEN not in said
        assert "\x1b" not in said
        assert "##[" not in said


@on_posix
def test_a_program_gets_each_event_and_never_a_shell(home: Home, gateway: Gateway) -> None:
    user = {"id": "$(touch owned)", "username": "`touch owned`; touch owned"}
    gateway.then(
        closing(event("vote", {"user": user, "bot": BOT}), code=1012, reason="restart"), telling()
    )
    kept = home.path / "a folder" / "kept.jsonl"
    kept.parent.mkdir()
    child = home.started("watch", "--format", "json", "--exec", keeping(kept))
    shown = lines(child, 5)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=LONGEST)

    assert child.returncode == 143
    assert kept.read_text(encoding="utf-8").splitlines(keepends=True) == shown
    assert json.loads(shown[1])["user"] == user
    assert not (home.path / "owned").exists()
    assert err.count(b"kept\n") == 5


@on_posix
def test_a_program_that_fails_is_reported_and_the_stream_goes_on(
    home: Home, gateway: Gateway
) -> None:
    gateway.then(telling(vote(1), vote(2)))
    kept = home.path / "kept"
    child = home.started("watch", "--exec", keeping(kept, 7))
    lines(child, 3)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=LONGEST)

    assert err.count(b"warning: --exec ended with exit code 7\n") == 3
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 3


@on_posix
def test_a_program_that_can_no_longer_be_run_is_reported(home: Home, gateway: Gateway) -> None:
    program = home.write("no program\n", "thing")
    program.chmod(0o755)
    gateway.then(telling())
    child = home.started("watch", "--exec", str(program))
    lines(child, 1)
    child.send_signal(signal.SIGTERM)
    _, err = child.communicate(timeout=LONGEST)

    assert b"warning: --exec cannot be run: exec format error\n" in err


@on_posix
def test_a_second_signal_ends_the_program_that_is_run_too(home: Home, gateway: Gateway) -> None:
    gateway.then(telling())
    child = home.started("watch", "--exec", "sh -c 'echo begun >&2; exec sleep 60'")
    assert child.stderr is not None
    assert child.stderr.readline() == b"begun\n"
    child.send_signal(signal.SIGTERM)
    child.send_signal(signal.SIGINT)

    _, err = child.communicate(timeout=LONGEST)

    assert child.returncode in {143, 130}
    assert err == b""


@pytest.mark.parametrize("program", ["", "no-such-program-anywhere", "'unclosed"])
def test_an_invalid_program_is_wrong_usage(home: Home, gateway: Gateway, program: str) -> None:
    ran = home.run("watch", "--exec", program)

    assert ran.code == 2
    assert "--exec" in ran.err
    assert gateway.asked == []


@on_posix
def test_it_ends_when_its_output_is_closed(home: Home, gateway: Gateway) -> None:
    gateway.then(telling(*[vote(number) for number in range(2_000)]))
    child = home.started("watch")
    lines(child, 1)
    assert child.stdout is not None
    child.stdout.close()

    assert child.wait(LONGEST) == 0


@on_posix
def test_a_service_without_a_gateway_is_polled_with_one_warning(
    home: Home, gateway: Gateway
) -> None:
    gateway.voters.append([{"id": "1"}])
    child = home.started("watch")
    assert child.stderr is not None
    warning = child.stderr.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=LONGEST)

    assert warning.startswith(b"the service has no gateway")
    assert (child.returncode, err) == (130, b"")


@on_posix
def test_untrusted_events_cannot_steer_what_reads_them(home: Home, gateway: Gateway) -> None:
    said = {"user": {"id": UNTRUSTED, "username": UNTRUSTED}, "bot": BOT}
    gateway.then(closing(event("vote", said), code=1012, reason=f"##[x]\x1b{TOKEN}"), telling())
    child = home.started("watch", "-vv")

    shown = lines(child, 4)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=LONGEST)

    assert len(shown) == 4
    for said_there in ("".join(shown), err.decode()):
        assert "\x1b" not in said_there
        assert "##[" not in said_there
        assert TOKEN not in said_there
        assert not any(line.startswith("::") for line in said_there.splitlines())


_SHOW = """
import json, os, pathlib, signal, sys
pathlib.Path(sys.argv[1]).write_text(json.dumps(dict(os.environ)), encoding="utf-8")
os.kill(os.getppid(), signal.SIGINT)
"""


@pytest.mark.promise("watch-exec")
@on_posix
@pytest.mark.parametrize("seed", range(3))
def test_a_program_that_is_run_does_not_inherit_the_token(
    home: Home, gateway: Gateway, seed: int
) -> None:
    draw = random.Random(seed)  # noqa: S311 - not for secrecy
    token = "t" + "".join(draw.choices(f"{ascii_letters}{digits}_.-", k=draw.randint(11, 40)))
    name = "COMMANDSYNC_TOKEN_" + "".join(draw.choices(ascii_uppercase, k=draw.randint(1, 9)))
    path = home.path / "environment.json"
    show = shlex.join([sys.executable, "-c", _SHOW, str(path)])
    home.write(f"version: 1\ntoken_env: {name}\ncommands: []\n")
    gateway.then(telling(vote(7)))

    of_lists = {name: f"of-{name}" for service in LISTS.values() for name in service.variables}
    ran = home.child("watch", "-f", "commands.yaml", "--exec", show, **of_lists, **{name: token})
    inherited = json.loads(path.read_text("utf-8"))

    assert ran.code == 130
    assert not {token, TOKEN, *of_lists.values()} & set(inherited.values())
    assert inherited["COMMANDSYNC_BOT"] == "42"
    assert "PYDANTIC_DISABLE_PLUGINS" not in inherited
