"""Annotations, and what describes a parameter, make Discord's own object of literal commands."""

from pathlib import Path
from typing import Any

import discord
import pytest

from commandsync.records.snapshot import Node
from commandsync.sources.python import read
from tests.support.objects import objects_in

HEADS = {
    "discord.py": "import discord\nfrom discord import app_commands\n",
    "Pycord": "import discord\nbot = discord.Bot()\n",
    "nextcord": "import nextcord\nfrom nextcord import SlashOption\nbot = nextcord.Client()\n",
    "disnake": "from disnake.ext import commands\nbot = commands.InteractionBot()\n",
}
COMMAND = {
    "discord.py": "@app_commands.command(description='Goes.')\n{0}async def go(inter, {1}): ...",
    **dict.fromkeys(
        ("Pycord", "nextcord", "disnake"),
        "@bot.slash_command(description='Goes.')\n{0}async def go(inter, {1}): ...",
    ),
}
DESCRIBED = "@app_commands.describe(to='To.')\n"
CHOICE = "app_commands.Choice(name='{}', value={})".format
TEXT = {"name": "to", "description": "To.", "type": 3}
NUMBER = {**TEXT, "type": 4}
PAIR = [{"name": "a", "value": 1}, {"name": "b", "value": 2}]

# A framework, decorators, a parameter, and the members of the option that it makes.
LITERAL = {
    "an annotation": ("discord.py", DESCRIBED, "to: str", TEXT | {"required": True}),
    "a default": ("discord.py", DESCRIBED, "to: int = 3", NUMBER),
    "None": ("discord.py", DESCRIBED, "to: discord.User | None", {**TEXT, "type": 6}),
    "text": ("discord.py", DESCRIBED, "to: 'int'", NUMBER | {"required": True}),
    "Optional": ("discord.py", DESCRIBED, "to: Optional[float]", {**TEXT, "type": 10}),
    "a channel": (
        "discord.py",
        DESCRIBED,
        "to: discord.VoiceChannel = None",
        {**TEXT, "type": 7, "channel_types": [2]},
    ),
    "Literal": (
        "discord.py",
        DESCRIBED,
        "to: Literal[1, 2] = 1",
        NUMBER | {"choices": [{"name": "1", "value": 1}, {"name": "2", "value": 2}]},
    ),
    "Choice": (
        "discord.py",
        f"{DESCRIBED}@app_commands.choices(to=[{CHOICE('a', 1)}, {CHOICE('b', 2)}])\n",
        "to: app_commands.Choice[int] = None",
        NUMBER | {"choices": PAIR},
    ),
    "Range": (
        "discord.py",
        DESCRIBED,
        "to: app_commands.Range[int, 1, 9] = 1",
        NUMBER | {"min_value": 1, "max_value": 9},
    ),
    "Range of a text": (
        "discord.py",
        DESCRIBED,
        "to: app_commands.Range[str, None, 9] = ''",
        TEXT | {"max_length": 9},
    ),
    "Option": (
        "Pycord",
        "",
        "to: discord.Option(int, 'To.', min_value=1, required=False)",
        NUMBER | {"min_value": 1},
    ),
    "SlashOption": (
        "nextcord",
        "",
        "to: int = SlashOption(description='To.', choices={'a': 1, 'b': 2}, required=False)",
        NUMBER | {"choices": PAIR},
    ),
    "Param": (
        "disnake",
        "",
        "to: int = commands.Param(1, description='To.', ge=1, le=9)",
        NUMBER | {"min_value": 1, "max_value": 9},
    ),
}
COMPUTED = {
    "a description": ("discord.py", "@app_commands.describe(to=t())\n", "to: str"),
    "no description": ("discord.py", "", "to: str"),
    "a type of the bot": ("discord.py", DESCRIBED, "to: Colour"),
    "no type": ("discord.py", DESCRIBED, "to"),
    "mixed values": ("discord.py", DESCRIBED, "to: Literal[1, 'a']"),
    "computed choices": (
        "discord.py",
        f"{DESCRIBED}@app_commands.choices(to=[app_commands.Choice(name=n(), value=1)])\n",
        "to: str",
    ),
    "where it works": ("discord.py", f"{DESCRIBED}@app_commands.allowed_installs()\n", "to: str"),
    "permissions by a variable": (
        "discord.py",
        f"{DESCRIBED}@app_commands.default_permissions(**mine)\n",
        "to: str",
    ),
    "a computed new name": (
        "discord.py",
        f"{DESCRIBED}@app_commands.rename(to=n())\n",
        "to: str",
    ),
    "a rest": ("discord.py", DESCRIBED, "*to: str"),
    "an autocomplete": ("Pycord", "", "to: discord.Option(str, 'To.', autocomplete=found)"),
    "a computed name": ("Pycord", "", "to: discord.Option(str, 'To.', name=n())"),
}


def objects(folder: Path, framework: str, decorators: str, parameter: str) -> tuple[Node, ...]:
    code = HEADS[framework] + COMMAND[framework].format(decorators, parameter)
    (folder / "bot.py").write_text(code, encoding="utf-8")
    reading = read(str(folder))
    assert [entry.name for entry in reading.entries] == ["go"]
    return objects_in(reading)


@pytest.mark.parametrize(
    ("framework", "decorators", "parameter", "option"), LITERAL.values(), ids=LITERAL
)
def test_a_literal_command_has_its_object(
    framework: str, decorators: str, parameter: str, option: dict[str, Any], tmp_path: Path
) -> None:
    (found,) = objects(tmp_path, framework, decorators, parameter)

    assert found == {"type": 1, "name": "go", "description": "Goes.", "options": [option]}


@pytest.mark.parametrize(("framework", "decorators", "parameter"), COMPUTED.values(), ids=COMPUTED)
def test_a_command_that_is_not_all_literal_has_none(
    framework: str, decorators: str, parameter: str, tmp_path: Path
) -> None:
    assert objects(tmp_path, framework, decorators, parameter) == ()


@pytest.mark.parametrize(
    ("decorators", "parameter"),
    [parts[1:3] for parts in LITERAL.values() if parts[0] == "discord.py"],
)
def test_discord_py_makes_the_same_options(decorators: str, parameter: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    head = f"{HEADS['discord.py']}from typing import Literal, Optional\n"
    command = COMMAND["discord.py"].replace("(inter,", "(inter: discord.Interaction,")
    exec(head + command.format(decorators, parameter), names)  # noqa: S102 - the code above
    tree = names["app_commands"].CommandTree(
        names["discord"].Client(intents=discord.Intents.none())
    )
    (made,) = names["go"].to_dict(tree)["options"]
    (found,) = objects(tmp_path, "discord.py", decorators, parameter)

    assert found["options"] == [
        {key: value for key, value in made.items() if value not in (False, [])}
    ]


def test_groups_and_permissions_are_in_the_object(tmp_path: Path) -> None:
    code = f"""{HEADS["discord.py"]}
go = app_commands.Group(name="go", description="Goes.")
@go.command(description="Up.")
async def up(inter): ...
@app_commands.command(description="Bans.", nsfw=True)
@app_commands.default_permissions(ban_members=True, kick_members=True)
@app_commands.guild_only()
async def ban(inter): ...
@app_commands.context_menu(name="Report")
async def report(inter, message: discord.Message): ...
"""
    (tmp_path / "bot.py").write_text(code, encoding="utf-8")
    up = {"type": 1, "name": "up", "description": "Up."}

    assert objects_in(read(str(tmp_path))) == (
        {"type": 1, "name": "go", "description": "Goes.", "options": [up]},
        {
            "type": 1,
            "name": "ban",
            "description": "Bans.",
            "nsfw": True,
            "contexts": [0],
            "default_member_permissions": "6",
        },
        {"type": 3, "name": "Report"},
    )
