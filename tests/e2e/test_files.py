"""Files that the program writes: complete or not at all, and overwritten only with --force."""

import os
import sys

import pytest

from tests.support.bots import Bot, Proxy, Service
from tests.support.home import Home, fields
from tests.support.terminal import POSIX

NAMES = [f"command {number}" for number in range(10)]
WRITERS = pytest.mark.parametrize(
    ("command", "name"),
    [
        ("plan --out", "plan.json"),
        ("pull --out", "pulled.yaml"),
        ("apply --yes --backup", "before.yaml"),
    ],
)
on_posix = pytest.mark.skipif(not POSIX, reason="Windows has other links and permissions")


@pytest.fixture
def bot(service: Service, home: Home, proxy: Proxy) -> Bot:
    home.write(fields((NAMES[0], "Reworded."), *((name,) for name in NAMES[1:9]), ("new",)))
    return home.knows(service.bot(NAMES), url=proxy.url)


@pytest.mark.promise("force")
@WRITERS
def test_a_file_that_exists_is_left_alone_before_anything_is_sent(
    home: Home, bot: Bot, proxy: Proxy, command: str, name: str
) -> None:
    home.write("precious", name)
    before = bot.everything()

    ran = home.run(*command.split(), name, exits=1)

    assert f"error: {name} exists already" in ran.err
    assert "--force replaces it" in ran.err
    assert home.read(name) == "precious"
    assert proxy.requests == []
    assert bot.everything() == before


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["plan --out", "pull --out", "apply --yes --backup", "init"])
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("-", 2, "- is not a file"),
        (".", 1, ". is a folder"),
        pytest.param("x" * 300, 1, "cannot write xxx", marks=on_posix),
    ],
)
def test_a_path_that_cannot_be_a_file_is_reported_before_anything_is_sent(
    home: Home, proxy: Proxy, command: str, name: str, code: int, said: str
) -> None:
    before = set(home.path.iterdir())

    ran = home.run(*command.split(), name, exits=code)

    assert f"error: {said}" in ran.err
    assert "hint: " in ran.err
    assert set(home.path.iterdir()) == before
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("plan --out", "commands.yaml"),
        ("apply --yes --backup", "commands.yaml"),
        ("apply --plan plan.json --yes --backup", "plan.json"),
    ],
)
def test_a_run_never_replaces_its_input(home: Home, proxy: Proxy, command: str, name: str) -> None:
    assert home.run("plan", "--out", "plan.json").code == 0
    before = home.read(name)
    proxy.requests.clear()

    ran = home.run(*command.split(), name, "--force", exits=2)

    assert f"this run reads {name}" in ran.err
    assert home.read(name) == before
    assert proxy.requests == []


@pytest.mark.usefixtures("bot")
@WRITERS
def test_force_replaces_it(home: Home, command: str, name: str) -> None:
    home.write("precious", name)

    home.run(*command.split(), name, "--force", exits=0)

    assert "precious" not in home.read(name)
    schema = ["schemas"] if command.startswith("pull") else []
    names = sorted(path.name for path in home.path.iterdir())
    assert names == sorted(["commands.yaml", name, *schema])


@pytest.mark.promise("old-file-kept")
@WRITERS
@on_posix
def test_a_full_disk_keeps_the_old_file_and_the_listing(
    home: Home, bot: Bot, proxy: Proxy, command: str, name: str
) -> None:
    home.write("precious", name)
    before = bot.everything()
    limited = (
        "import resource, signal, sys;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "_, hard = resource.getrlimit(resource.RLIMIT_FSIZE);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, hard));"
        "sys.dont_write_bytecode = True;"
        "from commandsync.cli.program import run;"
        "code = run(sys.argv[1:]);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard));"  # whoever measures may write
        "sys.exit(code)"
    )
    ran = home.child_of([sys.executable, "-c", limited], *command.split(), name, "--force", exits=1)

    assert f"error: cannot write {name}: file too large" in ran.err
    assert home.read(name) == "precious"
    assert sorted(path.name for path in home.path.iterdir()) == sorted(["commands.yaml", name])
    assert proxy.writes == []
    assert bot.everything() == before


@WRITERS
@pytest.mark.skipif(not POSIX or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_reported(
    home: Home, bot: Bot, proxy: Proxy, command: str, name: str
) -> None:
    (home.path / "locked").mkdir(mode=0o500)
    before = bot.everything()

    ran = home.run(*command.split(), f"locked/{name}", exits=1)

    assert "permission denied" in ran.err
    assert proxy.writes == []
    assert bot.everything() == before


def test_a_backup_holds_what_was_listed_before(home: Home, bot: Bot) -> None:
    identifiers = bot.ids()

    first = home.run("apply", "--yes", "--backup", "before.yaml")
    again = home.run("apply", "--yes", "--backup", "again.yaml", exits=0)

    text = home.read("before.yaml")
    assert "Reworded." not in text
    assert all(identifier in text for identifier in identifiers.values())
    assert not (home.path / "again.yaml").exists()
    assert "wrote before.yaml: the listing before this apply" in first.err
    assert "again.yaml was not written: there are no changes" in again.err


@pytest.mark.usefixtures("bot")
@on_posix
def test_a_file_that_is_replaced_keeps_its_permissions(home: Home) -> None:
    path = home.write("old", "plan.json")
    path.chmod(0o640)

    assert home.run("plan", "--out", "plan.json", "--force").code == 0
    assert path.stat().st_mode & 0o777 == 0o640
