"""Workers are real processes here; what they do is in this module, where they find it."""

import os
import signal
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

import pytest

from commandsync.errors import CommandsyncError, FileError
from commandsync.server.workers import supervise
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="signals end programs otherwise on Windows")


def work(folder: Path, channel: Connection) -> None:
    """Accept, and go on until the channel ends."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    (folder / f"{os.getpid()}").touch()
    try:
        channel.send(None)
        channel.recv()
    except (EOFError, OSError):
        (folder / f"{os.getpid()}").rename(folder / f"{os.getpid()} ended")


def stay(channel: Connection) -> None:
    """Accept, and go on after the channel ends."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    channel.send(None)
    signal.pause()


def refuse(channel: Connection) -> None:
    channel.send(FileError("the database is gone", hint="look for it"))


def leave(_channel: Connection) -> None:
    os._exit(7)


def test_all_workers_start_and_a_signal_ends_them(tmp_path: Path) -> None:
    started: list[list[str]] = []

    def ready() -> None:
        started.append([path.name for path in tmp_path.iterdir()])
        os.kill(os.getpid(), signal.SIGTERM)

    supervise(partial(work, tmp_path), 2, ready)

    assert [len(names) for names in started] == [2]
    assert {path.name for path in tmp_path.iterdir()} == {f"{name} ended" for name in started[0]}


def test_a_worker_that_dies_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pids: list[int] = []

    def end_when_replaced() -> None:
        while len(list(tmp_path.iterdir())) < 3:
            pass
        os.kill(os.getpid(), signal.SIGINT)

    def ready() -> None:
        pids.append(int(next(tmp_path.iterdir()).name))
        Thread(target=end_when_replaced, daemon=True).start()
        os.kill(pids[0], signal.SIGKILL)

    supervise(partial(work, tmp_path), 2, ready)

    (message,) = caplog.messages
    assert f"process {pids[0]} ended" in message
    assert "code -9; " in message
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.endswith("ended")) == [
        path.name for path in sorted(tmp_path.iterdir()) if path.name != f"{pids[0]}"
    ]


def test_a_second_signal_does_not_wait() -> None:
    def ready() -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)

    supervise(stay, 1, ready)  # it would go on for ever


def test_what_a_worker_reports_ends_the_service(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the database is gone") as caught:
        supervise(refuse, 2, tmp_path.touch)

    assert caught.value.hint == "look for it"


def test_a_worker_that_cannot_start_ends_the_service(tmp_path: Path) -> None:
    with pytest.raises(CommandsyncError, match=r"cannot start: process \d+ ended .* code 7"):
        supervise(leave, 2, tmp_path.touch)


def test_what_the_caller_raises_ends_the_workers(tmp_path: Path) -> None:
    def ready() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        supervise(partial(work, tmp_path), 2, ready)

    assert [path.name.endswith("ended") for path in tmp_path.iterdir()] == [True, True]
