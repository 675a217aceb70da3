"""A program that runs without a fence: its own hooks redirect what they can reach.

`hooks/sitecustomize.py` (Python) and `hooks/preload.cjs` (Node) send connections to the platforms
to the stand-ins and refuse the others. Other languages, libraries with native sockets, and what the
program writes are not held: the caller says so before the run. The interface is that of `Fence`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress

from commandsync.errors import FileError


class Unfenced:
    """A program in a process group of its own, and the socket that its hooks know."""

    def __init__(self, program: Sequence[str], cwd: str) -> None:
        self.exit_code: int | None = None  # of the program; None while it runs
        self.sockets = [socket.create_server(("127.0.0.1", 0))]
        self._program, self._cwd = list(program), cwd
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def port(self) -> int:
        """The port that the stand-ins answer on."""
        return int(self.sockets[0].getsockname()[1])

    def start(self, output: int, environment: Mapping[str, str]) -> None:
        """Run the program; raises `FileError` if it cannot be started."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._program,
                cwd=self._cwd,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise FileError(f"cannot run {self._program[0]}: {error.strerror}") from error

    async def watch(self) -> None:
        """Wait until the program has ended."""
        assert self._process is not None  # noqa: S101 - it was started
        self.exit_code = await asyncio.to_thread(self._process.wait)

    def stop(self) -> None:
        """Ask the program and its process group to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the program and its process group."""
        self._signal(signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)

    def close(self) -> None:
        """Close the socket."""
        self.sockets[0].close()
        self.kill()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.send_signal(number)
            else:
                os.killpg(self._process.pid, number)
