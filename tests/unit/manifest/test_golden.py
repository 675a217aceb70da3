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


@pytest.mark.promise("token-placeholder")
@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("*.txt")))
def test_each_problem_is_reported_word_for_word(
    name: str, golden: Callable[[str, str], None]
) -> None:
    blocks = (GOLDEN / name).read_text(encoding="utf-8").split(END)[:-1]
    manifests = [block.partition(ARROW)[0] for block in blocks]

    golden("".join(f"{text}{ARROW}{report(text)}{END}" for text in manifests), f"manifest/{name}")


Complaints = Callable[[str | bytes], list[str]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_lines_are_counted_whatever_ends_them(complaints: Complaints, end: str, mark: str) -> None:
    text = mark + end.join(["bto: 1", "version: 1", "prefix: 'a\u2028\x85b'", "bto2: 1", ""])

    assert [line.split(" a ")[0] for line in complaints(text)] == ["1:1:", "4:1:"]


def test_after_a_thousand_problems_reading_stops(complaints: Complaints) -> None:
    found = complaints("version: 1\n" + "".join(f"key{n}: 1\n" for n in range(1500)))

    assert len(found) == 1001
    assert found[999].startswith("1001:1: ")
    assert str(found[1000]) == "1:1: there may be more problems: only the first 1000 are shown"
