"""Files on disks that are full or read-only, and a program that is killed while it writes one."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import pytest

from commandsync.server.administration import add_bot
from commandsync.server.database import opened
from tests.support.bots import Bot, Instead, Proxy, Service
from tests.support.callers import COMMAND, Caller
from tests.support.home import PROGRAM, Home, lines
from tests.support.terminal import POSIX

NAMES = [f"command {number}" for number in range(150)]
WRITERS = pytest.mark.parametrize(
    ("command", "name"),
    [("plan --force --out", "plan.json"), ("pull --force --out", "pulled.yaml")],
)


def _mounts() -> bool:
    unshare = shutil.which("unshare")
    if sys.platform != "linux" or unshare is None:
        return False
    tried = [unshare, "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


on_a_disk_of_its_own = pytest.mark.skipif(not _mounts(), reason="needs to mount a small disk")


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    home.write("version: 1\ncommands:\n- {name: new, description: Is new., syntax: /new}\n")
    return home.knows(service.bot(NAMES))


@on_a_disk_of_its_own
def test_a_service_on_a_full_disk_says_so_and_goes_on_when_there_is_space(home: Home) -> None:
    (home.path / "disk").mkdir()
    with opened(str(home.path / "listing.db")) as database:
        token = add_bot(database, "1", username="Lantern").token
    script = 'mount -t tmpfs -o size=4m tmpfs disk && cp listing.db disk && exec "$@"'
    mounted = ("unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *PROGRAM)
    options = ("--port", "0", "--database", "disk/listing.db")
    child = home.started("serve", *options, program=mounted)
    owner = Caller(lines(child, 1)[0].split()[-1], "1", token)
    disk = Path(f"/proc/{child.pid}/root{home.path}/disk")
    before = owner.added()
    with (disk / "large").open("wb", buffering=0) as large, suppress(OSError):
        while True:
            large.write(bytes(4_096))
    full = [owner.ask("POST", "/commands", COMMAND), owner.raw("GET", "/readyz")[:2]]
    during = owner.listed()
    (disk / "large").unlink()

    assert (full[0][0], "disk" in full[0][1]["error"]) == (503, True)
    assert (full[1][0], json.loads(full[1][1])) == full[0]
    assert during == [before]
    assert (owner.raw("GET", "/readyz").status, owner.added()["name"]) == (200, before["name"])


KILLED = """
import os, signal, sys
moment = sys.argv[1]
def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, moment, killed)
from commandsync.cli.program import run
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.promise("atomic-files")
@WRITERS
@pytest.mark.parametrize("moment", ["fsync", "chmod", "replace"])
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")
@pytest.mark.usefixtures("bot")
def test_a_kill_half_way_keeps_the_file(home: Home, command: str, name: str, moment: str) -> None:
    home.write("precious", name)

    ran = home.child_of([sys.executable, "-c", KILLED, moment], *command.split(), name)

    assert ran.code == -signal.SIGKILL
    assert home.read(name) == "precious"
    assert home.run(*command.split(), name).code == 0
    assert home.read(name) != "precious"
    assert home.run("validate", "-f", ".").code == 0


LIMITED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
sys.dont_write_bytecode = True
leave = os._exit
def ended(code):
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))  # whoever measures may write
    leave(code)
os._exit = ended
from commandsync.cli.program import main
main([])
"""


@pytest.mark.promise("nothing-changed")
@pytest.mark.skipif(not POSIX, reason="Windows has no limit for files")
def test_a_run_that_wrote_a_file_does_not_say_that_nothing_was_changed(
    service: Service, home: Home
) -> None:
    home.write("version: 1\ncommands: []\n")
    home.knows(service.bot(["ping"]))

    ran = home.child_of([sys.executable, "-c", LIMITED, "pull", "--out", "pulled.yaml"])

    assert (home.path / "pulled.yaml").exists()  # and the schema is larger
    assert "error: cannot write schemas/commands.schema.json: file too large" in ran.err
    assert ran.code == 1
    assert "nothing was changed" not in ran.said.lower()


INTERRUPTED = """
import os, signal, sys
replace = os.replace
def replaced(*names):
    replace(*names)
    os.kill(os.getpid(), signal.SIGINT)
os.replace = replaced
from commandsync.cli.program import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.promise("nothing-changed")
@WRITERS
@pytest.mark.skipif(not POSIX, reason="Windows has no such signals")
@pytest.mark.usefixtures("bot")
def test_an_interruption_after_a_file_was_written_does_not_say_that_nothing_was_changed(
    home: Home, command: str, name: str
) -> None:
    home.write("old", name)

    ran = home.child_of([sys.executable, "-c", INTERRUPTED], *command.split(), name)

    assert ran.code == 130
    assert home.read(name) != "old"
    assert "error: interrupted; no listing was changed" in ran.err


@pytest.mark.promise("nothing-changed")
def test_an_apply_that_wrote_only_its_backup_speaks_of_the_listing(
    service: Service, home: Home, proxy: Proxy
) -> None:
    home.write("version: 1\ncommands:\n- {name: new, description: Is new., syntax: /new}\n")
    home.knows(service.bot([]), url=proxy.url)
    proxy.rule = lambda seen: Instead(400, {"error": "no"}) if seen.writes else None

    ran = home.run("apply", "--yes", "--backup", "before.yaml", exits=1)

    assert (home.path / "before.yaml").exists()
    assert ran.out.endswith("Apply: 1 failed. The listing was not changed.\n")
    assert "nothing was changed" not in ran.said.lower()


PRINTERS = (
    *("pull", "plan", "plan --format json", "docs --format html", "schema", "pull --format json"),
    *("apply --dry-run --max-deletes all", "import --help"),
)
UNBUFFERED = ("", "1")


@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [*zip(PRINTERS, cycle(UNBUFFERED), strict=False), ("pull", "1"), ("plan", "")],
)
@pytest.mark.usefixtures("bot")
@pytest.mark.skipif(not POSIX, reason="Windows has no limit for files")
def test_an_output_that_is_cut_is_an_error(home: Home, command: str, unbuffered: str) -> None:
    whole = home.run(*command.split(), exits=0)
    with (home.path / "out").open("wb") as out:
        program = [sys.executable, "-c", LIMITED, *command.split()]
        ran = home.child_into(program, {"PYTHONUNBUFFERED": unbuffered}, stdout=out)

    assert len(whole.out) > 1000
    assert (ran.code, "file too large" in ran.err) == (1, True), ran.err
    assert "Traceback" not in ran.err


TALKERS = {
    "plan -vv": 0,
    "apply --yes": 5,
    "validate -f missing": 4,
    "plan --wrong": 2,
    "apply --yes --max-deletes all --backup before.yaml": 0,
}


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("full", "unbuffered", "command"),
    [
        (full, UNBUFFERED[number % 2], command)
        for first, full in enumerate(("/dev/full", "closed"))
        for number, command in enumerate(TALKERS, first)
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_an_error_on_standard_error_changes_nothing(
    home: Home, command: str, unbuffered: str, full: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stderr = writing if full == "closed" else os.open(full, os.O_WRONLY)
    program = [*PROGRAM, *command.split()]
    ran = home.child_into(program, {"PYTHONUNBUFFERED": unbuffered}, stderr=stderr)
    os.close(stderr)

    assert ran.code == TALKERS[command]
    assert "Traceback" not in ran.out
