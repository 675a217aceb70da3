"""Plans, results and problems as text for people, off a terminal and on one of any width."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Notice, Problem
from commandsync.errors import ManifestError
from commandsync.manifest.source import Source
from commandsync.plan.changes import Add
from commandsync.plan.plan import AsRead, Plan, RecordPlan
from commandsync.records.texts import Resource
from commandsync.report import (
    PLAIN,
    Screen,
    render_failure,
    render_notices,
    render_plans,
    render_results,
    render_settled,
)
from commandsync.report.lines import columns_of, visible
from tests.support.plans import CHANGED, UNTRUSTED, command, plan_of, plans, texts, whole
from tests.support.registered import untrusted_plans
from tests.support.runs import EVERYTHING


def test_a_long_text_that_comes_is_cut() -> None:
    plan = plan_of([command("help", "x" * 200)])

    assert f'description: "{"x" * 80}"… (120 more characters)\n' in render_plans(
        [plan], format="text"
    )


def test_colours_are_there_only_when_asked_for(every_change: RecordPlan) -> None:
    plain = render_plans([every_change], format="text")
    colored = render_plans([every_change], format="text", screen=Screen(color=True))

    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == plain
    assert "\x1b[32m+ facts\x1b[0m" in colored


def test_a_sign_is_explained_below_the_first_plan_that_has_it(every_change: RecordPlan) -> None:
    other = replace(every_change, target=replace(every_change.target, bot="2"))

    text = render_plans([every_change, other], format="text")

    assert text.count("\n  » ") == text.count("Bot ") == 2
    assert text.count("» is a rename") == 1
    assert text.index("» is a rename") < text.index("Bot 2 ")


@given(
    names=st.lists(texts, min_size=2, max_size=4, unique=True),
    olds=st.lists(texts, min_size=4, max_size=4, unique=True),
)
def test_no_row_of_renames_begins_with_foreign_text(names: list[str], olds: list[str]) -> None:
    about = [(f"Does the {n}th of the things it can do.", f"/the-{n}th") for n in range(4)]
    wanted = [
        command(name, text, syntax=syntax, line=n + 1)
        for n, (name, (text, syntax)) in enumerate(zip(names, about, strict=False))
    ]
    listed = [
        command(old, text, syntax=syntax, id=str(n), uses=n)
        for n, (old, (text, syntax)) in enumerate(zip(olds, about, strict=False))
    ]
    notices = [each for each in plan_of(wanted, listed, rules=EVERYTHING).notices if each.renaming]
    lines = render_notices(notices).splitlines()

    assert len(lines) == (len(notices) * 2 if len(notices) < 2 else len(notices) + 2)
    for line in lines:
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
        assert not set(line) & set("\x1b\r\x08\u202e\u200b\ufeff\u2066")


@given(st.one_of(plans(), untrusted_plans()))
def test_no_line_of_a_plan_begins_with_foreign_text_or_hides_anything(plan: RecordPlan) -> None:
    for line in render_plans([plan], format="text").splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
        assert line.isprintable() or not set(line) & set("\x1b\r\x08\u202e\u200b\ufeff\u2066")
        assert re.match(
            r"Bot |: application |$|  [-+~»±] |      .*\S|        [-+│…]( |$)|warning: |  hint: "
            r"|\d+ (listed|formerly:) |\d+ announcements? |refused: |No changes: |Nothing is "
            r"|[»±] is a |Plan: ",
            line,
        )


def test_long_differences_of_what_is_stored_are_shown_as_lines(trouble: Result) -> None:
    (settled,) = trouble.rewritten
    longer = settled.rewrites[0]._replace(sent="a\nb", stored="a")
    result = replace(trouble, settled=(replace(settled, rewrites=(longer,)),))

    assert "        │ a\n        - b\n" in render_results([result], format="text")


@pytest.mark.parametrize("count", [1, 2, 13])
@pytest.mark.parametrize(
    ("outcome", "is_whole"),
    [(Outcome.SKIPPED, False), (Outcome.FAILED, False), (Outcome.FAILED, True)],
)
def test_one_reason_of_several_is_one_line(count: int, outcome: Outcome, *, is_whole: bool) -> None:
    page = plan_of([command(f"c{n}") for n in range(count)])
    plan: Plan = whole(page, AsRead((CHANGED,))) if is_whole else page
    settled = tuple(Settled(change, outcome, "it is late") for change in plan.changes)
    shown = render_results([Result(plan=plan, settled=settled)], format="text")

    together = is_whole or outcome is Outcome.SKIPPED
    assert shown.count("why:  it is late") == 1
    assert shown.count(f"{outcome.value}:") == (1 if together else count)
    several = f"{outcome.value}: {count} changes (add command c0, "
    assert (several in shown) == (together and count > 1)
    assert ("and 10 more)" in shown) == (together and count == 13)


@given(st.lists(st.sampled_from(["it is late", "it is down"]), min_size=1, max_size=9))
def test_a_reason_that_several_changes_share_is_said_once_below_them(errors: list[str]) -> None:
    plan = plan_of([command(f"c{n}") for n in range(len(errors))])
    outcomes = zip(plan.changes, errors, strict=True)
    settled = tuple(Settled(change, Outcome.FAILED, error) for change, error in outcomes)
    shown = render_results([Result(plan=plan, settled=settled)], format="text")

    for error in set(errors):
        above = shown.partition(f"    why:  {error}\n")[0].rpartition("why:")[2]
        assert shown.count(error) == 1
        assert [f"c{n}" in above for n in range(len(errors))] == [each == error for each in errors]


WRONG = "name: is too long\noptions/region/choices/eu/name: is missing"


def test_each_wrong_part_of_a_command_has_a_line() -> None:
    plan = plan_of([command("ping")])
    failed = Settled(plan.changes[0], Outcome.FAILED, WRONG)
    result = Result(plan=plan, settled=(failed,))

    shown = render_results([result], format="text")
    page = render_results([result], format="markdown")

    assert "    why:  name: is too long\n          options/region/choices/eu/name: is m" in shown
    assert "`name: is too long`<br>`options/region/choices/eu/name: is missing`" in page
    assert render_settled(failed).endswith(
        ": name: is too long; options/region/choices/eu/name: is missing"
    )


@pytest.mark.parametrize("color", [False, True])
def test_progress_is_one_line_for_each_change(trouble: Result, *, color: bool) -> None:
    failed, done, *_ = (
        re.sub(r"\x1b\[[0-9]+m", "", render_settled(one, screen=Screen(color=color)))
        for one in trouble.settled
    )

    assert failed == (
        "failed: edit command help  (commands.yaml:4:5): the service refuses it (400: too long)"
    )
    assert done == "done: rename command clear  (commands.yaml:8:5)"


@given(texts.filter(bool), texts)
def test_progress_never_begins_with_foreign_text(name: str, error: str) -> None:
    change = Add(resource=Resource.COMMAND, after=command(name).text)
    shown = render_settled(Settled(change, Outcome.FAILED, error))

    assert shown.startswith("failed: add command ")
    assert len(shown.splitlines()) == 1


@given(st.sampled_from(UNTRUSTED), st.sampled_from(UNTRUSTED))
def test_no_failure_is_obeyed_by_a_runner(one: str, other: str) -> None:
    error = ManifestError([Problem(Location(one), other, one)])

    for line in render_failure(error, format="text").splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)


WIDTHS = st.integers(60, 200)
PAINT = re.compile(r"\x1b\[[0-9]+m")
CHANGES = re.compile(r"  [-+~»±] |      |  \d")


@given(plan=st.one_of(plans(), untrusted_plans()), width=WIDTHS, color=st.booleans())
def test_no_change_is_wider_than_the_terminal(plan: RecordPlan, width: int, *, color: bool) -> None:
    shown = render_plans([plan], format="text", screen=Screen(color, width))

    changes = [line for line in PAINT.sub("", shown).splitlines() if CHANGES.match(line)]
    assert len(changes) >= len(plan.changes)
    assert [line for line in changes if columns_of(line) > width] == []


@given(plan=st.one_of(plans(), untrusted_plans()), width=WIDTHS)
def test_colours_change_no_character_on_a_terminal_either(plan: RecordPlan, width: int) -> None:
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
