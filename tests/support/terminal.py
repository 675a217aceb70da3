"""A pseudo terminal with the program behind it, or of this process; POSIX only.

The screen of this process is read while a run goes on.
"""

import os
import select
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any, Self

import pyte
import pytest

from commandsync.cli.program import run as program
from tests.support.home import LONGEST, PROGRAM, Home


@dataclass
class Terminal:
    """The program on a terminal; standard output may be a pipe of its own."""

    child: subprocess.Popen[bytes]
    master: int
    shown: str = ""
    _rest: bytes = field(default=b"", repr=False)

    @classmethod
    def running(cls, home: Home, *arguments: str, piped: bool = False) -> Self:
        """Start the program on a new terminal; `piped` leaves it only stdin and stderr."""
        import pty  # noqa: PLC0415 - not on Windows
        import subprocess  # noqa: PLC0415 - as above

        master, slave = pty.openpty()
        child = subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=home.path,
            env=home.environment(**{"TERM": "xterm-256color", **home.variables, "COLUMNS": "100"}),
            stdin=slave,
            stdout=subprocess.PIPE if piped else slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        return cls(child, master)

    def until(self, text: str) -> str:
        """Return what is shown next, up to and with a text."""
        while text not in self.shown:
            if not self._more():
                raise AssertionError(f"{text!r} was never shown: {self.shown}")
        before, _, self.shown = self.shown.partition(text)
        return before + text

    def type(self, keys: str, *, echo: bool = True) -> None:
        """Type keys; without `echo`, the terminal does not show these and later ones."""
        if not echo:
            import termios  # noqa: PLC0415 - not on Windows

            attributes = termios.tcgetattr(self.master)
            attributes[3] &= ~termios.ECHO
            termios.tcsetattr(self.master, termios.TCSANOW, attributes)
        os.write(self.master, keys.encode())

    def ended(self) -> tuple[int, str, str]:
        """Return the exit code, the rest of what is shown, and what went to the pipe."""
        while self._more():
            pass
        out = self.child.stdout.read().decode() if self.child.stdout else ""
        return self.child.wait(LONGEST), self.shown, out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        if self.child.stdout:
            self.child.stdout.close()
        os.close(self.master)

    def _more(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], LONGEST)
        if not ready:
            raise AssertionError(f"nothing more was shown: {self.shown}")
        try:
            read = os.read(self.master, 65536)
        except OSError:  # Linux says so when the last program has left the terminal
            return False
        self.shown += (self._rest + read).decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(read)


POSIX = sys.platform != "win32"


ROWS = 60


@dataclass
class Monitor:
    """A terminal of so many columns and rows."""

    columns: int
    monkeypatch: pytest.MonkeyPatch
    rows: int = ROWS
    _changed: Condition = field(default_factory=Condition, repr=False)
    _received: bytearray = field(default_factory=bytearray, repr=False)

    def __post_init__(self) -> None:
        """Open it."""
        import fcntl  # noqa: PLC0415 - not on Windows
        import pty  # noqa: PLC0415 - as above
        import termios  # noqa: PLC0415 - as above

        self._master, self._slave = pty.openpty()
        fcntl.ioctl(
            self._slave, termios.TIOCSWINSZ, struct.pack("4H", self.rows, self.columns, 0, 0)
        )
        self._screen = pyte.Screen(self.columns, self.rows)
        self._stream = pyte.ByteStream(self._screen)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """What it shows now, without the space behind lines."""
        with self._changed:
            return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n") + "\n"

    def cells(self, row: int) -> Any:  # noqa: ANN401 - pyte's
        """Return the characters of a row by their columns, with their colours."""
        with self._changed:
            return self._screen.buffer[row]

    def until(self, part: str) -> str:
        """Return what it shows as soon as that contains a text."""
        with self._changed:
            assert self._changed.wait_for(lambda: part in self.text, LONGEST), self.text
            return self.text

    def type(self, keys: str, *, echo: str = "") -> None:
        """Press keys, and return when the terminal has shown their `echo`.

        What has not asked for them yet gets them when it asks. A display may have erased the echo
        since, so that it is looked for in what came, and not on the screen.
        """
        with self._changed:
            before = len(self._received)
            os.write(self._master, keys.encode())
            assert self._changed.wait_for(
                lambda: echo.encode() in self._received[before:], LONGEST
            ), self.text

    def run(self, *arguments: str) -> int:
        """Run the program in this process to its end."""
        with self.attached():
            return int(program(arguments))

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Let the three standard streams be this terminal, which is read to its end and closed."""
        self.monkeypatch.setenv("COLUMNS", str(self.columns))
        self.monkeypatch.setenv("TERM", "xterm-256color")
        with (
            open(self._slave, "w", encoding="utf-8", buffering=1, closefd=False) as shown,
            open(self._slave, encoding="utf-8", closefd=False) as typed,
            redirect_stdout(shown),
            redirect_stderr(shown),
        ):
            self.monkeypatch.setattr(sys, "stdin", typed)
            yield
        self._close()

    def _close(self) -> None:
        """Close it when everything has been read."""
        os.close(self._slave)
        self._reader.join(LONGEST)
        os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # Linux says so when nothing has the terminal open
                return
            if not data:
                return
            with self._changed:
                self._received += data
                self._stream.feed(data)
                self._changed.notify_all()
