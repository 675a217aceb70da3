"""A terminal's width: values are cut there, sentences wrapped, and `--full` cuts nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.diagnostics import Notice
from commandsync.plan.plan import Plan
from commandsync.report import PLAIN, Screen, render_notices, render_plans
from commandsync.report.lines import columns_of
from tests.support.plans import command, plan_of, plans

WIDTHS = st.integers(60, 200)
PAINT = re.compile(r"\x1b\[[0-9]+m")
CHANGES = re.compile(r"  [-+~»±] |      |  \d")


@settings(max_examples=80)
@given(plan=plans(), width=WIDTHS, color=st.booleans())
def test_no_line_of_a_change_is_wider_than_the_terminal(
    plan: Plan, width: int, *, color: bool
) -> None:
    shown = render_plans([plan], format="text", screen=Screen(color, width))

    changes = [line for line in PAINT.sub("", shown).splitlines() if CHANGES.match(line)]
    assert len(changes) >= len(plan.changes)
    assert [line for line in changes if columns_of(line) > width] == []


@settings(max_examples=40)
@given(plan=plans(), width=WIDTHS)
def test_colours_change_no_character_on_a_terminal_either(plan: Plan, width: int) -> None:
    painted = render_plans([plan], format="text", screen=Screen(color=True, width=width))
    plain = render_plans([plan], format="text", screen=Screen(color=False, width=width))

    assert PAINT.sub("", painted) == plain


@given(words=st.lists(st.text("abcdefgh日本", min_size=1, max_size=20), min_size=1), width=WIDTHS)
def test_a_sentence_is_wrapped_between_its_words(words: list[str], width: int) -> None:
    notice = Notice(" ".join(words), " ".join(reversed(words)))

    wide = render_notices([notice])
    narrow = render_notices([notice], screen=Screen(width=width))

    assert narrow.split() == wide.split()
    assert all(columns_of(line) <= width for line in narrow.splitlines())


@pytest.mark.parametrize("width", [None, 80])
@given(size=st.integers(200, 5_000), lines=st.integers(1, 100))
def test_full_shows_every_character(width: int | None, size: int, lines: int) -> None:
    text = "\n".join("q" * size for _ in range(lines))
    added = plan_of([command("a", text, line=1)])
    changed = plan_of([command("a", text, line=1)], [command("a", "y", id="1")])

    for plan in (added, changed):
        shown = render_plans([plan], format="text", screen=Screen(width=width, full=True))
        assert shown.count("q") == size * lines


def test_a_changed_word_of_a_long_line_is_marked() -> None:
    text = "Plays music {} in every channel of the server, day and night, for all who listen."
    old, new = (text.format(how) for how in ("quietly", "very loudly"))
    plan = plan_of([command("play", new, line=1)], [command("play", old, id="1")])

    shown = render_plans([plan], format="text", screen=Screen(color=True, width=100))

    assert "- Plays music \x1b[7mquietly\x1b[27m in every channel" in shown
    assert "+ Plays music \x1b[7mvery loudly\x1b[27m in every channel" in shown


def test_lines_of_a_text_are_shown_as_lines() -> None:
    plan = plan_of([command("play", "First.\n\n  Third.", line=1)])

    shown = render_plans([plan], format="text")

    assert "      description:\n        │ First.\n        │\n        │   Third.\n" in shown


def test_of_a_text_of_many_lines_twenty_are_shown() -> None:
    text = "\n".join(f"Line {n}." for n in range(30))
    plan = plan_of([command("play", text, line=1)])

    shown = render_plans([plan], format="text")
    whole = render_plans([plan], format="text", screen=PLAIN._replace(full=True))

    assert "        │ Line 19.\n        … 10 more lines\n" in shown
    assert "        │ Line 29.\n" in whole
