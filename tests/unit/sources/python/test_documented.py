"""The forms that docs/import.md shows of Python's frameworks for Discord, read as it says."""

import re
from pathlib import Path

import pytest

from tests.support.botcode import ReadingOf

PAGE = Path(__file__).parents[4] / "docs" / "import.md"
COMMANDS = "from discord.ext import commands\nbot = commands.Bot('!')\n"
HEADS = {
    "discord.py": "import discord\nfrom discord import app_commands\n"
    + COMMANDS
    + "tree = app_commands.CommandTree(client)\n",
    "Pycord": "import discord\nbot = discord.Bot()\n",
    "nextcord": "import nextcord\n" + COMMANDS.replace("discord", "nextcord"),
    "disnake": "import disnake\n" + COMMANDS.replace("discord", "disnake"),
    "Red": "from redbot.core import commands\n",
}
SHOW = "async def show(it, user: discord.User): ...\n"
ROW = re.compile(r"^\| ([^|]+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = [
    (name, code, shown)
    for names, code, shown in ROW.findall(PAGE.read_text(encoding="utf-8"))
    for name in names.split(", ")
    if name in HEADS
]


@pytest.mark.parametrize(("name", "code", "shown"), ROWS, ids=[" ".join(row[:2]) for row in ROWS])
def test_a_documented_form_is_read(name: str, code: str, shown: str, reading_of: ReadingOf) -> None:
    lines = [HEADS[name], SHOW if "show" in code else ""]
    for number, line in enumerate(re.findall("`([^`]+)`", code)):
        function = f"\nasync def f{number}(it, user: discord.User): ..."
        lines.append(line + function * line.startswith("@"))

    reading = reading_of("\n".join(lines))

    syntaxes = [entry.syntax.removesuffix(" <user>") for entry in reading.entries]
    assert sorted(syntaxes) == sorted(re.findall("`(.+?)`", shown))
    assert reading.unread == ()


def test_each_framework_has_documented_forms() -> None:
    assert {name for name, _, _ in ROWS} == {*HEADS}
