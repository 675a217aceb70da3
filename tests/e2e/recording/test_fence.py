"""Hostile programs inside the fence: each attack runs as root, and as an ordinary user.

A run of root starts the program as the owner of the folder, so that a folder of another user is
recorded as that user.
"""

# ruff: noqa: E501 - lines of hostile programs
from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from commandsync.errors import UsageError
from commandsync.recording import Order, record
from commandsync.recording.outcome import Recording, RunEnd
from tests.support.fence import CALL, HELP, fenced
from tests.support.home import LONGEST

NOBODY = 65534
PYTHON = "/usr/bin/python3"
IS_ROOT = os.name == "posix" and os.getuid() == 0
OWNERS = ["root", "a user"] if IS_ROOT else ["this user"]
TRY = """
def attempt(name, action):
    try:
        result = action()
    except (OSError, ValueError) as error:
        print(name, "held", getattr(error, "errno", ""))
    else:
        print(name, "LEFT", result)
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A repository that a hostile program is part of; it runs in a folder below."""

    folder: Path
    python: str

    @property
    def hook(self) -> Path:
        """The file that a hostile program would like to write."""
        return self.folder / ".git" / "hooks" / "pre-commit"

    def own(self) -> None:
        """Give all files to the owner of the folder."""
        if IS_ROOT:
            found = self.folder.stat()
            for path in self.folder.rglob("*"):
                os.chown(path, found.st_uid, found.st_gid, follow_symlinks=False)

    def run(self, source: str, **more: object) -> Recording:
        """Record a program of Python with `call`, `put` and `attempt`."""
        bot = self.folder / "bot"
        text = CALL + TRY + textwrap.dedent(source)
        (bot / "bot.py").write_text(text, encoding="utf-8")
        self.own()
        order = Order(program=[self.python, "-B", "bot.py"], cwd=bot, **more)  # type: ignore[arg-type]
        return asyncio.run(record(order))


@pytest.fixture(params=OWNERS)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A repository of root, and one of another user if there is a Python for all users."""
    is_other = request.param == "a user"
    if is_other and not Path(PYTHON).exists():
        pytest.skip(f"{PYTHON} is not installed")
    folder = Path(tempfile.mkdtemp(prefix="target-"))
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "bot").mkdir()
    folder.chmod(0o755)
    if is_other:
        os.chown(folder, NOBODY, NOBODY)
    made = Target(folder, PYTHON if is_other else sys.executable)
    made.hook.write_text("old", encoding="utf-8")
    yield made
    shutil.rmtree(folder)


def held(recording: Recording) -> bool:
    """Whether each attempt of a program failed, and it made at least one."""
    said = [line for line in recording.tail if " held" in line or "LEFT" in line]
    return bool(said) and not any("LEFT" in line for line in recording.tail)


@fenced
@pytest.mark.promise("folder-kept")
def test_no_path_leads_to_the_real_git_hook(target: Target) -> None:
    recording = target.run(
        """
        import glob
        name = os.path.basename(os.path.dirname(os.getcwd()))
        hook = "../.git/hooks/pre-commit"
        paths = [hook, "../.git/hooks/new"]
        points = [line.split()[4] for line in open("/proc/self/mountinfo")]
        for root in (*points, *glob.glob("/proc/[0-9]*/root"), *glob.glob("/proc/[0-9]*/cwd"), "/oldroot"):
            paths += [f"{root}/.git/hooks/pre-commit", f"{root}/{name}/.git/hooks/pre-commit"]
            paths += [f"{root}{os.path.dirname(os.getcwd())}/.git/hooks/pre-commit"]
        written = 0
        for path in paths:
            try:
                open(path, "w").write("evil")
                written += 1
            except OSError:
                pass
        print("wrote", written > 0, open(hook).read())
        """
    )

    assert recording.tail[-1] == "wrote True evil"
    assert target.hook.read_text(encoding="utf-8") == "old"
    assert [path.name for path in target.hook.parent.iterdir()] == ["pre-commit"]


@fenced
@pytest.mark.promise("fence-holds")
def test_no_socket_of_the_machine_is_reached(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [target.folder, target.folder / "bot"]
    folders += [Path("/run")] if os.access("/run", os.W_OK) else []
    paths, servers = list[Path](), list[socket.socket]()

    def listen(path: str, kind: int = socket.SOCK_STREAM) -> None:
        server = socket.socket(socket.AF_UNIX, kind)
        server.bind(path)
        if kind == socket.SOCK_STREAM:
            server.listen()
        server.settimeout(0)
        servers.append(server)

    for folder in folders:
        with monkeypatch.context() as patched:
            patched.chdir(folder)
            listen(f"relative-{os.getpid()}")
        listen(str(folder / f"bound-{os.getpid()}"))
        os.link(folder / f"bound-{os.getpid()}", folder / f"linked-{os.getpid()}")
        listen(str(folder / f"old-{os.getpid()}"))
        (folder / f"old-{os.getpid()}").rename(folder / f"renamed-{os.getpid()}")
        listen(str(folder / f"datagrams-{os.getpid()}"), socket.SOCK_DGRAM)
        names = ("relative", "bound", "linked", "renamed", "late", "foreign", "datagrams")
        paths += [folder / f"{name}-{os.getpid()}" for name in names]
    foreign = (
        "import socket, sys, time; each = [socket.socket(socket.AF_UNIX) for _ in sys.argv[1:]]\n"
    )
    foreign += (
        "for one, path in zip(each, sys.argv[1:]): one.bind(path); one.listen(); print(path)\n"
    )
    foreign += "sys.stdout.flush(); time.sleep(60)"
    others = [str(path) for path in paths if path.name.startswith("foreign")]
    kinds = ["--net"] if IS_ROOT else ["--user", "--map-root-user", "--net"]
    unshare = [shutil.which("unshare") or "", *kinds]
    other = subprocess.Popen(
        [*unshare, sys.executable, "-c", foreign, *others], stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline()
    for path in folders:
        threading.Timer(1.0, listen, [str(path / f"late-{os.getpid()}")]).start()
    try:
        recording = target.run(
            f"""
            import socket
            end = time.monotonic() + 2
            while time.monotonic() < end:
                for path in {[str(path) for path in paths]!r}:
                    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                        try:
                            socket.socket(socket.AF_UNIX, kind).connect(path)
                        except OSError:
                            continue
                        print("LEFT", path)
                time.sleep(0.1)
            for name in ("\\0abstract-{os.getpid()}",):
                attempt("abstract", lambda: socket.socket(socket.AF_UNIX).connect(name))
            """
        )
    finally:
        other.kill()
        other.wait()
        other.stdout.close()
        for server in servers:
            server.close()
        for path in paths:
            path.unlink(missing_ok=True)

    assert held(recording), recording.tail


@fenced
@pytest.mark.promise("fence-holds")
def test_foreign_sockets_and_calls_are_refused(target: Target) -> None:
    recording = target.run(
        """
        import ctypes, mmap, platform, socket
        libc = ctypes.CDLL(None, use_errno=True)
        def call_of(*numbers):
            result = libc.syscall(*map(ctypes.c_long, numbers))
            if result < 0: raise OSError(ctypes.get_errno(), "")
            return result
        for family in (40, 17, 38, 31, 44):
            attempt(f"family {family}", lambda: socket.socket(family, socket.SOCK_STREAM))
        attempt("pair", lambda: call_of({"x86_64": 53, "aarch64": 199}[platform.machine()], 40, 1, 0, 0))
        for number in (425, 426, 427):
            attempt(f"io_uring {number}", lambda: call_of(number, 1, 0, 0, 0, 0, 0))
        for number in {"x86_64": (250, 248, 319, 29), "aarch64": (219, 217, 279, 194)}[platform.machine()]:
            attempt(f"call {number}", lambda: call_of(number, 0, 0, 0, 0, 0))
        def old_call():
            # mov eax, 20 (getpid of 32-bit); int 0x80; ret
            code = mmap.mmap(-1, 4096, prot=7)
            code.write(b"\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3")
            function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
            if (result := function()) < 0: raise OSError(-result, "")
            return result
        if platform.machine() == "x86_64":
            attempt("x32", lambda: call_of(0x40000000 | 39))
            attempt("32-bit", old_call)
        print(socket.socket(socket.AF_INET6).family.name, socket.socket(socket.AF_NETLINK, 3).family.name)
        """
    )

    assert held(recording), recording.tail
    assert recording.tail[-1] == "AF_INET6 AF_NETLINK"


@fenced
@pytest.mark.promise("fence-holds")
def test_the_program_cannot_mount_or_enter_another_namespace(target: Target) -> None:
    recording = target.run(
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def checked(result):
            if result < 0: raise OSError(ctypes.get_errno(), "")
            return result
        here = os.path.dirname(os.getcwd()).encode()
        for point in (here, b"/", b"/usr", b"/proc/sys", b"/tmp"):
            attempt(f"umount {point}", lambda: checked(libc.umount2(point, 2)))
        attempt("mount /", lambda: checked(libc.mount(b"none", b"/", b"tmpfs", 0, None)))
        attempt("remount", lambda: checked(libc.mount(b"none", b"/proc/sys", None, 32 | 4096, None)))
        attempt("bind", lambda: checked(libc.mount(b"/", b"/tmp", None, 4096, None)))
        for kind in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x10020000):
            attempt(f"unshare {kind:x}", lambda: checked(libc.unshare(kind)))
        for kind in ("user", "net"):
            number = os.open(f"/proc/1/ns/{kind}", os.O_RDONLY)
            attempt(f"setns {kind}", lambda: checked(libc.setns(number, 0)))
        attempt("chroot", lambda: os.chroot("/tmp"))
        attempt("device", lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(254, 0)))
        """
    )

    assert held(recording), recording.tail


@fenced
@pytest.mark.promise("fence-holds")
def test_nothing_of_the_kernel_is_opened_for_writing(target: Target) -> None:
    before = Path("/etc/shadow").stat()
    recording = target.run(
        """
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
                     "/proc/sys/vm/drop_caches", "/proc/irq/default_smp_affinity", "/proc/kcore", "/proc/mtrr",
                     "/sys/kernel/uevent_helper", "/sys/power/state", "/dev/kmsg", "/dev/mem", "/dev/vda"):
            attempt(path, lambda: open(path, "r+b"))
        attempt("new", lambda: open("/new", "w"))
        attempt("device", lambda: open("/dev/new", "w"))
        try:
            open("/etc/shadow", "a").write("evil")
        except OSError:
            pass
        """
    )

    assert held(recording), recording.tail
    after = Path("/etc/shadow").stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


@fenced
@pytest.mark.promise("home-hidden")
def test_secrets_of_the_home_folder_are_not_there(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = target.folder.parent / f"home-{os.getpid()}"
    for name in (
        ".ssh/id_ed25519",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".cargo/credentials",
    ):
        (home / name).parent.mkdir(parents=True)
        (home / name).write_text("Its secret", encoding="utf-8")
    tool = home / ".tools" / "v1" / "bin"
    tool.mkdir(parents=True)
    (tool / "tool").write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    (tool / "tool").chmod(0o755)
    (home / ".tools" / "current").symlink_to("v1")
    shared = home / ".cargo" / "bin"
    shared.mkdir()
    path = f"{home}/.tools/current/bin:{shared}:{os.environ['PATH']}"
    monkeypatch.setenv("HOME", str(home))
    environment = {**os.environ, "PATH": path, "AWS_SECRET_ACCESS_KEY": "Its secret"}
    try:
        recording = target.run(
            """
            import glob, pwd, subprocess
            found = [os.environ.get("AWS_SECRET_ACCESS_KEY", "")]
            for home in (os.environ["HOME"], "~", "/root", *glob.glob("/home/*"), "/proc/1/root" + os.environ["HOME"]):
                for name in (".ssh/*", ".aws/*", ".config/gh/*", ".cargo/credentials"):
                    found += [open(path).read() for path in glob.glob(os.path.expanduser(f"{home}/{name}"))]
            put([{"name": f"a{place}", "description": text} for place, text in enumerate(filter(None, found))])
            print(subprocess.run(["tool"], capture_output=True, text=True).stdout)
            """,
            environment=environment,
        )
    finally:
        shutil.rmtree(home)

    assert recording.discord == {"": []}, recording.tail
    assert recording.tail[-2:] == ("ran", "") or recording.tail[-1] == "ran"


def test_a_program_is_not_recorded_where_it_would_see_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    for folder in (tmp_path, tmp_path / "home", Path("/")):
        with pytest.raises(UsageError, match="is not recorded in"):
            asyncio.run(record(Order(program=["true"], cwd=folder, folder=folder)))


PROCESSES = {
    "a chain": """
        depth = 0
        while depth < 1200:
            depth += 1
            if os.fork(): time.sleep(600)
        time.sleep(600)
    """,
    "a storm": """
        while True:
            try:
                if os.fork(): os._exit(0)
                os.setsid()
            except OSError:
                time.sleep(0.01)
    """,
    "sessions": """
        import signal
        for number in range(50):
            if not os.fork():
                os.setsid()
                signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
                if not os.fork():
                    os.closerange(0, 100)
                    time.sleep(600)
                os._exit(0)
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
            for process in (1, os.getppid()):
                os.kill(process, number)
        time.sleep(600)
    """,
}


@fenced
@pytest.mark.parametrize("source", PROCESSES.values(), ids=PROCESSES)
@pytest.mark.promise("nothing-left")
def test_nothing_survives_and_nothing_hangs(target: Target, source: str) -> None:
    start = time.monotonic()
    recording = target.run(source, timeout=4)

    assert recording.ending in {RunEnd.TIMED_OUT, RunEnd.LIMITED, RunEnd.ENDED}
    assert time.monotonic() - start < 30
    assert not processes(str(target.folder))


def processes(word: str) -> list[str]:
    """Return the processes whose command line or folder has a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            line = (path / "cmdline").read_text(encoding="utf-8", errors="replace")
            line += str((path / "cwd").readlink())
        except OSError:
            continue
        found += [line] if word in line and path.name != str(os.getpid()) else []
    return found


@fenced
def test_pipes_and_links_in_place_of_files_are_not_read(target: Target) -> None:
    secret = target.folder.parent / f"secret-{os.getpid()}"
    secret.write_text("DISCORD_NAME=MTIz", encoding="utf-8")
    os.mkfifo(target.folder / "bot" / "package.json")
    os.mkfifo(target.folder / ".env")
    (target.folder / ".env.example").symlink_to(secret)
    try:
        recording = target.run("print(os.environ.get('DISCORD_NAME'))")
    finally:
        secret.unlink()

    assert recording.tail == ("None",)


@fenced
def test_bodies_of_a_run_have_a_limit_together(target: Target) -> None:
    recording = target.run(
        """
        import threading
        def send():
            text = "x" * (14 << 20)
            try: put([{"name": "a", "description": text}])
            except OSError as error: print(error)
        threads = [threading.Thread(target=send) for _ in range(40)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """,
        timeout=60,
    )

    assert recording.discord.get("", []) == []
    assert {refusal.status for refusal in recording.refusals} <= {400, 413}
    assert "Traceback" not in "".join(recording.tail)


@fenced
def test_files_and_folders_of_a_run_have_a_limit(target: Target) -> None:
    recording = target.run(
        """
        def fill():
            with open("/tmp/large", "wb") as file:
                for _ in range(10 << 10): file.write(b"x" * (1 << 20))
        attempt("10 GB", fill)
        os.unlink("/tmp/large")
        for _ in range(3000):
            os.mkdir("d"); os.chdir("d")
        attempt("shm", lambda: open("/dev/shm/a", "wb").write(b"x" * (2 << 30)))
        """,
        timeout=60,
    )

    assert held(recording), recording.tail
    assert sorted(path.name for path in (target.folder / "bot").iterdir()) == ["bot.py"]


@fenced
def test_idle_connections_have_a_limit(target: Target) -> None:
    recording = target.run(
        f"""
        import resource, socket
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        idle = []
        for _ in range(3000):
            try: idle.append(socket.create_connection(("192.0.2.1", 443), 2))
            except OSError: break
        for each in idle: each.close()
        time.sleep(0.5)
        put([{HELP}])
        """
    )

    assert recording.discord == {"": [HELP]}, recording.tail


@fenced
def test_deep_options_and_malformed_payloads_are_errors_of_the_platform(target: Target) -> None:
    recording = target.run(
        """
        import base64, socket, ssl, struct
        option = {"type": 1, "name": "a", "description": "A"}
        for _ in range(300):
            option = {"type": 2, "name": "a", "description": "A", "options": [option]}
        def refused(action):
            try: action()
            except OSError as error: print(getattr(error, "code", error))
        refused(lambda: put([option]))
        for body in (b"[" * 100_000, b"{", b"[1, null]", b'{"a": NaN}', b"\\xff\\xfe", b"[[]]"):
            path = f"https://discord.com/api/v10/applications/{os.environ['CLIENT_ID']}/commands"
            request = urllib.request.Request(path, body, method="PUT", headers={"Content-Type": "application/json"})
            refused(lambda: urllib.request.urlopen(request, timeout=20))
        def frame(data):
            head = struct.pack(">BBH4x", 0x81, 0x80 | 126, len(data))
            return head + data
        for payload in (b"", b"[]", b"{}", b'{"op": []}', b'{"op": 2}', b'{"op": 2, "d": {"shard": "a"}}',
                        b'{"op": 2, "d": {"shard": [null, 1]}}', b'{"op": 8, "d": 1}', b"[" * 50_000, b"\\xff"):
            raw = socket.create_connection(("gateway.discord.gg", 443), 5)
            with ssl.create_default_context().wrap_socket(raw, server_hostname="gateway.discord.gg") as gateway:
                key = base64.b64encode(os.urandom(16)).decode()
                gateway.sendall((f"GET /?v=10 HTTP/1.1\\r\\nHost: gateway.discord.gg\\r\\nUpgrade: websocket\\r\\n"
                    f"Connection: Upgrade\\r\\nSec-WebSocket-Key: {key}\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n").encode())
                gateway.recv(4096)
                gateway.sendall(frame(payload))
                gateway.settimeout(0.3)
                try: gateway.recv(4096)
                except OSError: pass
        print("done")
        """,
        timeout=60,
    )

    assert recording.tail[-1] == "done"
    assert recording.tail[:-1] == ("400",) * 7
    assert recording.discord.get("", []) == []
    assert not recording.is_whole


@fenced
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
@pytest.mark.promise("nothing-left")
def test_the_end_of_commandsync_leaves_no_process_and_no_folder(
    tmp_path: Path, number: signal.Signals
) -> None:
    word = f"77{os.getpid()}"
    script = f"setsid sleep {word} & setsid nohup sleep {word} & exec sleep {word}"
    words = [sys.executable, "-m", "commandsync", "import", "--", "sh", "-c", script]
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as importing:
        deadline = time.monotonic() + LONGEST
        while len(processes(word)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        importing.send_signal(number)
        importing.wait(timeout=LONGEST)
        deadline = time.monotonic() + LONGEST
        while processes(word) and time.monotonic() < deadline:
            time.sleep(0.05)

    assert not processes(word)
    assert [*(tmp_path / "tmp").iterdir()] == []


@fenced
@pytest.mark.skipif(not IS_ROOT, reason="only root mounts folders")
def test_a_mount_below_a_covered_folder_stays_as_it_is(tmp_path: Path) -> None:
    source = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from commandsync.recording import Order, record\n"
        "run = record(Order(program=['sh', '-c', sys.argv[1]], cwd=Path.cwd()))\n"
        "print(asyncio.run(run).tail)\n"
    )
    mount = "mount -t tmpfs none modules && echo old > modules/hook && echo old > own && "
    attack = "cat modules/hook; echo evil > modules/hook; echo evil > own; cat modules/hook own"
    for number in range(2000):  # more than bubblewrap takes, each with an overlay
        (tmp_path / f"folder{number}").mkdir()
    project = tmp_path / "project"
    (project / "modules").mkdir(parents=True)
    words = [shutil.which("unshare") or "", "--mount", "sh", "-c"]
    script = f'{mount} "$@" && cat modules/hook own'
    ran = subprocess.run(
        [*words, script, "sh", sys.executable, "-c", source, attack],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.stdout.splitlines() == ["('old', 'evil', 'evil')", "old", "old"], ran.stderr
