"""`commandsync import -- PROGRAM`: what a program registers reaches the manifest and stays."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import pytest

from commandsync.manifest import load_manifests
from tests.e2e.record.test_runs import CALL, fenced
from tests.support.home import Home, Ran

Import = Callable[..., Ran]
OPTION = {"type": 3, "name": "song", "description": "Its name", "required": True}
FILE = "commands.imported.yaml"
PLAY = {"type": 1, "name": "play", "description": "Plays a song", "options": [OPTION]}
HELP = {"type": 1, "name": "help", "description": "Shows help"}


@pytest.fixture
def record(home: Home) -> Import:
    """Import from a program of Python that registers some commands and then does something."""

    def record(
        commands: list[object], *words: str, then: str = "", flags: tuple[str, ...] = ()
    ) -> Ran:
        text = f"{CALL}\nput(json.loads({json.dumps(commands)!r}))\n{then}\n"
        (home.path / "deploy.py").write_text(text, encoding="utf-8")
        return home.run("import", *words, *flags, "--", sys.executable, "deploy.py")

    return record


@fenced
def test_a_recorded_command_is_in_the_manifest_with_its_object(home: Home, record: Import) -> None:
    ran = record([PLAY, HELP])

    assert (ran.code, "Recorded 2 commands (1 with options) from" in ran.err) == (0, True), ran.said
    (manifest,) = load_manifests([str(home.path / "commands.yaml")], stdin=bytes)
    assert manifest.imported is not None
    play, shown = sorted(manifest.imported.commands, key=lambda each: each.name != "play")
    assert (play.syntax, play.discord, play.recorded) == ("/play <song>", PLAY, True)
    assert not {"application_id", "version", "guild_id"} & {*(shown.discord or {})}
    assert record([PLAY, HELP], flags=("--check",)).code == 0


@fenced
@pytest.mark.promise("incomplete-run")
@pytest.mark.parametrize(
    ("then", "words"),
    [("sys.exit(1)", ()), ("while True: put([]); time.sleep(0.2)", ("--timeout", "1"))],
)
def test_an_incomplete_run_adds_and_removes_nothing(
    home: Home, record: Import, then: str, words: tuple[str, ...]
) -> None:
    record([PLAY, HELP])
    before = home.read(FILE)
    ran = record([{**PLAY, "description": "Plays"}], *words, then=then)

    after = home.read(FILE)
    assert "name: help" in after, ran.said
    assert ("description: Plays\n" in after) == ("1 to edit" in ran.out)
    assert before.count("- name") == after.count("- name") == 2


@fenced
@pytest.mark.promise("incomplete-run")
def test_an_empty_run_changes_nothing(home: Home, record: Import) -> None:
    record([PLAY])
    before = home.read(FILE)
    ran = record([])

    assert (ran.code, "registered nothing" in ran.err) == (1, True)
    assert record([], flags=("--check",)).code == 3
    assert home.read(FILE) == before


@fenced
def test_a_whole_run_without_a_command_removes_it(home: Home, record: Import) -> None:
    record([PLAY, HELP])
    ran = record([PLAY])

    assert "1 to remove" in ran.out, ran.said
    assert "name: help" not in home.read(FILE)


@fenced
def test_code_beside_a_recording_gives_the_rest(home: Home, record: Import) -> None:
    code = """
from discord import app_commands
from discord.ext import commands

class Music(commands.Cog):
    @commands.command()
    async def skip(self, ctx):
        "Skips a song"

    @commands.hybrid_command()
    async def play(self, ctx, song: str):
        "Read from the code"

    @app_commands.command(description="It is old")
    async def old(self, interaction): ...
"""
    (home.path / "bot.py").write_text(code, encoding="utf-8")
    ran = record([PLAY], "bot.py", "--prefix", "!", flags=("-v",))

    text = home.read(FILE)
    assert "Plays a song" in text, ran.said
    assert "category: Music" in text
    assert "{prefix}skip" in text
    assert "left_out: not registered by the recorded program" in text
    assert "left out: old" in ran.out


@fenced
@pytest.mark.promise("only-after-dashes")
def test_an_import_without_the_program_keeps_its_commands(home: Home, record: Import) -> None:
    record([PLAY])
    (home.path / "deploy.py").write_text("open('ran', 'w')", encoding="utf-8")
    ran = home.run("import")

    assert (ran.code, "commandsync import -- " in ran.err) == (2, True), ran.said
    listed = [{"name": "skip", "description": "Skips", "type": 1}]
    (home.path / "list.json").write_text(json.dumps(listed), encoding="utf-8")
    home.write(home.read("commands.yaml") + "  from: list.json\n")
    assert home.run("import").code == 0
    text = home.read(FILE)
    assert ("name: play" in text, "name: skip" in text) == (True, True)
    assert not (home.path / "ran").exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--",), "no program follows --"),
        (("--allow", "db", "--", "true"), "is not a valid service"),
        (("--allow", "top.gg:443", "--", "true"), "the stand-ins answer"),
        (("--timeout", "0", "--", "true"), "--timeout"),
    ],
)
def test_wrong_usage_runs_nothing(home: Home, words: tuple[str, ...], part: str) -> None:
    ran = home.run("import", *words)

    assert (ran.code, part in ran.err) == (2, True), ran.said
