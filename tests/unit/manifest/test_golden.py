"""Every message about a manifest, word for word; nothing else pins the words.

A file in `golden/` is a list of cases: a manifest, `-->`, and what is reported about it. After a
deliberate change `GOLDEN=write pytest tests/unit/manifest/test_golden.py` writes the reports anew.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests

GOLDEN = Path(__file__).parent / "golden"
ARROW, END = "-->\n", "\n====\n"


def report(text: str) -> str:
    try:
        (manifest,) = load_manifests(["-"], stdin=text.encode)
    except ManifestError as error:
        problems, kind = error.problems, ""
    else:
        problems, kind = manifest.warnings, "warning: "
    lines = [
        f"{problem.location.line}:{problem.location.column}: {kind}{problem.message}"
        + (f"\n    {problem.hint}" if problem.hint else "")
        for problem in problems
    ]
    return "\n".join(lines)


def cases(path: Path) -> list[tuple[str, str]]:
    blocks = path.read_text(encoding="utf-8").split(END)[:-1]
    return [(text, expected) for text, _, expected in (block.partition(ARROW) for block in blocks)]


def written(path: Path) -> list[tuple[str, str]]:
    reported = [(text, report(text)) for text, _ in cases(path)]
    blocks = (f"{text}{ARROW}{expected}{END}" for text, expected in reported)
    path.write_text("".join(blocks), encoding="utf-8", newline="\n")
    return reported


READ = written if os.environ.get("GOLDEN") == "write" else cases
CASES = [
    pytest.param(text, expected, id=f"{path.stem}-{number}")
    for path in sorted(GOLDEN.glob("*.txt"))
    for number, (text, expected) in enumerate(READ(path), 1)
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_what_is_wrong_is_reported_word_for_word(text: str, expected: str) -> None:
    assert report(text) == expected
