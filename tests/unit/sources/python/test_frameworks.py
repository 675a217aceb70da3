"""The reading of code against the frameworks themselves.

discord.py loads the same code here, with no network. The others cannot be installed beside it: the
files have their output for this code (disnake 2.12, nextcord 2.6, py-cord 2.8).
"""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from commandsync.sources.entry import SourceEntry, Trait
from commandsync.sources.python import read
from commandsync.sources.reading import read as read_source
from tests.support.botcode import bots
from tests.support.frameworks import loaded, rows, rows_of

if TYPE_CHECKING:
    from discord.ext import commands


EXAMPLE = Path(__file__).parents[4] / "examples" / "bot"
BOTS = Path(__file__).parents[3] / "fixtures" / "bots"
FORKS = ("disnake", "disnake_texts", "nextcord", "pycord", "pycord_own")


def shown(entries: tuple[SourceEntry, ...]) -> list[tuple[str, str, str]]:
    """Return what users see; disnake writes a dash where a command has no description."""
    return sorted(
        (entry.name, entry.description.replace("-", "…"), entry.syntax) for entry in entries
    )


@pytest.mark.parametrize("name", ["discordpy", "discordpy_classes"])
def test_code_reads_as_discord_py_loads_it(name: str, tmp_path: Path) -> None:
    code = (BOTS / f"{name}.txt").read_text(encoding="utf-8")
    file = tmp_path / "bot.py"
    file.write_text(code, encoding="utf-8")
    reading = read(str(file))

    assert rows(reading) == loaded(code)
    assert reading.notes == ()


def test_the_example_reads_as_discord_py_loads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLE))
    loaded_bot = asyncio.run(load_example())
    reading = read(str(EXAMPLE))

    assert rows(reading) == rows_of(loaded_bot)
    assert reading.notes == ()
    assert [entry.name for entry in reading.entries if entry.traits] == ["reload"]


async def load_example() -> commands.Bot:
    """Load the cogs of the example as its `setup_hook` does."""
    main = runpy.run_path(str(EXAMPLE / "bot.py"))
    bot: commands.Bot = main["Helper"]()
    names = [f"cogs.{file.stem}" for file in sorted(main["COGS"].glob("*.py"))]
    for name in names:
        await bot.load_extension(name)
    for name in ["cogs", *names]:  # which load_extension leaves in the interpreter
        del sys.modules[name]
    return bot


@pytest.mark.parametrize("name", FORKS)
def test_code_reads_as_what_its_framework_tells_discord(name: str, tmp_path: Path) -> None:
    output = json.loads((BOTS / f"{name}.json").read_text(encoding="utf-8"))
    (tmp_path / "commands.json").write_text(json.dumps(output["commands"]), encoding="utf-8")
    (tmp_path / "bot.py").write_text(
        (BOTS / f"{name}.txt").read_text(encoding="utf-8"), encoding="utf-8"
    )
    registered = read_source(str(tmp_path / "commands.json"))
    reading = read(str(tmp_path / "bot.py"))
    slash = tuple(entry for entry in reading.entries if not entry.syntax.startswith("{prefix}"))
    debug = {entry.name for entry in slash if entry.name == "debug"}
    prefix = [entry.syntax for entry in reading.entries if entry not in slash]

    assert shown(slash) == shown(registered.entries)
    assert prefix == ["{prefix}old [what=x] <rest>"] * ("_" not in name)
    assert reading.notes == ()
    assert {entry.name for entry in slash if Trait.ADMIN_ONLY in entry.traits} == debug
    assert {entry.name for entry in slash if Trait.GUILD_ONLY in entry.traits} == debug


@given(code=bots())
def test_any_code_reads_as_discord_py_loads_it(code: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(code, encoding="utf-8")
    reading = read(str(file))

    assert rows(reading) == loaded(code)
    assert reading.notes == ()
