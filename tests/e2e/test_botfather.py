"""BotFather's format: `docs --format botfather` prints it, and an import reads it."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.home import Home

NAMES = st.from_regex("[a-z][a-z0-9_]{0,31}", fullmatch=True)
WORDS = st.text(st.characters(categories=["L", "N", "P", "S"], codec="utf-8"), min_size=1)
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join).filter(lambda text: len(text) < 200)
COMMANDS = st.dictionaries(NAMES, TEXTS, min_size=1, max_size=20)
FRAMES = {
    "list.txt": "{0}",
    "bom.txt": "\ufeff{0}",
    "list.md": "# Commands\n\n```sh\nls -l\n```\n\n````text\n{0}````\n\n- ping - no command\n",
    "tilde.markdown": "text - here\n\n  ~~~\n\n{0}\n  ~~~\n",
}


def written(commands: dict[str, str]) -> str:
    listed = [{"name": n, "description": d, "syntax": f"/{n}"} for n, d in commands.items()]
    return yaml.safe_dump({"version": 1, "commands": listed}, allow_unicode=True)


@settings(max_examples=10)
@given(commands=COMMANDS, frame=st.sampled_from([*FRAMES]))
def test_an_import_reads_what_docs_prints(home: Home, commands: dict[str, str], frame: str) -> None:
    for file in Path.cwd().glob("copy*"):
        file.unlink()
    home.write(written(commands))
    printed = home.run("docs", "--format", "botfather")
    home.write(FRAMES[frame].format(printed.out), frame)

    ran = home.run("import", frame, "-f", "copy.yaml")

    assert (printed.code, printed.err, ran.code) == (0, "", 0), ran.said
    copied = yaml.load(home.read("copy.imported.yaml"), yaml.BaseLoader)["commands"]  # noqa: S506 - strings
    assert {each["name"]: each["description"] for each in copied} == commands
    again = home.run("docs", "--format", "botfather", "-f", "copy.yaml")
    assert again.out == printed.out


def test_commands_that_telegram_does_not_take_are_named(home: Home) -> None:
    home.write(written({"help": "Shows\nall.", "config set": "Sets.", "Ban": "Bans."}))
    ran = home.run("docs", "--format", "botfather")

    assert ran.out == "help - Shows all.\n"
    assert "BotFather: 2 commands are left out" in ran.err
    assert "(config set, Ban)" in ran.err


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("a.txt", "help - Shows.\nhelp Shows\n", "a.txt:2:1: this is not a command"),
        ("a.txt", "help -\n", "a.txt:1:1: this is not a command"),
        ("a.txt", "\n\n", "a.txt has no list of commands"),
        ("a.md", "help - Shows.\n", "a.md has no list of commands"),
        ("a.md", "```\nhelp - Shows.\nls\n```\n", "a.md has no list of commands"),
        ("a.md", "```\nhelp - Shows.\n", "a.md has no list of commands"),
    ],
)
def test_another_file_is_refused(home: Home, file: str, text: str, said: str) -> None:
    home.write(text, file)
    ran = home.run("import", file, exits=1)

    assert f"error: {said}" in ran.err
    assert "each line is `name - text`" in ran.err
