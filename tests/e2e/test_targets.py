"""Where files are not written: devices, pipes, and folders that links lead out to."""

import os
import socket
import stat
from pathlib import Path

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import PROGRAM, Home, fields
from tests.support.terminal import POSIX

pytestmark = pytest.mark.skipif(not POSIX, reason="Windows has other links and devices")

FORCED = (
    *("plan --force --out {}", "pull --force --out {}", "apply --yes --force --backup {}"),
    *("docs {}", "docs --force {}", "docs --check {}"),
)


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields(("help", "Reworded."), ("play",)))
    return home.knows(service.bot(["help", "play"]), url=proxy.url)


def create(kind: str, path: Path) -> None:
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)  # a whole path may be too long for a socket
    else:
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("this user may not create a device")


@pytest.mark.promise("devices")
@pytest.mark.parametrize("command", FORCED)
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
def test_what_is_not_a_regular_file_is_never_replaced(
    home: Home, bot: Bot, proxy: Proxy, command: str, kind: str
) -> None:
    target, before = home.path / "target.md", bot.everything()
    create(kind, target)
    mode = target.lstat().st_mode

    ran = home.run(*command.format("target.md").split(), exits=1)

    assert "error: target.md " in ran.err
    assert target.lstat().st_mode == mode
    assert proxy.requests == []
    assert bot.everything() == before
    assert sorted(path.name for path in home.path.iterdir()) == ["commands.yaml", "target.md"]


@pytest.mark.promise("devices")
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("name", "file", "command"),
    [
        (name, file, command)
        for first, file in enumerate(("out.txt", "pipe"))
        for number, name in enumerate(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "out.txt"), first)
        for command in [("plan --force --out", "pull --force --out")[number % 2]]
    ],
)
def test_the_outputs_of_a_run_are_never_replaced(
    home: Home, proxy: Proxy, command: str, name: str, file: str
) -> None:
    if file == "pipe":
        shell = ["sh", "-c", '{ "$@" 2>&1; echo "exit $?"; } | cat', "sh", *PROGRAM]
    else:
        shell = ["sh", "-c", '"$@" >out.txt 2>&1; code=$?; cat out.txt; echo "exit $code"', "sh"]
        shell += PROGRAM
    if (name, file) == ("out.txt", "pipe"):
        create("pipe", home.path / "out.txt")

    ran = home.child_of(shell, *command.split(), name)

    assert ran.out.splitlines()[-1] == "exit 1", ran.said
    assert f"error: {name} is " in ran.out
    assert proxy.requests == []


PATHS_OUT = ("out/D.md", "./out/D.md", "{home}/out/D.md", "sub/../out/D.md")
"""Each of them comes with each command or each form of a link, not with all pairs of these."""


def linked(home: Home, form: str) -> Path:
    """Create a folder beside that of the run, and a link `out` to it in one form."""
    victim = home.path.parent / "victim"
    victim.mkdir()
    (victim / "D.md").write_text("precious", encoding="utf-8")
    links = {
        "relative": [("out", "../victim")],
        "absolute": [("out", str(victim))],
        "chain": [("out", "first/second"), ("first", "."), ("second", str(victim))],
        "parents": [("out", "first/.."), ("first", "../victim/deep")],
    }
    (victim / "deep").mkdir()
    for name, target in links[form]:
        (home.path / name).symlink_to(target)
    return victim


@pytest.mark.promise("force")
@pytest.mark.parametrize(
    ("command", "form", "path"),
    [
        (command, form, PATHS_OUT[(first + number) % 4])
        for first, command in enumerate(FORCED)
        for number, form in enumerate(("relative", "absolute", "chain", "parents"))
    ],
)
def test_a_folder_that_is_a_link_out_of_the_working_folder_is_not_followed(
    home: Home, bot: Bot, proxy: Proxy, command: str, form: str, path: str
) -> None:
    victim, before = linked(home, form), bot.everything()
    (home.path / "sub").mkdir()

    ran = home.run(*command.format(path.format(home=home.path)).split(), exits=1)

    assert f"link out of {home.path}, " in ran.err
    assert (victim / "D.md").read_text(encoding="utf-8") == "precious"
    assert sorted(path.name for path in victim.iterdir()) == ["D.md", "deep"]
    assert proxy.requests == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    "command",
    [
        "init out/new/commands.yaml",
        "docs -f out/commands.yaml out/commands.html",
        "import -f out/commands.yaml list.json",
    ],
)
def test_no_command_writes_through_a_folder_that_leads_out(home: Home, command: str) -> None:
    victim = linked(home, "relative")
    manifest = fields(("help",)) + "announcements: []\n"
    (victim / "commands.yaml").write_text(manifest, encoding="utf-8")
    home.write('[{"name": "new", "description": "Is new.", "syntax": "/new"}]', "list.json")

    ran = home.run(*command.split(), exits=1)

    assert "the folder out " in ran.err
    assert (victim / "commands.yaml").read_text(encoding="utf-8") == manifest
    assert sorted(path.name for path in victim.iterdir()) == ["D.md", "commands.yaml", "deep"]


@pytest.mark.usefixtures("bot")
def test_in_ci_no_link_out_is_followed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = linked(home, "relative")
    (home.path / "bot").mkdir()
    home.write(home.read("commands.yaml"), "bot/commands.yaml")
    home.variable("GITHUB_WORKSPACE", str(home.path))
    monkeypatch.chdir(home.path / "bot")

    ran = home.run("docs", "--force", "../out/D.md", exits=1)

    assert f"link out of {home.path}, " in ran.err
    assert (victim / "D.md").read_text(encoding="utf-8") == "precious"


@pytest.mark.usefixtures("bot")
def test_a_linked_working_folder_is_written(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    (home.path.parent / "way").symlink_to("home")
    monkeypatch.chdir(home.path.parent / "way")

    home.run("docs", f"{home.path.parent}/way/D.md", exits=0)

    assert "Reworded." in home.read("D.md")


@pytest.mark.parametrize("command", FORCED)
@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("path", ["loop.md", "loop.md/D.md", "other.md"])
def test_a_link_to_itself_stays(home: Home, proxy: Proxy, command: str, path: str) -> None:
    (home.path / "loop.md").symlink_to("loop.md")
    (home.path / "other.md").symlink_to("loop.md")

    ran = home.run(*command.format(path).split(), exits=1)

    assert f"{path}" in ran.err
    assert (home.path / "loop.md").is_symlink()
    assert (home.path / "other.md").is_symlink()
    assert proxy.requests == []
