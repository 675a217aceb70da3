"""Whatever cogs a bot has: its code reads as discord.py loads it."""

from pathlib import Path

from hypothesis import given

from commandsync.sources.python import read
from tests.support.botcode import bots
from tests.support.offline import loaded, rows


@given(code=bots())
def test_any_code_reads_as_discord_py_loads_it(code: str, tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(code, encoding="utf-8")
    reading = read(str(file))

    assert rows(reading) == loaded(code)
    assert reading.notes == ()
