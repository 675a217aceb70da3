"""The program inside the fence: it builds the fence around itself, then runs the bot's program.

`fence.py` starts this file as a script with `python -I`, one thread, and one end of a socket pair,
whose file descriptor is its argument. It imports nothing of the package: the set-up needs the
standard library only, so that a fault of an installed package cannot reach into it.

1. The order arrives as JSON on standard input: folder, sockets, files, program and environment.
2. New namespaces for mounts and the network (and for users, unless root asks) separate it from the
   machine. Loopback comes up; sockets of services, `/run` and the name service's files are covered;
   an overlay takes each write into the project's folder.
3. The listening sockets are opened inside, and sent outside, where commandsync answers on them.
4. After `go`, a child without capabilities becomes the program. This process stays its reaper:
   detached children come back to it, so that `stop` and `kill` reach every one of them. If
   commandsync dies, the socket closes, and everything is killed.

Each step that fails ends the script before the program starts, with the step and the reason.
"""

import array
import contextlib
import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

_NEWUSER, _NEWNS, _NEWNET = 0x10000000, 0x00020000, 0x40000000  # linux/sched.h
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18  # linux/mount.h
_SUBREAPER, _CAPBSET_DROP, _NO_NEW_PRIVS, _SECUREBITS = 36, 24, 38, 28  # linux/prctl.h
_NO_ROOT_LOCKED = 0b1111  # root gains no capability by executing a program, and cannot change that
_CAPABILITY_3 = 0x20080522  # linux/capability.h
_GET_FLAGS, _SET_FLAGS, _SET_ADDRESS, _SET_MASK = 0x8913, 0x8914, 0x8916, 0x891C  # sockios.h
_UP = 1  # linux/if.h
_LISTENING = 0x10000  # the flag of a socket in /proc/net/unix that others can connect to
_POLL = 50  # milliseconds between two looks at the children

_libc = ctypes.CDLL(None, use_errno=True)


class StepError(Exception):
    """A step of the set-up that this machine does not allow."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step, self.reason = step, reason


@contextlib.contextmanager
def _step(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StepError(name, os.strerror(error.errno or 0)) from error


def _checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), "")


def _prctl(option: int, value: int) -> int:
    rest = [ctypes.c_ulong(number) for number in (value, 0, 0, 0)]
    return int(_libc.prctl(option, *rest))


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    arguments = (text.encode() or None for text in (source, target, kind))
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None))


def separate() -> bool:
    """Enter new namespaces; return whether one for users is among them."""
    user, group = os.getuid(), os.getgid()
    with_users = user != 0
    kinds = _NEWNS | _NEWNET | (_NEWUSER if with_users else 0)
    with _step("namespaces for users, mounts and the network"):
        _checked(_libc.unshare(kinds))
    if with_users:
        with _step("the user's own id in a namespace"):
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
            Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    with _step("mounts that the machine does not see"):
        _mount("none", "/", flags=_REC | _PRIVATE)
    return with_users


def bring_up_loopback(addresses: Sequence[str]) -> None:
    """Start the loopback interface, and give it the addresses of allowed services."""
    with _step("a loopback interface"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        answer = fcntl.ioctl(asked, _GET_FLAGS, struct.pack("16sh22x", b"lo", 0))
        (flags,) = struct.unpack("16xh22x", answer)
        fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))
        for number, address in enumerate(addresses):
            for code, value in ((_SET_ADDRESS, address), (_SET_MASK, "255.255.255.255")):
                name = f"lo:{number}".encode()
                packed = (name, socket.AF_INET, 0, socket.inet_aton(value))
                fcntl.ioctl(asked, code, struct.pack("16sHH4s16x", *packed))


def listening_sockets(table: str) -> list[str]:
    """Return the paths in /proc/net/unix that a program could connect or send to."""
    paths = []
    for line in table.splitlines()[1:]:
        fields = line.split(maxsplit=7)
        if len(fields) > 7 and not fields[7].startswith("@"):  # noqa: PLR2004 - its last column
            listens = int(fields[3], 16) & _LISTENING
            if listens or fields[4] != "0001":  # a datagram socket takes what is sent to it
                paths.append(fields[7])
    return sorted(set(paths))


def cover(sockets: Sequence[str], files: Mapping[str, str], folder: str) -> None:
    """Hide the machine's services, and put files of the run over the machine's own.

    `files` maps a path such as `/etc/hosts` to the file that is seen there. A path may be a link
    into `/run`, which is empty by then: its target is made first.
    """
    with _step("covers over /run and the services' sockets"):
        for path in dict.fromkeys(map(os.path.realpath, ("/run", "/var/run"))):
            if Path(path).is_dir() and not folder.startswith(f"{path}/"):
                _mount("none", path, "tmpfs")
        for path in sockets:
            if os.path.exists(path):  # noqa: PTH110 - False where this user may not look
                _mount("/dev/null", path, flags=_BIND)
    with _step("files of the name service"):
        for path, seen in files.items():
            target = Path(os.path.realpath(path))
            if not target.exists():
                if not target.is_relative_to("/run"):
                    continue  # this machine does not have it
                target.parent.mkdir(parents=True, exist_ok=True)
                target.touch()
            _mount(seen, str(target), flags=_BIND)


def overlay(folder: str, place: str, *, with_users: bool) -> None:
    """Cover a folder, and each mount below it, so that writes go to memory and are thrown away.

    `place` is an empty folder of the run.
    """
    below = [folder, *(path for path in _mounts() if path.startswith(f"{folder}/"))]
    with _step(f"an overlay over {folder}"):
        _mount("none", place, "tmpfs")
        for number, path in enumerate(below):
            parts = [f"{place}/{number}{part}" for part in ("lower", "upper", "work")]
            for part in parts:
                Path(part).mkdir()
            _mount(path, parts[0], flags=_BIND)
            lower, upper, work = parts
            options = f"lowerdir={lower},upperdir={upper},workdir={work}"
            options += ",userxattr" if with_users else ""
            if Path(path).is_dir():
                _mount("overlay", path, "overlay", options=options)


def _mounts() -> list[str]:
    """Return the mount points that are visible, without those of the kernel."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    kept = []
    for line in lines:
        fields, _, kind = line.partition(" - ")
        if kind.split()[0] not in {"proc", "sysfs", "devpts", "cgroup2", "mqueue"}:
            kept.append(fields.split()[4].encode().decode("unicode_escape"))
    return kept


def open_sockets(places: Sequence[tuple[str, str, int]]) -> list[socket.socket]:
    """Open the listening sockets inside the fence: `tcp` or `udp`, address and port."""
    opened = []
    for kind, address, port in places:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        kinds = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM}
        with _step(f"port {port} of {address}"):
            made = socket.socket(family, kinds[kind])
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((address, port))
            if kind == "tcp":
                made.listen(128)
        opened.append(made)
    return opened


def drop_capabilities() -> None:
    """Give up every capability for good, so that the program cannot undo the fence."""
    with contextlib.suppress(OSError):
        last = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
        for capability in range(last + 1):
            _prctl(_CAPBSET_DROP, capability)
    _prctl(_SECUREBITS, _NO_ROOT_LOCKED)
    _checked(_prctl(_NO_NEW_PRIVS, 1))
    header = struct.pack("Ii", _CAPABILITY_3, 0)
    _checked(_libc.capset(header, bytes(24)))


def run_child(order: Mapping[str, Any], output: int) -> NoReturn:
    """Become the program: no input, one output, a process group of its own."""
    try:
        os.setsid()
        os.chdir(order["cwd"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        os.closerange(3, 4096)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        drop_capabilities()
        os.execvpe(order["program"][0], order["program"], order["environment"])  # noqa: S606 - asked for
    except OSError as error:
        os.write(2, f"{order['program'][0]}: {error.strerror}\n".encode())
    os._exit(127)


def descendants(of: int) -> list[int]:
    """Return the processes below one, in any depth."""
    found = []
    for task in Path(f"/proc/{of}/task").iterdir():
        with contextlib.suppress(OSError):
            children = (task / "children").read_text(encoding="ascii")
            for child in map(int, children.split()):
                found += [child, *descendants(child)]
    return found


def supervise(control: socket.socket, program: int) -> None:
    """Report how the program ends, and end everything that it started when that is asked for.

    Messages out: `ended CODE` of the program, then `empty` as soon as no process is left. Messages
    in: `stop` (SIGTERM), `kill` (SIGKILL until nothing is left); a closed socket means `kill`.
    """
    killing = False
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while _reap(control, program):
        if poll.poll(_POLL):
            killing = control.recv(64) != b"stop"
            if killing:
                poll.unregister(control)
            else:
                _signal_all(signal.SIGTERM)
        if killing:
            _signal_all(signal.SIGKILL)
    _report(control, "empty")


def _reap(control: socket.socket, program: int) -> bool:
    """Collect the processes that have ended, and return whether one is left."""
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                _report(control, f"ended {os.waitstatus_to_exitcode(ended[1])}")
    except ChildProcessError:
        return False
    return True


def _signal_all(number: int) -> None:
    for process in descendants(os.getpid()):
        with contextlib.suppress(OSError):
            os.kill(process, number)


def _report(control: socket.socket, message: str) -> None:
    with contextlib.suppress(OSError):
        control.send(message.encode())


def build(order: Mapping[str, Any]) -> list[socket.socket]:
    """Build the fence that the order describes, and open its sockets; raises `StepError`."""
    with _step("the table of sockets"):
        table = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    with_users = separate()
    bring_up_loopback(order["addresses"])
    sockets = open_sockets([tuple(place) for place in order["places"]])
    overlay(order["folder"], order["place"], with_users=with_users)
    cover(listening_sockets(table), order["files"], order["folder"])
    return sockets


def main() -> int:
    """Build the fence, hand the sockets out, and supervise the program; return the exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    control = socket.socket(fileno=int(sys.argv[1]))
    order = json.load(sys.stdin)
    _prctl(_SUBREAPER, 1)
    try:
        sockets = build(order)
    except StepError as error:
        _report(control, json.dumps({"step": error.step, "reason": error.reason}))
        return 1
    numbers = array.array("i", [each.fileno() for each in sockets])
    control.sendmsg([b"ready"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    said, rights, *_ = control.recvmsg(16, socket.CMSG_SPACE(4))
    if said != b"go":
        return 0
    (output,) = array.array("i", rights[0][2])
    for each in sockets:
        each.close()
    program = os.fork()
    if not program:
        run_child(order, output)
    os.close(output)
    supervise(control, program)
    return 0


if __name__ == "__main__":
    sys.exit(main())
