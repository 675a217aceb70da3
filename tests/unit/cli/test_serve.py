"""Lines to paste: valid in bash, zsh, fish and PowerShell, whatever the value contains."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from commandsync.cli.demo import program_name
from commandsync.cli.serve import POWERSHELL, example, lines_to_paste, variable_line
from commandsync.errors import UsageError
from commandsync.server.administration import SeededBot

URL = "http://127.0.0.1:8000"
BOT = SeededBot(id="42", username="Lantern\n$(rm -r .)", token="secret")

posix = pytest.mark.skipif(POWERSHELL, reason="PowerShell has other lines")


def pasted(bots: Sequence[SeededBot] = (BOT,), *, url: str = URL, **options: object) -> list[str]:
    given = {"database": "listing.db", "with_tokens": False, **options}
    return list(lines_to_paste(url, bots, **given))  # type: ignore[arg-type]  # as the tests give them


@pytest.mark.parametrize(
    ("value", "is_command", "line", "powershell"),
    [
        ("a.b-c", False, "export X=a.b-c", "$env:X = 'a.b-c'"),
        ("it's $HOME", False, "export X='it'\"'\"'s $HOME'", "$env:X = 'it''s $HOME'"),
        ("a b", True, 'export X="$(a b)"', "$env:X = a b"),
    ],
)
def test_a_variable_is_set_in_each_kind_of_shell(
    value: str, line: str, powershell: str, *, is_command: bool
) -> None:
    assert variable_line("X", value, is_command=is_command, powershell=False) == line
    assert variable_line("X", value, is_command=is_command, powershell=True) == powershell


@posix
def test_each_bot_has_its_lines_and_a_foreign_name_stays_a_comment() -> None:
    assert pasted(with_tokens=True) == [
        "",
        "  # Lantern\\n$(rm -r .)",
        "  export COMMANDSYNC_BASE_URL=http://127.0.0.1:8000",
        "  export COMMANDSYNC_TOKEN=secret",
    ]
    assert pasted([]) == []


@posix
@pytest.mark.parametrize(
    ("database", "command"),
    [
        ("listing.db", "commandsync bots token 42 --database /srv/listing.db"),
        ("my bots.db", "commandsync bots token 42 --database '/srv/my bots.db'"),
        ("/var/bots.db", "commandsync bots token 42 --database /var/bots.db"),
        ("postgresql://u:password@h/d", "commandsync bots token 42"),
    ],
)
def test_what_may_be_a_log_has_no_token_and_asks_the_database_from_any_folder(
    database: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getcwd", lambda: "/srv")
    lines = pasted(database=database)

    assert lines[-1] == f'  export COMMANDSYNC_TOKEN="$({command})"'
    assert "secret" not in "".join(lines)


@pytest.mark.parametrize(
    ("url", "reachable"),
    [
        ("http://0.0.0.0:80", "http://127.0.0.1:80"),
        ("http://[::]:80", "http://[::1]:80"),
        ("http://10.0.0.1:80", "http://10.0.0.1:80"),
    ],
)
def test_all_addresses_are_reached_by_loopback(url: str, reachable: str) -> None:
    assert pasted(url=url)[2].endswith(variable_line("COMMANDSYNC_BASE_URL", reachable))


def test_the_program_has_a_shells_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "commandsync.exe" if sys.platform == "win32" else "commandsync"
    script = tmp_path / ".venv" / "bin" / name
    script.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(script.with_name("python")))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("commandsync") is None
    assert program_name() == "commandsync"  # it is not installed there

    script.write_text("", encoding="utf-8")
    script.chmod(0o755)
    assert program_name() == script.as_posix()
    monkeypatch.chdir(tmp_path)
    assert program_name() == f".venv/bin/{name}"
    assert program_name(anywhere=True) == script.as_posix()
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path), str(script.parent)]))
    assert program_name() == "commandsync"


def test_a_missing_example_is_an_error_in_words() -> None:
    with pytest.raises(UsageError, match=r"examples/nothing\.json is missing"):
        example("nothing.json")
