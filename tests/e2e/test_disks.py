"""Files on disks that are full or read-only, and a program that is killed while it writes one."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.home import PROGRAM

if TYPE_CHECKING:
    from tests.support.bots import Bot, Service
    from tests.support.home import Home

NAMES = [f"command {number}" for number in range(150)]
WRITERS = pytest.mark.parametrize(
    ("command", "name"),
    [("plan --force --out", "plan.json"), ("pull --force --out", "pulled.yaml")],
)
BACKUP = ("apply --yes --force --backup", "before.yaml")
LARGE = f"precious {'x' * 9_000}"
"""What is on a disk of 16 KiB already; what is written aside does not fit beside it."""


def _mounts() -> bool:
    unshare = shutil.which("unshare")
    if sys.platform != "linux" or unshare is None:
        return False
    tried = [unshare, "--map-root-user", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


on_a_disk_of_its_own = pytest.mark.skipif(not _mounts(), reason="needs to mount a small disk")


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    bot = service.bot(NAMES)
    home.knows(bot)
    home.write("version: 1\ncommands:\n- {name: new, description: Is new., syntax: /new}\n")
    return bot


@pytest.mark.parametrize(("command", "name"), [("plan --force --out", "plan.json"), BACKUP])
@pytest.mark.parametrize(
    ("remount", "why"),
    [("true", "no space left on device"), ("mount -o remount,ro disk", "read-only file system")],
    ids=["full", "read-only"],
)
@on_a_disk_of_its_own
def test_a_disk_that_takes_nothing_keeps_the_old_file_and_the_listing(
    home: Home, bot: Bot, command: str, name: str, remount: str, why: str
) -> None:
    (home.path / "disk").mkdir()
    home.write(LARGE, "large")
    before = bot.everything()
    script = (
        f"mount -t tmpfs -o size=16k tmpfs disk && cp large disk/{name} && {remount} || exit 99; "
        f'"$@"; code=$?; ls -A disk; cmp disk/{name} large && exit $code'
    )

    ran = home.child_of(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", *PROGRAM],
        *command.split(),
        f"disk/{name}",
        "--max-deletes",
        "all",
    )

    assert ran.code == 1, ran.said
    assert f"error: cannot write disk/{name}: {why}" in ran.err
    assert ran.out.splitlines()[-1] == name  # nothing is left beside it
    assert bot.everything() == before


KILLED = """
import os, signal, sys
moment = sys.argv[1]
def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, moment, killed)
from commandsync.cli.program import run
sys.exit(run(sys.argv[2:]))
"""


@WRITERS
@pytest.mark.parametrize("moment", ["fsync", "chmod", "replace"])
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX's")
@pytest.mark.usefixtures("bot")
def test_a_kill_half_way_keeps_the_old_file_and_hinders_nobody(
    home: Home, command: str, name: str, moment: str
) -> None:
    home.write("precious", name)

    ran = home.child_of([sys.executable, "-c", KILLED, moment], *command.split(), name)

    assert ran.code == -signal.SIGKILL
    assert home.read(name) == "precious"
    assert home.run(*command.split(), name).code == 0
    assert home.read(name) != "precious"
    assert home.run("validate", "-f", ".").code == 0
