"""Each promise of SECURITY.md has an id there, which its tests name.

It is a comment behind the sentence, item or row, such as `<!--promise:redirects-->`;
a test names it in its marker, such as `@pytest.mark.promise("redirects")`. To add one, break the
code of the promise once: its test must fail.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ID = re.compile(r"<!--promise:([\w-]+)-->")
MARKER = re.compile(r"^@pytest\.mark\.promise\(([^)]*)\)$", re.MULTILINE)


def test_each_promise_has_a_test_and_each_marker_its_promise() -> None:
    promised = set(ID.findall((ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    tested = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for names in MARKER.findall(path.read_text(encoding="utf-8"))
        for name in re.findall(r'"([\w-]+)"', names)
    }

    assert promised - tested == set(), "these promises have no test"
    assert tested - promised == set(), "these markers name no promise of SECURITY.md"
