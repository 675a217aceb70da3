import pytest

from commandsync.cli.program import run


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (
            "-f bots.yaml plan",
            "No such option '-f'",
            "write options after the command: commandsync COMMAND -f",
        ),
        (
            "commands --bot 42 list",
            "No such option '--bot'",
            "write options after the command: commandsync commands COMMAND --bot",
        ),
        ("plan --zq", "No such option '--zq'", "see commandsync plan --help"),
        (
            "completion",
            "Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish",
            "see commandsync completion --help",
        ),
        ("pages", "No such command 'pages'", "see commandsync --help"),
        ("plan --only", "Option '--only' requires an argument", "see commandsync --help"),
    ],
)
def test_wrong_usage_is_an_error_like_all_others(
    capsys: pytest.CaptureFixture[str], line: str, message: str, hint: str
) -> None:
    assert run(line.split()) == 2

    assert capsys.readouterr() == ("", f"error: {message}\n  hint: {hint}\n")


def test_a_missing_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bots"]) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err.startswith("Usage: commandsync bots")
