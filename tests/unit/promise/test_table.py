"""Each promise of SECURITY.md and README.md has its tests, in the table of tests/PROMISES.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NO_TEST = "no test: "
PARTS = {
    "SECURITY.md": [("## Promises", "## Out of scope")],
    "README.md": [
        ("`plan` shows every change.", "For ten commands"),
        ("## Safety", "[SECURITY.md](SECURITY.md) contains"),
    ],
}


def promises(document: str) -> list[str]:
    """Return the rows of tables, the items of lists and the sentences of a document's promises."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found: list[str] = []
    for begin, end in PARTS[document]:
        part = text[text.index(begin) : text.index(end)]
        for block in re.split(r"\n\s*\n|\n(?=[-|] ?)", part):
            line = " ".join(block.split()).removeprefix("- ")
            if line.startswith("| ") and not line.startswith("| case"):
                found.append(line)
            elif line and not line.startswith(("#", "|")):
                found += re.split(r"(?<=\.)\s+(?=[A-Z`*])", line)
    return found


def table(document: str) -> dict[str, list[str]]:
    """Return the beginning of each promise in the table, and its tests."""
    text = (ROOT / "tests" / "PROMISES.md").read_text(encoding="utf-8")
    part = re.split(r"^## ", text.partition(f"## {document}\n")[2], flags=re.MULTILINE)[0]
    rows: dict[str, list[str]] = {}
    tests: list[str] = []
    for line in filter(str.strip, part.splitlines()):
        if line.startswith("- "):
            tests = rows.setdefault(line.removeprefix("- "), [])
        else:
            tests.append(line.removeprefix("  - "))
    return rows


@pytest.mark.parametrize("document", PARTS)
def test_each_promise_is_in_the_table_and_each_line_of_it_in_the_document(document: str) -> None:
    written, known = promises(document), table(document)

    assert [text for text in written if not text.startswith(tuple(known))] == []
    assert [begin for begin in known if not any(text.startswith(begin) for text in written)] == []


@pytest.mark.parametrize("document", PARTS)
def test_each_promise_has_a_test_that_exists(document: str) -> None:
    missing = []
    for begin, tests in table(document).items():
        for test in [test for test in tests if not test.startswith(NO_TEST)]:
            path, _, function = test.partition("::")
            if f"\ndef {function}(" not in (ROOT / "tests" / path).read_text(encoding="utf-8"):
                missing.append(test)

        assert tests, begin

    assert missing == []
