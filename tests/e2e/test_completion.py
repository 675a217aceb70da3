"""`commandsync completion`: the script of each shell, and what bash completes with it."""

import shutil
import sys

import pytest

from tests.support.home import Home
from tests.support.terminal import POSIX

BASH = shutil.which("bash")
COMPLETE = """
eval "$(commandsync completion bash)"
completed() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "$(complete -p commandsync | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" commandsync 2>/dev/null
    echo "${COMPREPLY[@]}"
}
completed commandsync pl
completed commandsync apply --dry
completed commandsync plan --format ''
"""


@pytest.mark.parametrize(
    ("shell", "line"),
    [
        ("zsh", "compdef _commandsync_completion commandsync"),
        ("fish", "complete --no-files --command commandsync --arguments"),
    ],
)
def test_the_script_registers_the_program(home: Home, shell: str, line: str) -> None:
    ran = home.run("completion", shell)

    assert (ran.code, ran.err) == (0, "")
    assert line in ran.out
    assert f"_COMMANDSYNC_COMPLETE={shell}_complete" in ran.out


@pytest.mark.skipif(not (POSIX and BASH), reason="needs bash")
def test_bash_completes_commands_options_and_values(home: Home) -> None:
    program = home.write(f'#!/bin/sh\nexec "{sys.executable}" -m commandsync "$@"\n', "commandsync")
    program.chmod(0o755)
    path = f"{home.path}:{home.environment()['PATH']}"

    ran = home.child_of([str(BASH), "--norc", "-c", COMPLETE], PATH=path)

    assert ran.out.split() == ["plan", "--dry-run", "text", "json", "markdown", "github"]
    assert (ran.code, ran.err) == (0, "")
