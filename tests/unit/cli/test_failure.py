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
        ("pages", "'pages' is not a command of commandsync", "see commandsync --help"),
        ("help plan", "'help' is not a command of commandsync", "see commandsync plan --help"),
        (
            "bot list -q",
            "'bot' is not a command of commandsync",
            "did you mean  commandsync bots list -q",
        ),
        (
            "plan --token x",
            "--token is not an option: other users would see it in the list of processes",
            "set COMMANDSYNC_TOKEN, or use --token-file",
        ),
        (
            "plan --retries 21",
            "--retries must be a whole number from 0 to 20, not 21",
            "see commandsync plan --help",
        ),
        (
            "plan --timeout x",
            "--timeout must be a number from 0.1 to 600, not 'x'",
            "see commandsync plan --help",
        ),
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
