import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Location, Problem
from commandsync.errors import ManifestError
from commandsync.plan.changes import Add
from commandsync.plan.plan import Plan
from commandsync.records.texts import Resource
from commandsync.report import (
    Screen,
    render_failure,
    render_notices,
    render_plans,
    render_results,
    render_settled,
)
from tests.support.plans import UNTRUSTED, command, plan_of, plans, texts
from tests.support.runs import EVERYTHING


def test_a_long_text_that_comes_is_cut() -> None:
    plan = plan_of([command("help", "x" * 200)])

    assert f'description: "{"x" * 80}"… (120 more characters)\n' in render_plans(
        [plan], format="text"
    )


def test_colours_are_there_only_when_asked_for(every_change: Plan) -> None:
    plain = render_plans([every_change], format="text")
    colored = render_plans([every_change], format="text", screen=Screen(color=True))

    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9]+m", "", colored) == plain
    assert "\x1b[32m+ facts\x1b[0m" in colored


@given(
    names=st.lists(texts, min_size=2, max_size=4, unique=True),
    olds=st.lists(texts, min_size=4, max_size=4, unique=True),
)
def test_no_row_of_a_table_of_renames_begins_with_foreign_text(
    names: list[str], olds: list[str]
) -> None:
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


@settings(max_examples=60)
@given(plans())
def test_no_line_of_a_plan_begins_with_foreign_text_or_hides_anything(plan: Plan) -> None:
    for line in render_plans([plan], format="text").splitlines():
        assert not line.lstrip().startswith("::")
        assert not re.search(r"##\w*\[", line)
        assert line.isprintable() or not set(line) & set("\x1b\r\x08\u202e\u200b\ufeff\u2066")
        assert re.match(
            r"Bot |$|  [-+~»±] |      \w+:|        [-+│…]( |$)|warning: |  hint: "
            r"|\d+ listed |\d+ announcements? |refused: |No changes: |Nothing is |[»±] is a "
            r"|Plan: ",
            line,
        )


def test_long_differences_of_what_is_stored_are_shown_as_lines(trouble: Result) -> None:
    (settled,) = trouble.rewritten
    longer = settled.rewrites[0]._replace(sent="a\nb", stored="a")
    result = replace(trouble, settled=(replace(settled, rewrites=(longer,)),))

    assert "        │ a\n        - b\n" in render_results([result], format="text")


def test_only_ten_skipped_changes_are_named() -> None:
    plan = plan_of([command(f"c{n}") for n in range(13)])
    settled = tuple(Settled(change, Outcome.SKIPPED) for change in plan.changes)
    shown = render_results([Result(plan=plan, settled=settled)], format="text")

    assert shown.count("skipped: add command") == 10
    assert "skipped: and 3 more\n" in shown


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


def test_of_several_plans_the_first_with_a_sign_explains_it(every_change: Plan) -> None:
    shown = render_plans([every_change, every_change], format="text")

    assert shown.count("» is a") == shown.count("± is a") == 1
    assert shown.index("» is a") < shown.index("Plan: ")
