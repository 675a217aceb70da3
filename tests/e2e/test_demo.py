"""The demo runs every step for real, and ends well."""

import json
import os
import re
from typing import Literal

import pytest

from commandsync.cli.demo import program_name
from commandsync.extras import install_command
from tests.support.home import Home

SCENES = (
    ("serve", "listening on http://127.0.0.1:"),
    ("validate", "commands.yaml: "),
    ("plan", "Plan: "),
    ("apply", "Verified: "),
    ("plan", "No changes: "),
    ("apply", "Measures"),
    ("plan", "» invite → add-me"),
    ("apply", "» invite → add-me"),
    ("apply", "- vote"),
    ("apply", "the limit is 30 %"),
    ("pull", "version: 1"),
    ("serve", "listening on http://127.0.0.1:"),
    ("apply", "+ ping"),
    ("apply", "» play → music"),
    ("plan", "No changes: "),
)


def test_the_demo_plays_every_scene_and_ends_well(home: Home) -> None:
    ran = home.child("demo", exits=0)

    story, *scenes = ran.out.split("\n$ commandsync ")
    played = [story.removeprefix("$ commandsync "), *scenes]
    assert ran.err == ""
    assert [scene.split()[0] for scene in played] == [command for command, _ in SCENES]
    for scene, (_, words) in zip(played, SCENES, strict=True):
        assert words in scene
    assert "(exit code 5)" in played[-6]
    next_steps = ran.out.partition(" Next:\n")[2]
    commands = re.findall(r"^ +(\S*)commandsync (\w+)", next_steps, re.MULTILINE)
    assert [command for _, command in commands] == ["serve", "init", "doctor"]
    here, elsewhere = program_name(), program_name(anywhere=True)
    assert [f"{path}commandsync" for path, _ in commands] == [here, elsewhere, here]
    assert list(home.path.iterdir()) == []


BLOCKED = """
import sys
for library in ("aiohttp", "fastapi"):
    sys.modules[library] = None
"""


@pytest.mark.parametrize(("command", "extra"), [("demo", "server"), ("serve", "server")])
def test_without_its_extra_a_command_reports_in_one_error_what_to_install(
    home: Home, command: str, extra: Literal["async", "server"]
) -> None:
    home.write(BLOCKED, "hook/sitecustomize.py")
    path = os.pathsep.join([str(home.path / "hook"), home.environment()["PYTHONPATH"]])
    home.variable("COMMANDSYNC_BASE_URL", "http://127.0.0.1:9")
    home.variable("COMMANDSYNC_BOT", "1")
    home.variable("COMMANDSYNC_TOKEN", "opaque")

    ran = home.child(command, PYTHONPATH=path)

    assert (ran.code, ran.out) == (2, "")
    error, hint = ran.err.splitlines()
    assert error.startswith("error: ")
    assert f"the extra [{extra}]: the module " in error
    assert hint.endswith(f"install it: {install_command(extra)}")
    if command == "watch":
        ran = home.child(command, "--format", "json", PYTHONPATH=path)

        assert (ran.code, ran.err) == (2, "")
        (line,) = ran.out.splitlines()
        assert json.loads(line)["error"]["kind"] == "usage"
