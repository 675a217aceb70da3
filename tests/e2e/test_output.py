"""Output: colours, what -q and -v show, closed pipes, and consoles that are not UTF-8."""

import os
import re
from pathlib import Path

import pytest

from tests.support.bots import Bot, Service
from tests.support.home import PROGRAM, Home, fields
from tests.support.terminal import POSIX, Terminal

on_posix = pytest.mark.skipif(not POSIX, reason="Windows has neither pty nor /dev/full")
FULL = Path("/dev/full")
FAILS = "validate -f missing.yaml"


@pytest.fixture
def bot(service: Service, home: Home) -> Bot:
    home.write(fields(("help", "Zeigt \u00fcber 日本語 🎉."), ("play",), ("new",)))
    return home.knows(service.bot(["help", "play", "skip"]))


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    ("command", "flags", "variables", "colored"),
    [
        ("plan", "", {}, True),
        (FAILS, "", {}, True),
        (FAILS, "", {"NO_COLOR": "1"}, False),
        (FAILS, "", {"TERM": "dumb"}, False),
        (FAILS, "--color=always", {"NO_COLOR": "1"}, True),
        ("plan", "--color never", {}, False),
    ],
)
@on_posix
def test_a_terminal_gets_results_and_failures_with_colours_unless_they_are_not_wanted(
    *, home: Home, command: str, flags: str, variables: dict[str, str], colored: bool
) -> None:
    for name, value in variables.items():
        home.variable(name, value)
    with Terminal.running(home, *command.split(), *flags.split()) as terminal:
        code, shown, _ = terminal.ended()

    assert code == (4 if command == FAILS else 0)
    assert ("missing.yaml" in shown) is (command == FAILS)
    assert ("\x1b[" in shown) is colored


@pytest.mark.usefixtures("bot")
def test_a_pipe_gets_colours_only_when_asked(home: Home) -> None:
    assert "\x1b[" not in home.run("plan").out
    assert "\x1b[" in home.run("plan", "--color", "always").out
    assert "\x1b[" not in home.run("plan", "--color", "always", "--format", "json").out
    (home.path / "commands.yaml").unlink()
    assert "\x1b[" not in home.run("validate").err
    assert "\x1b[" in home.run("validate", "--color", "always").err


IMPORTED = "Import: 1 to add, 0 to edit, 0 to remove, 0 unchanged, 0 left out.\n"
QUIET = {
    "validate": "commands.yaml: 3 commands, no problems\n",
    "plan": "Plan: 1 to add, 1 to edit, 1 to delete, 1 unchanged.\n",
    "plan --out plan.json": "Plan: 1 to add, 1 to edit, 1 to delete, 1 unchanged.\n",
    "apply --yes --backup before.yaml": "Apply: 3 done. Verified: nothing is left to do.\n",
    "vote 42": "user 42 voted\n",
    "doctor": "No check failed: plan and apply can work.\n",
    "import new.json": IMPORTED,
    "pull --out pulled.yaml": "",
    "init new.yaml": "",
}


@pytest.mark.usefixtures("bot")
def test_quiet_prints_the_line_of_the_result_alone(home: Home) -> None:
    home.write('[{"name": "roll", "description": "Rolls a die.", "type": 1}]', "new.json")
    ran = {command: home.run(*command.split(), "-q") for command in QUIET}

    assert {command: each.out for command, each in ran.items()} == QUIET
    assert {(each.code, each.err) for each in ran.values()} == {(0, "")}


@pytest.mark.usefixtures("bot")
def test_quiet_shows_errors_all_the_same(home: Home) -> None:
    home.write(fields(("help",), ("help",), ("play",)))
    invalid = home.run("validate", "-q")
    home.write(fields(("help",)) + "sync: {max_deletes: 0}\n")
    planned, refused = home.run("plan", "-q"), home.run("apply", "--yes", "-q")
    home.variable("COMMANDSYNC_TOKEN", "another")
    failed = home.run("apply", "--yes", "-q", "--max-deletes", "all")
    home.forget("COMMANDSYNC_BASE_URL")
    checked = home.run("doctor", "-q")

    assert (invalid.code, planned.code, refused.code, failed.code) == (4, 0, 5, 1)
    assert "commands.yaml:6:5: error: " in invalid.err
    assert planned.out.startswith("refused: ")
    assert planned.out.endswith("\nPlan: 0 to add, 0 to edit, 2 to delete, 1 unchanged.\n")
    assert refused.out == planned.out
    assert "token" in failed.out
    assert checked.out.startswith("failed   settings ")


def test_verbose_tells_each_read_and_its_time(home: Home, bot: Bot) -> None:
    applied = home.run("apply", "--yes", "-v")
    voted = home.run("vote", "7", "-v", "--format", "json")
    home.run("plan", "--out", "p.json")
    saved = home.run("apply", "--plan", "p.json", "--yes", "-v")

    said = re.sub(r"[0-9]\.[0-9]{2} s", "? s", applied.err).splitlines()
    site = f"bot {bot.id} at {bot.url}, with the token of bot {bot.id} from COMMANDSYNC_TOKEN"
    assert said[:3] == ["read commands.yaml: 3 commands, ? s", site, "list commands: ? s"]
    assert sorted(line.split()[0] for line in said[3:-1]) == ["done:"] * 3
    assert said[-1] == "list commands: ? s"
    assert re.sub(r" [0-9.]+ s", " ? s", voted.err) == (
        f"read commands.yaml: 3 commands, ? s\n{site}\ncast vote: ? s\n"
    )
    assert saved.err.startswith("read p.json: a plan of 0 changes, 0.")


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("", "without a token (COMMANDSYNC_TOKEN is not set)"),
        ("opaque", "with the token from COMMANDSYNC_TOKEN"),
    ],
)
def test_verbose_tells_of_the_token(home: Home, bot: Bot, token: str, said: str) -> None:
    home.variable("COMMANDSYNC_TOKEN", token)

    assert f"bot {bot.id} at {bot.url}, {said}\n" in home.run("plan", "-v").err


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}]
)
def test_any_console_gets_utf8(home: Home, variables: dict[str, str]) -> None:
    ran = home.child("plan", **variables, exits=0)

    assert "日本語 🎉" in ran.out


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("command", ["plan", "pull", "schema", "--help"])
@on_posix
def test_a_closed_pipe_is_not_an_error(home: Home, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = home.child_into([*PROGRAM, *command.split()], stdout=writing)
    os.close(writing)

    assert ran.code == 0
    assert ran.err == ""


@on_posix
def test_apply_into_a_closed_pipe_does_all_the_same(home: Home, bot: Bot) -> None:
    test_a_closed_pipe_is_not_an_error(home, "apply --yes")

    assert bot.names() == ["help", "play", "new"]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        *(("plan", 1), ("pull", 1), ("apply --yes", 1), ("apply --yes --format json", 6)),
        ("vote 7", 6),
    ],
)
@pytest.mark.skipif(not FULL.exists(), reason="needs a disk that is full")
@pytest.mark.usefixtures("bot")
def test_a_result_that_cannot_be_written_is_an_error(home: Home, command: str, code: int) -> None:
    with FULL.open("wb") as full:
        ran = home.child_into([*PROGRAM, *command.split()], stdout=full)

    assert ran.code == code
    assert "no space left" in ran.err
    assert ("listing was changed" in ran.err) == (code == 6)
    assert "Traceback" not in ran.err


@pytest.mark.usefixtures("bot")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@on_posix
def test_closed_streams_are_no_trouble(home: Home, closed: str) -> None:
    program = f'exec "$0" -m commandsync apply --yes {closed}'
    ran = home.child_of(["/bin/sh", "-c", program, PROGRAM[0]], exits=0)

    assert ran.err == ""
