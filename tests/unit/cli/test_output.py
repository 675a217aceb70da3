import os
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TextIO

import pytest

from commandsync.cli.output import Output
from commandsync.cli.program import run
from commandsync.diagnostics import Notice
from commandsync.errors import UsageError

FULL = Path("/dev/full")
ERROR = UsageError("It makes no sense.", hint="say something else")


@pytest.fixture
def broken() -> Iterator[TextIO]:
    """A pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        yield stream


def test_results_and_talk_go_their_own_ways(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()

    output.result("a result\n")
    output.talk("a word")
    output.talk("too much", at=1)
    output.notices([Notice("take care", "do this")])

    said = capsys.readouterr()
    assert said.out == "a result\n"
    assert said.err == "a word\nwarning: take care\n  hint: do this\n"


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_people_read_failures_on_stderr(capsys: pytest.CaptureFixture[str], form: str) -> None:
    Output(form).failure(ERROR)  # type: ignore[arg-type]  # one of the forms

    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "error: It makes no sense.\n  hint: say something else\n"


def test_a_listener_that_has_left_ends_nothing(broken: TextIO) -> None:
    with redirect_stderr(broken):
        Output().talk("a word")
        Output().failure(ERROR)


@pytest.mark.skipif(not FULL.exists(), reason="needs a disk that is full")
def test_people_read_a_failure_that_programs_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    with FULL.open("w", encoding="utf-8") as full, redirect_stdout(full):
        Output("json").failure(ERROR)

    assert "It makes no sense." in capsys.readouterr().err


WRONG = {
    "-f bots.yaml plan": (
        "error: No such option '-f'\n"
        "  hint: write options after the command: commandsync COMMAND -f\n"
    ),
    "bot list -q": (
        "error: 'bot' is not a command of commandsync\n"
        "  hint: did you mean: commandsync bots list -q\n"
    ),
    "bots --name x add": (
        "error: No such option '--name'\n"
        "  hint: write options after the command: commandsync bots COMMAND --name\n"
    ),
    "completion": (
        "error: Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish\n"
        "  hint: see commandsync completion --help\n"
    ),
    "help nothing": (
        "error: 'nothing' is not a command of commandsync\n  hint: see commandsync --help\n"
    ),
    "pages": ("error: 'pages' is not a command of commandsync\n  hint: see commandsync --help\n"),
    "plan --only": (
        "error: Option '--only' requires an argument\n  hint: see commandsync --help\n"
    ),
    "plan --retries 21": (
        "error: --retries must be a whole number from 0 to 20, not 21\n"
        "  hint: see commandsync plan --help\n"
    ),
    "plan --timeout x": (
        "error: --timeout must be a number from 0.1 to 600, not 'x'\n"
        "  hint: see commandsync plan --help\n"
    ),
    "plan --token x": (
        "error: --token is not an option: other users would see it in the list of processes\n"
        "  hint: set COMMANDSYNC_TOKEN, or use --token-file\n"
    ),
    "plan --zq": ("error: No such option '--zq'\n  hint: see commandsync plan --help\n"),
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_usage_is_an_error(capsys: pytest.CaptureFixture[str], line: str) -> None:
    assert run(line.split()) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err == WRONG[line]


def test_a_missing_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bots"]) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err.startswith("Usage: commandsync bots")
