"""What messages are in words: in golden files, one for each module of tests."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "fixtures" / "golden" / "wording"

Wording = Callable[..., None]
"""Compares texts with the golden ones of the test that calls it, in the order of the calls."""


@pytest.fixture
def wording(request: pytest.FixtureRequest) -> Iterator[Wording]:
    """Compare texts with those of this test in the golden file of its module.

    Other tests say of a message what it is about: its type, its hint, its place, its names. What a
    module's messages are in words is here alone. `--write-golden` needs one process.
    """
    path = (GOLDEN / request.path.relative_to(TESTS)).with_suffix(".json")
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    said: list[str] = []

    def compare(*texts: object) -> None:
        said.extend(map(str, texts))
        if request.config.getoption("--write-golden"):
            known[request.node.name] = said
            path.parent.mkdir(parents=True, exist_ok=True)
            content = json.dumps(known, ensure_ascii=False, indent=1, sort_keys=True)
            path.write_text(f"{content}\n", encoding="utf-8", newline="\n")

        assert said == known.get(request.node.name, [])[: len(said)], "pytest --write-golden"

    yield compare

    assert len(said) == len(known.get(request.node.name, [])), "pytest --write-golden"
