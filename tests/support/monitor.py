"""A pseudo terminal of this process: its screen is read while a run goes on; POSIX only."""

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from threading import Condition, Thread

import pyte
import pytest

from commandsync.cli.program import run as program
from tests.support.home import LONGEST

ROWS = 60


@dataclass
class Monitor:
    """A terminal of so many columns."""

    columns: int
    monkeypatch: pytest.MonkeyPatch
    _changed: Condition = field(default_factory=Condition, repr=False)

    def __post_init__(self) -> None:
        """Open it."""
        import fcntl  # noqa: PLC0415 - not on Windows
        import pty  # noqa: PLC0415 - as above
        import termios  # noqa: PLC0415 - as above

        self._master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("4H", ROWS, self.columns, 0, 0))
        self._screen = pyte.Screen(self.columns, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """What it shows now, without the space behind lines."""
        with self._changed:
            return "\n".join(line.rstrip() for line in self._screen.display).rstrip("\n") + "\n"

    def until(self, part: str) -> str:
        """Return what it shows as soon as that contains a text."""
        with self._changed:
            assert self._changed.wait_for(lambda: part in self.text, LONGEST), self.text
            return self.text

    def type(self, keys: str) -> None:
        """Press keys; what has not asked for them yet gets them when it asks."""
        os.write(self._master, keys.encode())

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
                self._stream.feed(data)
                self._changed.notify_all()
