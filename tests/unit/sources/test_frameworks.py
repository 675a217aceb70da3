"""One bot, as five frameworks write its commands: each file is the framework's own output.

The same commands were declared in each framework, and written by `toJSON()` (discord.js),
`to_dict()` (discord.py, py-cord, disnake) and `get_payload()` (nextcord). discord.py translates
while it registers the commands, so its file has no localizations.
"""

from pathlib import Path

import pytest

from commandsync.sources.entry import Trait
from commandsync.sources.reading import read

FILES = sorted((Path(__file__).parents[2] / "fixtures" / "discord" / "frameworks").iterdir())


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_framework_declares_the_same_bot(file: Path) -> None:
    locale = "" if file.stem.startswith("discord.py") else "de"
    reading = read(str(file), locale=locale)

    assert sorted((entry.name, entry.description, entry.syntax) for entry in reading.entries) == [
        ("Bookmark", "In the menu of a message, under Apps.", "Bookmark"),
        ("Report user", "In the menu of a user, under Apps.", "Report user"),
        ("config language set", "Sets the language", "/config language set <on|off> [channel]"),
        ("ping", "Zeigt die Latenz" if locale else "Shows the latency", "/ping"),
        ("purge", "Deletes messages", "/purge <count>"),
    ]
    assert {entry.name: entry.traits for entry in reading.entries if entry.traits} == {
        "purge": {Trait.ADMIN_ONLY, Trait.NSFW}
    }
    assert reading.notes == ()
