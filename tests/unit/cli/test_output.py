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
from tests.support.wording import Wording

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
def test_a_failure_that_programs_cannot_read_is_reported_to_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with FULL.open("w", encoding="utf-8") as full, redirect_stdout(full):
        Output("json").failure(ERROR)

    assert "It makes no sense." in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        "-f bots.yaml plan",
        "bots --sort name list",
        "plan --zq",
        "completion",
        "pages",
        "help plan",
        "bot list -q",
        "plan --token x",
        "plan --retries 21",
        "plan --timeout x",
        "plan --only",
    ],
)
def test_wrong_usage_is_an_error_like_all_others(
    wording: Wording, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    assert run(line.split()) == 2
    out, err = capsys.readouterr()

    assert out == ""
    wording(err)


def test_a_missing_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bots"]) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err.startswith("Usage: commandsync bots")
