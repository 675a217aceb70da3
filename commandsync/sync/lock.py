"""The locks of listings: on a machine, one apply of a bot's page at a time.

Two applies that read a page before either writes would both add what is missing. So each holds the
lock of every listing that it reads, from before it reads until it has verified its writes. The
second one waits, and reads what the first one left. The system releases the lock of a process that
was killed.

A lock is a file in the user's folder for the state of programs; another file beside it has the
number of the process that holds it. Other users and machines have locks of their own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from commandsync.errors import CommandsyncError
from commandsync.sync.files import read_file, reason, write_file

if TYPE_CHECKING:
    from filelock import BaseFileLock

INTERVAL = 0.1
"""Seconds between two attempts."""

_MOST_DIGITS = 20  # of the number of a process


class Locks:
    """The locks of some listings, by their identities; at first none of them is held.

    Two runs take several locks in the same order, so that neither waits for the other.
    """

    def __init__(self, identities: Iterable[str]) -> None:
        self._all = sorted(set(identities))
        self._left = [*self._all]
        self._held: list[BaseFileLock] = []
        self.problem = ""  # why there are no locks, once an attempt found that

    def attempt(self) -> str:
        """Take the locks that are free; return the identity of the first that is not, if any.

        Where the folder cannot be used, there are no locks.
        """
        while self._left and not self.problem:
            try:
                if not self._take(_path(self._left[0])):
                    return self._left[0]
            except OSError as error:
                self.problem = reason(error)
            else:
                del self._left[0]
        return ""

    def close(self) -> None:
        """Release all."""
        self._left = [*self._all]
        while self._held:
            self._held.pop().release()

    def _take(self, path: Path) -> bool:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - seldom needed

        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path, mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        self._held.append(lock)
        with suppress(CommandsyncError):  # only the message of another run names the process
            write_file(str(_holder(path)), f"{os.getpid()}\n", force=True, private=True)
        return True


def holder_of(identity: str) -> str:
    """Return the number of the process that holds a lock; empty if that is not known."""
    with suppress(CommandsyncError, ValueError):
        number = read_file(str(_holder(_path(identity))), most=_MOST_DIGITS).decode().strip()
        return number if number.isdecimal() else ""
    return ""


def _path(identity: str) -> Path:
    from platformdirs import user_state_path  # noqa: PLC0415 - seldom needed

    name = sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return user_state_path("commandsync", appauthor=False) / f"{name}.lock"


def _holder(path: Path) -> Path:
    return path.with_suffix(".pid")
