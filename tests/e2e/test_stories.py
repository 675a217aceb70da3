"""The first hour of a user: pages of the documents, followed on a terminal by somebody who types.

Each page is run from its first command to its last. `--yes` is left out, and the questions are
answered. The time and the number of commands are printed.
"""

import re
from pathlib import Path
from time import monotonic

import pytest

from tests.e2e.readme_blocks import BLOCK, ROOT, Walkthrough
from tests.support.terminal import POSIX

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not POSIX, reason="there are no pseudo terminals on Windows"),
]

SECONDS = 120  # of a busy machine; a free one takes ten
STORIES = {
    "a bot with discord.js": ("README.md", 9),
    "a new bot, then a listed one": ("docs/start.md", 20),
    "a bot with code": ("docs/import.md", 7),
    "a Telegram bot": ("docs/telegram.md", 12),
    "votes": ("docs/votes.md", 9),
}
_STYLE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]|\r")


@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.soak)])
@pytest.mark.parametrize(
    "story",
    # One in which nothing is asked: test_readme.py runs its commands without a terminal.
    [pytest.param(name, marks=[pytest.mark.soak] * (name == "votes")) for name in STORIES],
)
def test_a_page_is_followed_on_a_terminal(
    tmp_path: Path, story: str, columns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    page, most = STORIES[story]
    began, commands = monotonic(), 0
    with Walkthrough(tmp_path, columns) as walkthrough:
        for block in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
            if block["language"] != "console":
                walkthrough.run(block)
                continue
            for line, output in re.findall(
                r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block["content"], re.MULTILINE
            ):
                commands += 1
                shown = typed(walkthrough, line)
                assert last_line(output, columns) in _STYLE.sub("", shown), line
    took = monotonic() - began

    with capsys.disabled():
        print(f"\n{story}, {columns} columns: {commands} commands, {took:.1f} s")  # noqa: T201 - asked for
    assert commands <= most
    assert took < SECONDS


def typed(walkthrough: Walkthrough, line: str) -> str:
    """Run a line, and answer its question instead of giving `--yes`; `init` asks several."""
    if line.endswith(" init"):  # as the page shows it: without questions
        return walkthrough.run_line(f"{line} </dev/null", typed="")
    asked = line if " init " in line else line.replace(" --yes", "")
    return walkthrough.run_line(asked, typed="y\n" if asked != line else "")


def last_line(output: str, columns: int) -> str:
    """Return the last line of an output as a terminal shows it, as far as it is not cut there."""
    line = output.rstrip("\n").rpartition("\n")[2]
    return line if len(line) < columns else ""
