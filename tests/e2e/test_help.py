"""`-h` shows the options in sections, and shells complete them; an argument too many is refused."""

import re
import shutil
import sys

import click
import pytest

from commandsync.cli.options import SECTIONS, OrderedCommand
from tests.support.bots import Service
from tests.support.home import Home, commands_of, fields
from tests.support.terminal import POSIX


def sections_of(text: str) -> dict[str, list[str]]:
    """Return the options in each section of a help page."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if title := re.fullmatch(r"([\w ]+):", line):
            heading = title[1]
        elif option := re.match(r"  (?:-\w, )?(--[a-z-]+)", line):
            sections.setdefault(heading, []).append(option[1])
    return sections


def test_every_help_fits_into_80_columns_with_the_shared_options_last(home: Home) -> None:
    home.variable("COLUMNS", "80")
    for words, command in commands_of():
        ran = home.run(*words, "-h")

        assert (ran.code, ran.err) == (0, "")
        assert ran.out == home.run(*words, "--help").out
        assert max(map(len, ran.out.splitlines())) <= 80, words
        names = {name for option in command.params for name in option.opts if "--" in name}
        assert {name for name in names if name not in ran.out} == set(), words
        if isinstance(command, click.Group):  # the documents have the others
            assert not words or f"\n    commandsync {words[0]}" in ran.out
        else:
            sections = list(sections_of(ran.out))
            assert isinstance(command, OrderedCommand), words
            assert sections == [section for section in SECTIONS if section in sections]
            assert sections_of(ran.out)[SECTIONS[-1]][-1] == "--help"
            _, options = re.split(rf"\n(?:{'|'.join(SECTIONS)}):\n", ran.out, maxsplit=1)
            assert not re.search(r"^  \[", options, re.MULTILINE)


def test_apply_has_its_options_in_four_sections(home: Home) -> None:
    sections = sections_of(home.run("apply", "-h").out)

    assert sections == {
        "Options": [
            *("--plan", "--dry-run", "--yes", "--backup", "--owned", "--unseen"),
            *("--unordered", "--force", "--format"),
        ],
        "Manifest": ["--file", "--strict", "--no-prune", "--max-deletes", "--only"],
        "Service": [
            *("--base-url", "--bot", "--token-file", "--env-file", "--timeout"),
            *(
                "--insecure-http",
                "--retries",
                "--concurrency",
                "--listing",
                "--guild",
                "--since",
                "--state",
            ),
        ],
        "Shared options": ["--color", "--full", "--quiet", "--verbose", "--help"],
    }


@pytest.mark.parametrize("columns", [60, 120])
def test_help_is_as_wide_as_the_terminal(home: Home, columns: int) -> None:
    home.variable("COLUMNS", str(columns))
    shown = home.run("serve", "-h").out

    widest = max(map(len, shown.partition("\nOptions:")[2].splitlines()))
    assert columns - 20 < widest <= columns


def test_a_saved_plan_in_place_of_a_manifest_is_known(home: Home, service: Service) -> None:
    home.knows(service.bot(["help"]))
    home.write(fields(("help", "Reworded.")))
    assert home.run("plan", "--out", "plan.json").code == 0

    for words in ("apply plan.json --yes", "apply -f plan.json --yes", "plan plan.json"):
        ran = home.run(*words.split())
        assert (ran.code, ran.out) == (4, "")
        assert ran.err.splitlines()[:2] == [
            "plan.json:1:1: error: this is a saved plan, not a manifest",
            "  hint: apply --plan applies it; -f names a manifest",
        ]


EXTRA = {
    "bots list x": [
        "error: unexpected argument: x",
        "  hint: to name a manifest: commandsync bots list -f x",
    ],
    "demo more": ["error: unexpected argument: more", "  hint: see commandsync demo --help"],
    "schema plan more": [
        "error: unexpected argument: more",
        "  hint: see commandsync schema --help",
    ],
}


@pytest.mark.parametrize("line", EXTRA)
def test_an_argument_too_many_names_the_option_meant(home: Home, line: str) -> None:
    ran = home.run(*line.split())

    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == EXTRA[line]


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["help"], ["--help"]),
        (["help", "plan"], ["plan", "--help"]),
        (["help", "bots", "token"], ["bots", "token", "--help"]),
        (["bots", "help"], ["bots", "--help"]),
        (["version"], ["--version"]),
    ],
)
def test_help_and_version_are_commands_too(home: Home, words: list[str], option: list[str]) -> None:
    assert home.run(*words, exits=0).out == home.run(*option, exits=0).out


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
completed commandsync plan --listing disc
completed commandsync serve --as tele
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

    assert ran.out.split() == [
        *("plan", "--dry-run", "text", "json", "markdown", "github"),
        *("discord", "discordbotlist.com", "telegram"),
    ]
    assert (ran.code, ran.err) == (0, "")
