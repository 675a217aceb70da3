"""Each situation has one sentence on a terminal, and one elsewhere: those of the documents."""

import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.e2e.test_readme import table
from tests.support.home import PROJECTS, Home, fields
from tests.support.terminal import POSIX, Terminal

pytestmark = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
GIT = shutil.which("git") or "git"
LISTED = (
    f"{fields(('ping', 'Says pong.'))}listings: [{{service: top.gg, lossy: [category, syntax]}}]\n"
)
ROWS = table("situation", "on a terminal", "elsewhere")


def _unseen(home: Home) -> list[str]:
    home.write(LISTED)
    return ["plan"]


def _since(home: Home) -> list[str]:
    home.write(LISTED)
    home.write(fields(("ping", "Says pong.")), "old.yaml")
    return ["plan", "--since", "old.yaml"]


def _deletes(home: Home) -> list[str]:
    home.write(fields(("ping", "Says pong.")))
    home.write(fields(*((f"old{n}", "Is old.") for n in range(9))), "old.yaml")
    return ["plan", "--against", "old.yaml"]


def _apply(home: Home) -> list[str]:
    home.variable("COMMANDSYNC_TOKEN_TOPGG", "a-token-of-top-gg")
    return ["apply", *_unseen(home)[1:]]


def _init(home: Home) -> list[str]:
    PROJECTS["discord.js"].write(home, ["ping"])
    return ["init"]


def _above(home: Home) -> list[str]:
    home.write(fields(("ping", "Says pong.")))
    subprocess.run([GIT, "init", "-q"], check=True, cwd=home.path)
    (home.path / "below").mkdir()
    home.monkeypatch.chdir(home.path / "below")
    home.path = home.path / "below"
    return ["validate"]


SITUATIONS: list[Callable[[Home], list[str]]] = [
    _unseen,
    _since,
    lambda home: [*_apply(home), "--yes"],
    lambda home: [*_unseen(home), "--unseen"],
    _deletes,
    _apply,
    _init,
    _above,
]


@pytest.mark.parametrize(("row", "make"), [*zip(ROWS, SITUATIONS, strict=True)])
def test_each_situation_has_its_sentence(
    home: Home, row: list[str], make: Callable[[Home], list[str]]
) -> None:
    there, elsewhere = (cell.strip("`") for cell in row[1:])
    arguments = make(home)
    ran = home.run(*arguments)

    assert elsewhere in " ".join(ran.said.split())
    if there != elsewhere:
        assert there not in " ".join(ran.said.split())
    for file in home.path.glob("commands.yaml") if arguments == ["init"] else ():
        file.unlink()
    home.variable("NO_COLOR", "1")
    with Terminal.running(home, *arguments) as terminal:
        shown = ""
        while there not in " ".join(shown.split()):
            shown += terminal.until(there.split()[-1])
        if there.endswith((":", "?")):
            terminal.type("\x04")
        _, rest, _ = terminal.ended()

    if there != elsewhere:
        assert elsewhere not in " ".join((shown + rest).split())
