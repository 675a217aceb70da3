"""The small program that makes the network of a fence, and becomes bubblewrap.

`fence.py` starts this file as a script with `python -I`, one thread, and the numbers of two file
descriptors: a socket to commandsync, and the pipe for bubblewrap's status. It imports nothing of
the package, so that a fault of an installed package cannot reach into it.

1. The specification arrives as JSON on standard input. A process of root becomes the owner of the
   project's folder.
2. It enters new namespaces for users, mounts and the network. Loopback comes up with a second
   address: the name service of glibc looks up no IPv4 address where 127.0.0.1 is the only one.
3. The listening sockets are opened inside, and sent to commandsync, which answers on them.
4. A tmpfs of limited size takes all that the program writes. It covers `/sys`, which every Linux
   has and no program here needs, so that no folder is made on the disk.
5. The view is made: an overlay over each top-level folder; `/run` and the home folders are empty,
   except for the project, the toolchains of the `PATH` and the links that lead to them.
6. After `go`, it becomes bubblewrap, which makes all other namespaces and starts the program.

A step that fails ends the script before the program starts, with the step and the reason.
"""

import array
import base64
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_NEWUSER, _NEWNS, _NEWNET = 0x10000000, 0x00020000, 0x40000000  # linux/sched.h
_REC, _PRIVATE, _DETACH = 16384, 1 << 18, 2  # linux/mount.h
_DEATH_SIGNAL, _DUMPABLE, _NO_NEW_PRIVS = 1, 4, 38  # linux/prctl.h
_GET_FLAGS, _SET_FLAGS, _SET_ADDRESS, _SET_MASK = 0x8913, 0x8914, 0x8916, 0x891C  # sockios.h
_UP = 1  # linux/if.h
_ATTACH_FILTER = 26  # asm-generic/socket.h

TMPFS = "/sys"  # where the tmpfs is, outside of the fence
_EMPTY = ("/run", "/home", "/root")
_SYSTEM = ("/bin", "/etc", "/lib", "/nix", "/opt", "/sbin", "/usr")
_APART = {"dev", "proc", "run", "sys"}
_PROGRAMS = {"bin", "sbin", "shims"}
_SHARED = {".cache", ".cargo", ".config", ".local"}  # of a home folder, with secrets beside bin
_CACHES = (  # of a home folder: further folders of toolchains
    *(".local/lib", ".rustup", ".cargo/registry", ".cache/deno", "go/pkg", ".nuget/packages"),
    ".m2/repository",
)
_MOST_LINKS = 40
_TEMPORARY = ("/tmp", "/var/tmp")
_MOST_COPIED, _LARGEST_COPIED = 500, 1 << 18  # files of a folder, and bytes of one

_libc = ctypes.CDLL(None, use_errno=True)


class StepError(Exception):
    """A step that this machine does not allow."""

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


def _mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    arguments = (text.encode() or None for text in (source, target, kind))
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode() or None))


def become(owner: Sequence[int] | None) -> None:
    """Become the folder's owner, if this is a process of root; die with commandsync."""
    if owner:
        user, group = owner
        with _step("the user of the folder's owner"):
            os.setgroups([])
            os.setresgid(group, group, group)
            os.setresuid(user, user, user)
    _libc.prctl(_DUMPABLE, 1, 0, 0, 0)  # else its own files in /proc belong to root
    _libc.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)  # a change of the user clears it
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)


def separate(limits: Mapping[str, int]) -> None:
    """Enter new namespaces, with this user as the only one, and set the limits of a process."""
    user, group = os.getuid(), os.getgid()
    with _step("namespaces for users, mounts and the network"):
        _checked(_libc.unshare(_NEWUSER | _NEWNS | _NEWNET))
    with _step("the user's own id in a namespace"):
        Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="utf-8")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="utf-8")
    with _step("mounts that the machine does not see"):
        _mount("none", "/", flags=_REC | _PRIVATE)
    for name, value in limits.items():  # only now: they count the processes of this namespace
        number = getattr(resource, name)
        _, hard = resource.getrlimit(number)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (most, most))


def bring_up_loopback(addresses: Sequence[str]) -> None:
    """Start the loopback interface, and give it addresses beside its own."""
    with _step("a loopback interface"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        answer = fcntl.ioctl(asked, _GET_FLAGS, struct.pack("16sh22x", b"lo", 0))
        (flags,) = struct.unpack("16xh22x", answer)
        fcntl.ioctl(asked, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))
        for number, address in enumerate(addresses):
            for code, value in ((_SET_ADDRESS, address), (_SET_MASK, "255.255.255.255")):
                name = f"lo:{number}".encode()
                packed = (name, socket.AF_INET, 0, socket.inet_aton(value))
                fcntl.ioctl(asked, code, struct.pack("16sHH4s16x", *packed))


def open_sockets(wanted: Sequence[tuple[str, str, int]]) -> list[socket.socket]:
    """Open the sockets inside: `tcp` listens and `udp` receives at an address and port.

    `raw` sees packets of TCP on their way; its third part is a filter, as the others' is a port.
    """
    kinds = {"tcp": socket.SOCK_STREAM, "udp": socket.SOCK_DGRAM, "raw": socket.SOCK_RAW}
    opened = []
    for kind, address, port in wanted:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with _step(f"port {port} of {address}" if kind != "raw" else "a look at refused ports"):
            made = socket.socket(family, kinds[kind], socket.IPPROTO_TCP if kind == "raw" else 0)
            if kind == "raw":
                program = ctypes.create_string_buffer(base64.b64decode(str(port)))
                length = (len(program) - 1) // 8
                code = struct.pack("HP", length, ctypes.addressof(program))
                made.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, code)
            else:
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                made.bind((address, port))
            if kind == "tcp":
                made.listen(128)
        opened.append(made)
    return opened


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def links_to(path: str) -> Iterator[tuple[str, str]]:
    """Yield the links on the way to a path, each with its target."""
    done, left, seen = "/", path.split("/"), 0
    while left:
        part = left.pop(0)
        if part in {"", "."}:
            continue
        done = os.path.normpath(os.path.join(done, part))
        if os.path.islink(done) and seen < _MOST_LINKS:
            seen += 1
            target = os.readlink(done)
            yield done, target
            left = [*target.split("/"), *left]
            done = "/" if target.startswith("/") else os.path.dirname(done)


def toolchains(
    paths: Iterable[str], empty: Sequence[str], homes: Sequence[str]
) -> tuple[set[str], dict[str, str]]:
    """Return the folders of toolchains below empty ones, and the links that lead to them.

    `paths` are the folders of the `PATH` and the program's own file. A folder `bin` belongs to its
    toolchain, which is the folder above it. The target of a link in it belongs to another
    toolchain.
    """
    folders, links = set[str](), dict[str, str]()

    def add(path: str, *, is_file: bool) -> None:
        links.update(links_to(path))
        folder = os.path.realpath(path)
        folder = os.path.dirname(folder) if is_file else folder
        above, name = os.path.split(folder)
        is_shared = above in homes or any(
            is_below(above, home) and os.path.relpath(above, home) in _SHARED for home in homes
        )
        folder = above if name in _PROGRAMS and not is_shared else folder
        if folder not in homes and os.path.isdir(folder):
            folders.add(folder)

    for path in paths:
        if not os.path.isabs(path):
            continue
        is_file = os.path.isfile(path)
        add(path, is_file=is_file)
        with contextlib.suppress(OSError):
            names = [] if is_file else os.listdir(path)
            for name in names:
                file = os.path.join(path, name)
                if os.path.islink(file):
                    real = os.path.realpath(file)
                    if any(is_below(real, each) for each in empty):
                        add(file, is_file=True)
    return {each for each in folders if any(is_below(each, one) for one in empty)}, links


def mount_points() -> list[str]:
    """Return the mount points that are visible."""
    text = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    points = []
    for line in text.splitlines():
        point = line.split(" ")[4]
        for escape in ("\\040", "\\011", "\\012", "\\134"):
            point = point.replace(escape, chr(int(escape[1:], 8)))
        points.append(point)
    return list(dict.fromkeys(points))


class View:
    """The files of the fence, as arguments of bubblewrap."""

    def __init__(self, specification: Mapping[str, Any]) -> None:
        self.arguments: list[str] = []
        self._specification = specification
        self._count = 0
        home = specification["environment"].get("HOME", "")
        homes = [os.path.realpath(each) for each in (*specification["homes"], home) if each]
        self._homes = [each for each in homes if not _is_system(each)]
        self._empty = list(dict.fromkeys((*_EMPTY, *self._homes)))
        self._points = mount_points()
        self._needed: list[str] = []

    def build(self) -> None:
        """Make the view; raises `StepError` where a folder that is needed cannot be covered."""
        paths = self._specification["environment"].get("PATH", os.defpath).split(os.pathsep)
        toolchain_folders, links = toolchains(
            [*paths, *self._specification["files_of"]], self._empty, self._homes
        )
        caches = (os.path.join(home, each) for home in self._homes for each in _CACHES)
        wanted = {self._specification["folder"], *toolchain_folders, *filter(_is_folder, caches)}
        self._needed = [
            each for each in wanted if not any(is_below(each, other) for other in wanted - {each})
        ]
        for name in sorted(os.listdir("/")):
            if os.path.islink(f"/{name}"):
                self.arguments += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        self._folders()
        for link, target in links.items():
            if empty := self._empty_of(link):
                place = Path(self._inside(link, empty))
                with contextlib.suppress(OSError):  # a folder is there, which has the link itself
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.symlink_to(target)
        self._proc()
        self._files()

    def _folders(self) -> None:
        """Cover each folder, or leave it empty; the outer ones first."""
        # The project has an overlay of its own even if it is visible: into an outer one, the kernel
        # copies no folder of another user, and so nothing that is in it.
        own = {self._specification["folder"], *filter(_is_folder, ("/var/tmp",))}
        inside = [each for each in self._needed if self._empty_of(each) or each in own]
        tops = [f"/{name}" for name in os.listdir("/") if name not in _APART]
        covered = [path for path in tops if _is_folder(path)]
        both = [*covered, *own, *inside, *filter(_is_folder, self._empty)]
        for path in sorted(dict.fromkeys(both), key=lambda each: (each.count("/"), each)):
            if path in self._empty and path not in {*own, *inside}:
                os.makedirs(self._inside(path, path), exist_ok=True)
                self.arguments += ["--bind", self._inside(path, path), path]
            else:
                if place := self._empty_of(path):
                    os.makedirs(self._inside(path, place), exist_ok=True)
                self._cover(path)

    def _empty_of(self, path: str) -> str:
        """Return the innermost of the empty folders that a path is in, or an empty text."""
        return max((each for each in self._empty if is_below(path, each)), key=len, default="")

    def _cover(self, path: str) -> None:
        """Lay an overlay over a folder. One with mounts below is made of its parts.

        The kernel refuses an overlay over a folder with a mount below, which it would uncover.
        """
        below = [each for each in self._points if is_below(each, path) and each != path]
        self._count += 1
        upper, work = f"{TMPFS}/{self._count}/upper", f"{TMPFS}/{self._count}/work"
        os.makedirs(upper)
        os.makedirs(work)
        os.chmod(upper, os.stat(path).st_mode & 0o7777)
        if below:
            self.arguments += ["--bind", upper, path]
            with contextlib.suppress(PermissionError):
                self._cover_parts(path, upper)
            return
        try:
            # Mount the overlay once, and take it away: bubblewrap would stop at a refused one.
            parts = (("lowerdir", path), ("upperdir", upper), ("workdir", work))
            options = "".join(f"{name}={_escaped(value)}," for name, value in parts)
            _mount("overlay", f"{TMPFS}/tried", "overlay", options=f"{options}userxattr")
            _checked(_libc.umount2(f"{TMPFS}/tried".encode(), _DETACH))
        except OSError as error:
            if any(
                is_below(path, each) or is_below(each, path) for each in (*self._needed, "/usr")
            ):
                reason = os.strerror(error.errno or 0)
                raise StepError(f"an overlay over {path}", reason) from error
            self.arguments += ["--bind", upper, path]  # not readable, or of a foreign kind
        else:
            self.arguments += ["--overlay-src", path, "--overlay", upper, work, path]

    def _is_shown(self, path: str) -> bool:
        """Whether a folder in a folder is covered; it is empty otherwise."""
        if path in self._empty:
            return False
        if any(is_below(path, each) or is_below(each, path) for each in (*self._needed, *_SYSTEM)):
            return True
        # Other programs make and remove thousands of folders there, meanwhile, too.
        is_temporary = any(is_below(path, each) for each in _TEMPORARY)
        return path not in self._points and not is_temporary

    def _cover_parts(self, path: str, upper: str) -> None:
        """Cover the folders in a folder, and copy its files; a mount without need is empty.

        So is a folder in a temporary one, unless the program needs it.
        """
        for number, entry in enumerate(os.scandir(path)):
            inside = Path(upper, entry.name)
            if entry.is_symlink():
                inside.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                inside.mkdir()
                if self._is_shown(entry.path):
                    self._cover(entry.path)
            elif entry.is_file() and number < _MOST_COPIED:
                with contextlib.suppress(OSError):
                    if entry.stat().st_size > _LARGEST_COPIED:
                        self.arguments += ["--ro-bind", entry.path, entry.path]
                    else:
                        inside.write_bytes(Path(entry.path).read_bytes())
                        inside.chmod(entry.stat().st_mode & 0o777)

    def _inside(self, path: str, empty: str) -> str:
        """Return the place on the tmpfs of a path in a folder that is empty inside the fence."""
        number = self._empty.index(empty)
        return os.path.join(f"{TMPFS}/empty/{number}", os.path.relpath(path, empty))

    def _proc(self) -> None:
        """Add the devices and the processes of the fence, without files that root could change."""
        nothing, folder = f"{TMPFS}/nothing", f"{TMPFS}/folder"
        Path(nothing).touch(mode=0o444)
        Path(folder).mkdir(mode=0o555)
        Path(f"{TMPFS}/shm").mkdir(mode=0o777)
        self.arguments += ["--dir", "/sys", "--dev", "/dev", "--bind", f"{TMPFS}/shm", "/dev/shm"]
        self.arguments += ["--remount-ro", "/dev", "--proc", "/proc"]
        self.arguments += ["--ro-bind", "/proc/sys", "/proc/sys"]
        for name in sorted(os.listdir("/proc")):
            path = f"/proc/{name}"
            if name.isdigit() or name == "sys" or os.path.islink(path):
                continue
            mode = os.stat(path).st_mode
            if _is_folder(path) or mode & 0o222 or not mode & 0o004 or name in _MACHINE:
                self.arguments += ["--ro-bind", folder if _is_folder(path) else nothing, path]

    def _files(self) -> None:
        """Put the files of the run over the machine's own, which may be links into `/run`."""
        for number, (path, text) in enumerate(self._specification["files"].items()):
            real = os.path.realpath(path)
            if empty := self._empty_of(real):
                place = Path(self._inside(real, empty))
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
            elif os.path.isfile(real):
                seen = Path(f"{TMPFS}/file-{number}")
                seen.write_text(text, encoding="utf-8")
                self.arguments += ["--ro-bind", str(seen), real]


_MACHINE = {"config.gz", "kallsyms", "keys", "key-users", "modules", "sched_debug", "timer_list"}


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _is_system(path: str) -> bool:
    """Whether a home folder belongs to the system, such as the folder of a service."""
    tops = {"/", "/dev", "/proc", "/sys", "/var", *_SYSTEM}
    return path in tops or any(is_below(path, each) for each in _SYSTEM) or not _is_folder(path)


def _escaped(text: str) -> str:
    for sign in "\\,:":
        text = text.replace(sign, f"\\{sign}")
    return text


def _in_memory(data: bytes) -> int:
    number = os.memfd_create("commandsync", 0)
    os.write(number, data)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def install(program: Mapping[str, bytes]) -> str:
    """Write bubblewrap where the folder's owner can read it; return its path."""
    for name, content in program.items():
        path = Path(TMPFS, "program", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
    return f"{TMPFS}/program/{next(iter(program))}"


def build(specification: Mapping[str, Any]) -> tuple[list[socket.socket], list[str]]:
    """Make the network and the view; return the sockets and the command line of bubblewrap."""
    program = {name: Path(path).read_bytes() for name, path in specification["bubblewrap"].items()}
    become(specification["owner"])
    separate(specification["limits"])
    bring_up_loopback(specification["addresses"])
    sockets = open_sockets(specification["sockets"])
    with _step("a tmpfs of limited size"):
        _mount(
            "none", TMPFS, "tmpfs", options=f"size={specification['size']},nr_inodes=500k,mode=755"
        )
        os.mkdir(f"{TMPFS}/tried")
    view = View(specification)
    with _step("the files that the program sees"):
        view.build()
        path = install(program)
    environment = [
        word
        for name, value in specification["environment"].items()
        for word in ("--setenv", name, value)
    ]
    arguments = [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
        *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--disable-userns"),
        *("--hostname", "localhost", "--clearenv", *environment),
        *view.arguments,
        *("--chdir", specification["cwd"], "--remount-ro", "/"),
        *("--seccomp", str(_in_memory(base64.b64decode(specification["seccomp"])))),
    ]
    given = "".join(f"{word}\0" for word in arguments).encode("utf-8", "surrogateescape")
    return sockets, [path, "--args", str(_in_memory(given)), "--json-status-fd"]


def main() -> int:
    """Make the network and the view, hand the sockets out, and become bubblewrap."""
    control, status = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    specification = json.load(sys.stdin)
    try:
        sockets, command = build(specification)
    except StepError as error:
        control.send(json.dumps({"step": error.step, "reason": error.reason}).encode())
        return 1
    numbers = array.array("i", [each.fileno() for each in sockets])
    control.sendmsg([b"ready"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    message, rights, *_ = control.recvmsg(16, socket.CMSG_SPACE(4))
    if message != b"go":
        return 0
    (output,) = array.array("i", rights[0][2])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    for number in (output, control.fileno()):
        os.set_inheritable(number, False)  # noqa: FBT003 - the only way to say it
    try:
        os.execve(command[0], [*command, str(status), "--", *specification["program"]], {})  # noqa: S606
    except OSError as error:
        os.write(2, f"bwrap: {error.strerror}\n".encode())
    return 1


if __name__ == "__main__":
    sys.exit(main())
