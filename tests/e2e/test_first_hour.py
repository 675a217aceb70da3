"""The first hour of a bot as whole screens: init, plan, apply, an edit, plan and apply again.

Each screen is what the terminal shows at the end of a command, pinned for two sizes; colours change
no character, and are pinned beside it. `pytest --write-golden` accepts a new one.
"""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest

from commandsync.report.lines import columns_of
from commandsync.testing import serve_simulation
from tests.support.fence import fenced
from tests.support.home import PROJECTS, Home, Kind
from tests.support.terminal import POSIX, Monitor

pytestmark = pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows")
GIT = shutil.which("git") or "git"
BOTS = {
    "discordjs": PROJECTS["discord.js"],
    "discordpy": PROJECTS["discord.py"],
    "grammy": PROJECTS["grammY"],
}


def colours(monitor: Monitor) -> list[str]:
    """Return each coloured piece of the screen with its colour."""
    pieces = []
    for row in range(monitor.rows):
        line: dict[int, Any] = monitor.cells(row)
        runs: list[list[str]] = [["default", ""]]
        for column in range(monitor.columns):
            cell = line[column]
            style = "bold" if cell.bold and cell.fg == "default" else cell.fg
            if style != runs[-1][0]:
                runs.append([style, ""])
            runs[-1][1] += cell.data
        pieces += [f"{style}: {text.strip()}" for style, text in runs if style != "default"]
    return [piece for piece in pieces if not piece.endswith(": ")]


class Session:
    """Commands one after the other, each on a terminal of its own, and what these showed."""

    def __init__(self, columns: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.size, self.monkeypatch = (columns, rows), monkeypatch
        self.screens: list[str] = []
        self.colours: list[str] = []

    def run(self, *arguments: str, answers: tuple[tuple[str, str], ...] = ()) -> None:
        columns, rows = self.size
        monitor = Monitor(columns, self.monkeypatch, rows)

        def answer() -> None:
            try:
                for shown, keys in answers:
                    monitor.until(shown)
                    monitor.type(f"{keys}\n")
            except AssertionError:
                monitor.type("\x04")  # the end of the input: the run does not wait for ever
                raise

        typing = Thread(target=answer, daemon=True)
        typing.start()
        code = monitor.run(*arguments)
        typing.join(10)
        lines = monitor.text.splitlines()
        assert max(map(columns_of, lines)) <= columns
        self.screens.append(
            f"$ commandsync {' '.join(arguments)}\n{monitor.text}exit code {code}\n"
        )
        self.colours += colours(monitor)


@pytest.fixture
def project(home: Home, request: pytest.FixtureRequest) -> Iterator[Callable[[Session], None]]:
    """A bot's repository, and the hour of its author, who tries a simulation of its service."""
    kind: Kind = BOTS[request.param]
    kind.write(home, ["ping", "play"])
    author = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "The bot")):
        subprocess.run([GIT, *command], check=True, cwd=home.path)  # the manifest is not committed
    with serve_simulation(kind.service) as service:

        def hour(session: Session) -> None:
            (home.path / "commands.yaml").unlink(missing_ok=True)
            for name in ("commands.imported.yaml", ".gitattributes"):
                (home.path / name).unlink(missing_ok=True)
            kind.write(home, ["ping", "play"])
            for folder in (".git/commandsync", "schemas"):
                shutil.rmtree(home.path / folder, ignore_errors=True)
            listed: tuple[tuple[str, str], ...] = ((f"{kind.service}]:", ""),)
            if kind.service != "telegram":  # the bot goes on registering its commands at Discord
                listed = ((f"listings [discord {kind.service}]:", ""), ("registered by [bot]:", ""))
            session.run("init", answers=(*listed, ("code [", kind.source), ("[y/N]:", "n")))
            named = f"service: {kind.service}\n"
            text = home.read("commands.yaml")
            home.write(text.replace(named, f"{named}    base_url: {service.base_url}\n"))
            home.monkeypatch.setenv(service.variable, service.token)
            session.run("plan")
            session.run("apply", answers=(("[y/N]:", "y"),))
            for file in home.path.rglob("*.[jpt][sy]"):
                code = file.read_text("utf-8").replace("ping", "latency")
                file.write_text(code.replace("Does latency", "Does ping"), "utf-8")
            session.run("import")
            session.run("plan")
            session.run("apply", answers=(("[y/N]:", "y"),))
            home.monkeypatch.delenv(service.variable)
            if kind.service == "telegram":
                service.commands.clear()

        yield hour


@fenced  # the questions offer to record a run only where that is possible
@pytest.mark.parametrize("project", BOTS, indirect=True)
@pytest.mark.parametrize(
    ("columns", "rows"), [(80, 24), pytest.param(200, 50, marks=pytest.mark.thorough)]
)
def test_the_screens_of_the_first_hour(
    project: Callable[[Session], None],
    columns: int,
    rows: int,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[str, str], None],
    request: pytest.FixtureRequest,
) -> None:
    bot = request.node.callspec.params["project"]
    coloured = Session(columns, rows, monkeypatch)
    project(coloured)
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Session(columns, rows, monkeypatch)
    project(plain)

    assert list(map(fixed, plain.screens)) == list(map(fixed, coloured.screens))
    assert plain.colours == []
    shown = "\n".join([*coloured.screens, "colours:", *dict.fromkeys(coloured.colours), ""])
    golden(fixed(shown), f"screens/hour-{bot}-{columns}")


def fixed(text: str) -> str:
    """Return a screen without its port and its time, which have the same length each time."""
    text = re.sub(r"127\.0\.0\.1:[0-9]{4,5}", "127.0.0.1:12345", text)
    return re.sub(
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}(\s+)[0-9]{2}:[0-9]{2}", r"2026-01-02\g<1>03:04", text
    )
