import json
import typing
from collections.abc import Callable
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.document.plan import load_plan
from commandsync.plan.plan import RecordPlan, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.report import Format, render_plans, render_results
from commandsync.report.lines import Screen
from commandsync.report.summary import question_of
from tests.support.plans import announcement, command, day, plan_of, post, posted
from tests.support.runs import EVERYTHING, TARGET, wanted

ENTRIES = (
    post("over", until=2),
    post("past", publish=1, until=3),
    post("new", publish=4, until=20),
    post("there", publish=1, until=9),
    post("forever", publish=1),
    post("later", publish=8),
    post("reposted", publish=8, until=12),
)
LISTED = tuple(posted(name, id=name) for name in ("past", "there", "forever", "reposted"))


def scheduled_plan(
    *entries: Entry, rules: SyncRules, listed: tuple[Entry, ...] = LISTED
) -> RecordPlan:
    return make_plan(
        desired=wanted(None, entries),
        listed=wanted(None, listed),
        target=TARGET,
        rules=rules,
        now=day(5),
    )


@pytest.mark.parametrize("announcements", ["append", "mirror"])
@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_every_format_says_what_waits_is_due_ends_and_has_ended(
    golden: Callable[[str, str], None], form: Format, announcements: Literal["append", "mirror"]
) -> None:
    plan = scheduled_plan(*ENTRIES, rules=SyncRules(announcements=announcements))

    shown = render_plans([plan], format=form)

    golden(shown, f"scheduled-{announcements}.{form}")
    assert "forever" not in shown
    assert "over" not in shown


def test_a_result_says_what_still_waits_and_ends() -> None:
    plan = scheduled_plan(*ENTRIES, rules=SyncRules())
    result = Result(plan=plan, settled=(Settled(plan.changes[0], Outcome.DONE),))

    shown = render_results([result], format="markdown")

    assert "2 announcements wait: `later` from" in shown
    assert "1 announcement ends: `there` on" in shown
    assert "is due" not in shown


def test_at_most_ten_names_are_shown() -> None:
    plan = scheduled_plan(*(post(f"v{n}", publish=9) for n in range(12)), rules=SyncRules())

    assert "12 announcements wait: " in render_plans([plan], format="text")
    assert '"v9" from 2026-12-09 18:00 UTC and 2 more.' in render_plans([plan], format="text")


def test_what_only_waits_is_no_change() -> None:
    plan = scheduled_plan(post("later", publish=9), rules=SyncRules(), listed=())

    lines = render_plans([plan], format="text").splitlines()

    assert lines[-1] == "Plan: 0 to add, 0 to edit, 0 to delete, 0 unchanged."
    assert any(line.startswith("No changes: ") for line in lines)


def test_no_title_begins_a_line_or_escapes_its_quotes() -> None:
    plan = scheduled_plan(
        post("\x1b[31m::error::`x`\n@all", publish=9), rules=SyncRules(), listed=()
    )

    for form in get_args(Format):
        shown = render_plans([plan], format=form)
        assert "\x1b" not in shown
        assert not any(line.startswith(("::error", "@all")) for line in shown.splitlines())


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
def test_each_kind_is_counted_apart(desired: list[Entry], listed: list[Entry], counts: str) -> None:
    assert question_of([plan_of(desired, listed, rules=EVERYTHING)]) == counts


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
