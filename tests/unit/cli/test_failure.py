import pytest

from commandsync.cli.program import run
from tests.support.wording import Wording


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
