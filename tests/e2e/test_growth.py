"""A plan over HTTP of twice the input is about twice the work, however it is shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.home import Home, fields
from tests.support.plans import calls_of
from tests.support.rawserver import RawServer, answering

MOST = 2.3
SHORTEST = 400  # lines: what a run costs whatever it reads is little beside them
LINES = st.lists(st.text("ab c", min_size=1, max_size=9).map(str.strip), min_size=2, max_size=8)


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
@settings(max_examples=3)
@given(old=LINES, new=LINES)
def test_twice_the_lines_change(home: Home, form: str, old: list[str], new: list[str]) -> None:
    def work(lines: int) -> int:
        listed, wanted = ("\n".join(_numbered(texts, lines)) for texts in (old, new))
        return planned(home, [listed], [wanted], form)

    work(1)  # imports

    assert work(2 * SHORTEST) <= MOST * work(SHORTEST)


@settings(max_examples=3)
@given(old=LINES, new=LINES)
def test_twice_the_edits(home: Home, old: list[str], new: list[str]) -> None:
    def work(edits: int) -> int:
        return planned(home, _numbered(old, edits), _numbered(new, edits), "json")

    work(1)  # as above

    assert work(SHORTEST) <= MOST * work(SHORTEST // 2)  # an edit is more work than a line


def _numbered(texts: list[str], count: int) -> list[str]:
    """Repeat texts, each a little different from the others."""
    return [f"{texts[n % len(texts)]} {n}." for n in range(count)]


def planned(home: Home, listed: list[str], wanted: list[str], form: str) -> int:
    """Return the work of a plan that changes so many descriptions."""
    home.write(fields(*((f"c{number}", text) for number, text in enumerate(wanted))))
    records = [
        {"id": f"i{number}", "name": f"c{number}", "description": text, "syntax": f"/c{number}"}
        for number, text in enumerate(listed)
    ]
    with RawServer() as server:
        server.then(answering(records))
        arguments = ("plan", "--bot", "42", "--base-url", server.url, "--format", form)
        return calls_of(lambda: _ran(home, arguments))


def _ran(home: Home, arguments: tuple[str, ...]) -> None:
    assert home.run(*arguments).code == 0
