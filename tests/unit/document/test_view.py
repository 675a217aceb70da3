"""The view of a plan: scheduled entries, lost uses, counts, and blocks of equal plans."""

import json
import re
import typing
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.diagnostics import Notice
from commandsync.document.plan import load_plan
from commandsync.document.view import VERBS, blocks_of, plan_view, question_of
from commandsync.plan.plan import AsRead, ListPlan, RecordPlan, Target, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.report import Format, render_plans, render_results
from commandsync.report.lines import Screen
from commandsync.services.abilities import LIST_ABILITIES
from tests.support.plans import (
    CHANGED,
    announcement,
    command,
    day,
    plan_of,
    plans,
    post,
    posted,
    whole,
)
from tests.support.registered import untrusted_plans
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


NAMES = st.lists(
    st.from_regex(r"[a-z]{3,9}\.(gg|com)", fullmatch=True), min_size=2, max_size=5, unique=True
)


def listed(name: str, *, adds: int, warnings: tuple[str, ...] = ()) -> ListPlan:
    plan = plan_of([command(f"c{n}") for n in range(adds)], [])
    return replace(
        whole(plan, AsRead((CHANGED,)), name=name, digest=name, commands=adds),
        target=Target(bot="1", base_url=f"https://{name}", abilities=LIST_ABILITIES),
        notices=tuple(Notice(f"{name}: {warning}") for warning in warnings),
    )


@given(NAMES, st.integers(1, 3))
def test_listings_with_the_same_changes_are_one_block(names: list[str], adds: int) -> None:
    plans = [listed(name, adds=adds, warnings=("a loss",)) for name in names]
    of_run = Notice("a variable is not used")
    of_command = Notice("a name may be another one")
    plans = [replace(plan, notices=(*plan.notices, of_command)) for plan in plans]
    plans[0] = replace(plans[0], notices=(of_run, *plans[0].notices))
    shown = render_plans(plans, format="text", screen=Screen())

    (block,) = blocks_of(plans)
    assert len(block.headings) == len(plans)
    assert shown.count("  + c0") == 1
    assert shown.count("Plan: ") == 1
    assert shown.count(of_run.message) == 1
    assert shown.count(of_command.message) == shown.count(f"warning: {of_command.message}\n") == 1
    assert f"warning: {', '.join(names)}: a loss\n" in shown
    assert all(f"{name}: bot 1 at https://{name}" in shown for name in names)
    total = f"All listings: {adds * len(names)} to add, "
    assert shown.splitlines()[-1].startswith(total)


@given(NAMES)
def test_other_changes_are_another_block_with_one_warning(names: list[str]) -> None:
    plans = [
        listed(name, adds=number, warnings=("a loss", f"loss {number}"))
        for number, name in enumerate(names, start=1)
    ]
    shown = render_plans(plans, format="text", screen=Screen())

    assert len(blocks_of(plans)) == len(names)
    assert shown.count("a loss") == 1
    assert f"{', '.join(names)}: a loss" in shown
    assert all(shown.count(f"loss {number}") == 1 for number in range(1, len(names) + 1))


def test_plans_of_pages_stay_apart() -> None:
    plans = [plan_of([command("a")], [])] * 2

    assert [block.plan for block in blocks_of(plans)] == plans


@given(st.one_of(plans(), untrusted_plans()))
def test_every_format_has_the_same_changes(plan: RecordPlan) -> None:
    view = plan_view(plan)
    shown = {form: render_plans([plan], format=form) for form in FORMATS}

    signs = Counter(re.findall(r"(?m)^  ([-+~»±]) ", shown["text"]))
    titles = dict(re.findall(r"(?m)^#### (\w+)(?::[^`]*)? \((\d+)\)$", shown["markdown"]))
    summary = json.loads(shown["json"])["summary"]
    assert [signs[sign] for sign in "+~»±-"] == [view.counts[verb] for verb in VERBS]
    assert [int(titles.get(verb.capitalize(), 0)) for verb in VERBS] == [
        view.counts[verb] for verb in VERBS
    ]
    assert summary["edit"] == view.counts["edit"] + view.counts["rename"]
    assert sum(summary.values()) == len(view.changes) + plan.unchanged
    assert f"Plan: {view.summary}" in shown["github"]
