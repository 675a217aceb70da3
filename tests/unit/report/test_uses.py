import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.document.saved import load_plan
from commandsync.records.snapshot import Entry
from commandsync.report import Format, render_plans
from commandsync.report.lines import Screen
from commandsync.report.summary import question
from tests.support.plans import announcement, command, plan_of
from tests.support.runs import EVERYTHING

COUNTS = st.none() | st.integers(0, 3) | st.integers(0, 10**15)
FORMATS = typing.get_args(Format)


@given(uses=COUNTS)
def test_a_delete_shows_the_uses_that_go_with_it_in_every_format(uses: int | None) -> None:
    plan = plan_of([command("kept", line=1)], [command("old", "Another.", id="1", uses=uses)])

    shown = {form: render_plans([plan], format=form) for form in FORMATS}

    lost = {None: "", 0: "", 1: "(1 use goes with it)"}.get(
        uses, f"({uses or 0:,} uses go with it)"
    )
    for form in ("text", "markdown", "github"):
        assert ("with it" in shown[form]) == bool(lost)
        assert lost in shown[form]
    (deleted,) = (one for one in json.loads(shown["json"])["changes"] if one["action"] == "delete")
    assert deleted["uses"] == uses


@given(uses=COUNTS, later=COUNTS)
def test_uses_are_counted_on_while_a_plan_waits(uses: int | None, later: int | None) -> None:
    first, second = (plan_of([], [command("old", id="1", uses=count)]) for count in (uses, later))

    assert first.fingerprint == second.fingerprint
    assert load_plan(render_plans([first], format="json"), "p.json").changes == first.changes


@given(uses=st.integers(1, 10**9))
def test_a_likely_rename_names_the_uses_that_are_lost_without_formerly(uses: int) -> None:
    plan = plan_of([command("new", line=1)], [command("old", id="1", uses=uses)])

    assert plan.notices[0].message.endswith(f" {uses:,} uses")


@pytest.mark.parametrize(
    ("desired", "listed", "counts"),
    [
        ([command("a", line=1)], [], "1 to add"),
        (
            [command("a", "New.", line=1), command("new", formerly=("old",), line=2)],
            [command("a", id="1", uses=5), command("old", id="2", uses=5)],
            "1 to edit, 1 to rename",
        ),
        ([announcement("v", "Now.", line=1)], [announcement("v", "Then.", id="1")], "1 to replace"),
    ],
    ids=["add", "edit and rename", "replace"],
)
def test_the_question_counts_each_kind_of_change_apart(
    desired: list[Entry], listed: list[Entry], counts: str
) -> None:
    assert question(plan_of(desired, listed, rules=EVERYTHING).changes) == counts


@pytest.mark.parametrize("form", FORMATS)
def test_calls_that_set_uses_again_stay_whole_and_stand_together(form: Format) -> None:
    backup = [command(name, id=f"old{name}", uses=1840, line=n + 1) for n, name in enumerate("ab")]
    plan = plan_of(backup, [command(name, id=f"new{name}", uses=2) for name in "ab"])

    shown = render_plans([plan], format=form, screen=Screen(width=40))

    lines = [f'client.set_uses("new{name}", 1840)' for name in "ab"]
    if form == "json":
        assert [notice["hint"] for notice in json.loads(shown)["warnings"]] == lines
    else:
        assert "Client.from_env():\n" + "".join(f"  {line}\n" for line in lines) in shown
