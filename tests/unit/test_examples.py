"""The example manifest has what its comments promise."""

import json
from collections import Counter
from pathlib import Path

import pytest

from commandsync.manifest import Manifest, load_manifests
from commandsync.records.texts import CommandText, Resource

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def example() -> Manifest:
    (manifest,) = load_manifests([str(EXAMPLES / "commands.yaml")], stdin=bytes)
    return manifest


def commands(manifest: Manifest) -> list[CommandText]:
    entries = manifest.snapshot.collections[Resource.COMMAND]
    return [entry.text for entry in entries if isinstance(entry.text, CommandText)]


def test_the_example_has_no_warning(example: Manifest) -> None:
    assert example.warnings == ()


def test_the_example_has_at_least_40_commands(example: Manifest) -> None:
    assert len(commands(example)) >= 40


def test_the_example_can_be_tried_on_any_service(example: Manifest) -> None:
    assert example.base_url == ""


def test_the_example_is_of_a_bot_on_the_example_service(example: Manifest) -> None:
    seed = json.loads((EXAMPLES / "seed.json").read_text(encoding="utf-8"))

    assert example.bot in {bot["id"] for bot in seed["bots"]}


def test_names_that_yaml_reads_as_something_else_are_text(example: Manifest) -> None:
    assert {"off", "on", "247", "8ball"} <= {text.name for text in commands(example)}


def test_one_name_appears_twice(example: Manifest) -> None:
    names = Counter(text.name for text in commands(example))

    assert {name for name, count in names.items() if count > 1} == {"afk"}


def test_the_prefix_is_filled_in_and_can_be_written_itself(example: Manifest) -> None:
    (text,) = [text for text in commands(example) if text.name == "set prefix"]

    assert text.syntax == "/set prefix <prefix>, then {prefix} in custom commands"
    assert "{prefix}" in text.description


def test_one_command_has_another_name_on_the_example_service(example: Manifest) -> None:
    seed = json.loads((EXAMPLES / "seed.json").read_text(encoding="utf-8"))
    (listed,) = [bot["commands"] for bot in seed["bots"] if bot["id"] == example.bot]
    entries = example.snapshot.collections[Resource.COMMAND]
    former = [name for entry in entries for name in entry.formerly]

    assert former
    assert set(former) <= {command["name"] for command in listed}


def test_a_default_category_can_be_cleared(example: Manifest) -> None:
    assert [text.name for text in commands(example) if not text.category] == ["credits"]
