"""The program of a recording, run inside a fence or without one, as commandsync sees it.

`Fence.build` starts `enclosure.py`, which makes the namespaces and sends the listening sockets out;
`start` lets the program run, `stop` and `kill` end it with all that it started, and `exit_code` is
that of the program. Where a machine does not allow one of the steps, nothing is run: `FenceError`
names the step, the reason, and the ways on.

`Unfenced` has the same interface for a program without a fence. Its hooks redirect what they can
reach: `hooks/sitecustomize.py` (Python) and `hooks/preload.cjs` (Node) send connections to the
platforms to the stand-ins and refuse the others. Other languages, libraries with native sockets,
and what the program writes are not held: the caller says so before the run.

Fences are for Linux only. The rules of the kernel: namespaces(7), user_namespaces(7), unix(7) for
SCM_RIGHTS.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from commandsync.errors import FileError, RefusedError

UNFENCED = "--unfenced"
_APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_ALLOW_NAMESPACES = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
_LONGEST_SET_UP = 20  # seconds
_MOST_SOCKETS = 64
_NAME_SERVICE = {
    "/etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "/etc/resolv.conf": "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
"""The files by which programs find hosts, as they are inside."""


class FenceError(RefusedError):
    """The machine does not allow the fence, so the program was not run."""


class Place(NamedTuple):
    """An address inside the fence that commandsync answers on."""

    kind: str  # tcp or udp
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Enclosed:
    """The program to run, and how the machine looks to it."""

    program: Sequence[str]
    environment: Mapping[str, str]
    folder: str  # the project's folder, whose files stay as they are
    cwd: str  # where the program runs: the folder, or one below it
    places: Sequence[Place]
    addresses: Sequence[str] = ()  # those of allowed services, given to loopback
    files: Mapping[str, str] = field(default_factory=dict)  # the file that is seen at a path


class Fence:
    """A set-up fence with the sockets inside it; the program runs once it is started."""

    def __init__(
        self, process: subprocess.Popen[bytes], control: socket.socket, inside: list[socket.socket]
    ) -> None:
        self.sockets = inside  # in the order of the places
        self.exit_code: int | None = None  # of the program; None while it runs
        self._process, self._control = process, control

    @classmethod
    def build(cls, enclosed: Enclosed, run_folder: Path) -> Fence:
        """Build the fence; `run_folder` is a folder of this run, which the caller removes.

        Raises `FenceError` if the machine does not allow it. Nothing of the program has run then.
        """
        if sys.platform != "linux":
            message = f"recording needs the namespaces of Linux, and this is {sys.platform}"
            raise FenceError(message, hint=_hint())
        place = run_folder / "place"
        place.mkdir()
        files = {**enclosed.files, **_name_files(run_folder)}
        order = {**asdict(enclosed), "place": str(place), "files": files}
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = _script(theirs)
        control.settimeout(_LONGEST_SET_UP)
        message, numbers = b"", list[int]()
        assert process.stdin is not None  # noqa: S101 - a pipe
        with suppress(OSError):
            process.stdin.write(json.dumps(order).encode())
            process.stdin.close()
            message, numbers, *_ = socket.recv_fds(control, 4096, _MOST_SOCKETS)
        if message == b"ready":
            return cls(process, control, [socket.socket(fileno=number) for number in numbers])
        process.kill()
        process.wait()
        control.close()
        failure = {"step": "the set-up of the fence", "reason": "it did not answer"}
        failure = json.loads(message) if message else failure
        raise FenceError(
            "the program was not run: this machine does not allow "
            f"{failure['step']} ({failure['reason']})",
            hint=_hint(),
        )

    def start(self, output: int) -> None:
        """Let the program run; what it prints goes to the file descriptor `output`."""
        socket.send_fds(self._control, [b"go"], [output])
        self._control.setblocking(False)  # noqa: FBT003 - the only way to say it

    async def watch(self) -> None:
        """Wait until neither the program nor anything that it started is left."""
        loop = asyncio.get_running_loop()
        while message := await loop.sock_recv(self._control, 64):
            word, _, code = message.decode().partition(" ")
            if word == "ended":
                self.exit_code = int(code)
            elif word == "empty":
                break
        self._process.wait()

    def stop(self) -> None:
        """Ask the program and all that it started to end."""
        self._say(b"stop")

    def kill(self) -> None:
        """End the program and all that it started."""
        self._say(b"kill")

    def close(self) -> None:
        """Close the sockets; if anything still runs inside, it is killed."""
        for inside in self.sockets:
            inside.close()
        self._control.close()
        self._process.wait()

    def _say(self, word: bytes) -> None:
        try:
            self._control.send(word)
        except OSError:  # it has ended by itself
            return


def _script(control: socket.socket) -> subprocess.Popen[bytes]:
    """Start `enclosure.py` with its end of the socket pair as the file descriptor that it knows."""
    script = Path(__file__).with_name("enclosure.py")
    number = control.fileno()
    return subprocess.Popen(  # noqa: S603 - the script of this package
        [sys.executable, "-I", str(script), str(number)],
        stdin=subprocess.PIPE,
        pass_fds=[number],
        start_new_session=True,
    )


def _name_files(folder: Path) -> dict[str, str]:
    """Write the files that the program sees in place of the machine's own; return their places."""
    seen = {}
    for path, text in _NAME_SERVICE.items():
        written = folder / Path(path).name
        written.write_text(text, encoding="ascii")
        seen[path] = str(written)
    return seen


def _hint() -> str:
    ways = f"{UNFENCED} runs the program without the fence, see docs/record.md"
    if _APPARMOR.exists() and _APPARMOR.read_text(encoding="ascii").strip() == "1":
        return f"allow namespaces with  {_ALLOW_NAMESPACES}  or {ways}"
    return ways


class Unfenced:
    """A program in a process group of its own, and the socket that its hooks know."""

    def __init__(
        self,
        program: Sequence[str],
        cwd: str,
        environment: Mapping[str, str],
        listening: socket.socket,
    ) -> None:
        self.exit_code: int | None = None  # of the program; None while it runs
        self.sockets = [listening]
        self._program, self._cwd, self._environment = list(program), cwd, dict(environment)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, output: int) -> None:
        """Run the program; raises `FileError` if it cannot be started."""
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the user's own program
                self._program,
                cwd=self._cwd,
                env=self._environment,
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
