import json
from collections.abc import Callable
from typing import Literal, get_args

import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.plan.plan import Plan, make_plan
from commandsync.plan.rules import SyncRules
from commandsync.records.snapshot import Entry
from commandsync.report import Format, render_plans, render_results
from tests.support.runs import TARGET, wanted
from tests.support.schedules import day, post, posted

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


def plan_of(*entries: Entry, rules: SyncRules, listed: tuple[Entry, ...] = LISTED) -> Plan:
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
    plan = plan_of(*ENTRIES, rules=SyncRules(announcements=announcements))

    shown = render_plans([plan], format=form)

    golden(shown, f"scheduled-{announcements}.{form}")
    assert "forever" not in shown
    assert "over" not in shown


def test_json_has_the_schedule_as_data() -> None:
    data = json.loads(render_plans([plan_of(*ENTRIES, rules=SyncRules())], format="json"))

    assert data["planned_at"] == "2026-12-05T18:00:00Z"
    assert data["scheduled"][-1] == {
        "resource": "announcement",
        "name": "reposted",
        "publish": "2026-12-08T18:00:00Z",
        "until": "2026-12-12T18:00:00Z",
        "phase": "waiting",
        "listed": True,
        "location": {"path": "commands.yaml", "line": 3, "column": 5},
    }


def test_a_result_says_what_still_waits_and_ends() -> None:
    plan = plan_of(*ENTRIES, rules=SyncRules())
    result = Result(plan=plan, settled=(Settled(plan.changes[0], Outcome.DONE),))

    shown = render_results([result], format="markdown")

    assert "2 announcements wait: `later` from" in shown
    assert "1 announcement ends: `there` on" in shown
    assert "is due" not in shown


def test_at_most_ten_names_are_shown() -> None:
    plan = plan_of(*(post(f"v{n}", publish=9) for n in range(12)), rules=SyncRules())

    assert "12 announcements wait: " in render_plans([plan], format="text")
    assert '"v9" from 2026-12-09 18:00 UTC and 2 more.' in render_plans([plan], format="text")


def test_what_only_waits_is_no_change() -> None:
    plan = plan_of(post("later", publish=9), rules=SyncRules(), listed=())

    lines = render_plans([plan], format="text").splitlines()

    assert lines[-1] == "Plan: 0 to add, 0 to edit, 0 to delete, 0 unchanged."
    assert any(line.startswith("No changes: ") for line in lines)


def test_no_title_begins_a_line_or_escapes_its_quotes() -> None:
    plan = plan_of(post("\x1b[31m::error::`x`\n@all", publish=9), rules=SyncRules(), listed=())

    for form in get_args(Format):
        shown = render_plans([plan], format=form)
        assert "\x1b" not in shown
        assert not any(line.startswith(("::error", "@all")) for line in shown.splitlines())
