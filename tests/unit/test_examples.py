"""The example manifest has what its comments promise."""

import json
from collections import Counter
from pathlib import Path

import pytest

from commandsync.manifest import Manifest, load_manifests
from commandsync.records.texts import Resource

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def example() -> Manifest:
    (manifest,) = load_manifests([str(EXAMPLES / "commands.yaml")], stdin=bytes)
    return manifest


def test_the_example_is_of_a_bot_on_the_example_service_and_can_be_tried_on_any(
    example: Manifest,
) -> None:
    seed = json.loads((EXAMPLES / "seed.json").read_text(encoding="utf-8"))
    (listed,) = [bot["commands"] for bot in seed["bots"] if bot["id"] == example.bot]
    entries = example.snapshot.collections[Resource.COMMAND]
    former = {name for entry in entries for name in entry.formerly}

    assert (example.warnings, example.base_url) == ((), "")
    assert len(entries) >= 40
    assert set() < former <= {command["name"] for command in listed}


def test_texts_are_those_that_the_comments_promise(example: Manifest) -> None:
    texts = {text.name: text for text in example.snapshot.commands}
    names = Counter(text.name for text in example.snapshot.commands)

    assert {"off", "on", "247", "8ball"} <= names.keys()
    assert {name for name, count in names.items() if count > 1} == {"afk"}
    assert texts["set prefix"].syntax == "/set prefix <prefix>, then {prefix} in custom commands"
    assert "{prefix}" in texts["set prefix"].description
    assert [name for name, text in texts.items() if not text.category] == ["credits"]
