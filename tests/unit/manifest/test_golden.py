"""Every message about a manifest, word for word; nothing else pins the words.

A file in `tests/fixtures/golden/manifest/` is a list of cases: a manifest, `-->`, and its report.
`pytest --write-golden tests/unit/manifest` writes the reports again.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from commandsync.errors import ManifestError
from commandsync.manifest import load_manifests

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden" / "manifest"
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


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.txt")))
def test_each_problem_is_reported_word_for_word(
    name: str, golden: Callable[[str, str], None]
) -> None:
    blocks = (GOLDEN / name).read_text(encoding="utf-8").split(END)[:-1]
    manifests = [block.partition(ARROW)[0] for block in blocks]

    golden("".join(f"{text}{ARROW}{report(text)}{END}" for text in manifests), f"manifest/{name}")
