"""`commandsync.load` gives a bot its commands by category."""

import traceback
from pathlib import Path

import pytest

import commandsync
from commandsync import CommandText, ManifestError, UsageError

MANIFEST = """\
version: 1
prefix: "!"
defaults: {category: General}
include: [more/*.yaml]
commands:
  - {name: help, description: Shows the help., syntax: "{prefix}help [command]"}
  - {name: facts, description: Says a fact., syntax: /facts, category: Fun}
  - {name: ping, description: Says pong., syntax: /ping, category: ""}
  - {name: about, description: Shows who made it., syntax: /about}
"""
INCLUDED = """\
commands:
  - {name: joke, description: Says a joke., syntax: /joke, category: Fun}
"""


def test_commands_come_by_category_with_the_prefix_and_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    (tmp_path / "more").mkdir()
    path.write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "more" / "fun.yaml").write_text(INCLUDED, encoding="utf-8")

    loaded = commandsync.load(path)

    assert loaded == commandsync.load(str(tmp_path))
    assert list(loaded) == ["", "General", "Fun"]
    assert loaded["General"][0] == CommandText(
        "help", "Shows the help.", "!help [command]", "General"
    )
    assert [command.name for command in loaded["Fun"]] == ["facts", "joke"]
    assert [command.syntax for command in loaded[""]] == ["/ping"]


def test_a_manifest_without_commands_has_none(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    path.write_text("version: 1\nannouncements: []\n", encoding="utf-8")

    assert commandsync.load(path) == {}


def test_the_traceback_of_an_invalid_manifest_has_the_places(tmp_path: Path) -> None:
    path = tmp_path / "commands.yaml"
    entries = "".join(f"  - {{name: c{number}}}\n" for number in range(30))
    path.write_text(f"version: 1\ncommands:\n{entries}", encoding="utf-8")

    with pytest.raises(ManifestError) as caught:
        commandsync.load(path)

    shown = "".join(traceback.format_exception(caught.value))
    assert f"\n{path.as_posix()}:3:5: a command needs a description\n" in shown
    assert shown.count(path.as_posix()) == 20
    assert len(caught.value.problems) == 60


def test_a_folder_of_several_manifests_is_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        text = f"version: 1\nbot: '{len(name)}'\ncommands: []\n# {name}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="contains 2 manifests"):
        commandsync.load(tmp_path)
