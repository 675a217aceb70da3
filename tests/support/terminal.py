"""A pseudo terminal with the program behind it; POSIX only."""

import os
import select
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Self

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
