"""The line of a problem with a caret below it, on a terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.source import Source
from commandsync.report import PLAIN, Screen, render_failure
from commandsync.report.lines import columns_of, visible

TERMINAL = Screen(width=80)
LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=90), min_size=1)
BREAKS = st.sampled_from(["\n", "\r\n", "\r"])


def problem_at(text: str, at: int) -> Problem:
    source = Source("commands.yaml", text)
    return Problem(source.location(at), "it is wrong", "mend it", source.excerpt(at))


def shown(problem: Problem, screen: Screen) -> list[str]:
    return render_failure(ManifestError([problem]), format="text", screen=screen).splitlines()


def test_a_terminal_shows_the_line_and_a_caret_below_it() -> None:
    text = "commands:\n  - name: help\n    descripton: Shows the menu.\n"

    assert shown(problem_at(text, text.index("descripton")), TERMINAL) == [
        "commands.yaml:3:5: error: it is wrong",
        "  3 |     descripton: Shows the menu.",
        "    |     ^",
        "  hint: mend it",
        "",
        "error: the manifest has 1 problem",
    ]


def test_a_file_or_a_pipe_gets_one_line() -> None:
    assert shown(problem_at("x", 0), PLAIN)[:2] == [
        "commands.yaml:1:1: error: it is wrong",
        "  hint: mend it",
    ]


def test_a_problem_of_the_whole_file_has_no_line() -> None:
    whole = Problem(Location("commands.yaml"), "it is wrong")

    assert shown(whole, TERMINAL)[:2] == ["commands.yaml:1:1: error: it is wrong", ""]


def test_a_terminal_with_colours_shows_the_caret_in_red() -> None:
    text = "\n".join(shown(problem_at("ab", 1), Screen(color=True, width=80)))

    assert "\x1b[31m^\x1b[0m" in text
    assert re.sub(r"\x1b\[[0-9]+m", "", text) == "\n".join(shown(problem_at("ab", 1), TERMINAL))


@given(lines=LINES, line_break=BREAKS, data=st.data())
def test_the_caret_is_below_the_character_whatever_is_before_it(
    lines: list[str], line_break: str, data: st.DataObject
) -> None:
    text = line_break.join(lines)
    at = data.draw(st.integers(0, len(text)))
    problem = problem_at(text, at)
    line, caret = shown(problem, TERMINAL)[1:3]
    excerpt = problem.excerpt
    assert excerpt

    assert columns_of(caret.removesuffix("^")) == columns_of(
        f"  {problem.location.line} | {visible(excerpt.text[: excerpt.caret])}"
    )
    assert line.startswith(f"  {problem.location.line} |")
    assert (
        excerpt.text[excerpt.caret :].removesuffix("…")
        == re.split(r"\r\n|\r|\n", text[at:])[0][:70]
    )
    assert len(excerpt.text) <= 50 + 70 + 2


@pytest.mark.parametrize(("at", "begins", "ends"), [(0, "", "…"), (500, "…", "…"), (999, "…", "")])
def test_a_long_line_is_cut_on_both_sides(at: int, begins: str, ends: str) -> None:
    excerpt = problem_at("x" * 1000, at).excerpt
    assert excerpt

    assert excerpt.text.startswith(begins + "x")
    assert excerpt.text.endswith("x" + ends)
