"""Commands at Discord in text and in Markdown: the parts that differ, and whole objects."""

from typing import Any

import pytest

from commandsync.apply.outcomes import Outcome, Result, Settled
from commandsync.document.change import whole_fields
from commandsync.plan.changes import field_changes
from commandsync.plan.plan import RecordPlan
from commandsync.records.rewrites import Rewrite
from commandsync.records.texts import ApplicationCommand
from commandsync.report import render_plans, render_results
from tests.support.registered import choices, entry, group, listed, menu, option, plan_of, slash

REGION = option("region", choices=choices("eu", "us"))
BEFORE = slash("play", options=[option("song"), REGION, option("volume", 4)])
AFTER = slash(
    "play",
    "Plays it.",
    options=[
        option("song", required=True),
        {**REGION, "choices": choices("eu", "as")},
        option("speed", 10, description="How fast.", min_value=1),
    ],
)


def of(before: ApplicationCommand, after: ApplicationCommand, *formerly: str) -> RecordPlan:
    return plan_of((entry(after, "", *formerly),), listed(before))


def test_an_edit_names_the_parts_that_differ_and_those_that_users_notice() -> None:
    assert render_plans([of(BEFORE, AFTER)], format="text").split("\n\n")[1] == (
        "  ~ play  (commands.yaml:1:5)\n"
        '      description:           "Does it." → "Plays it."\n'
        '      option region: choice as added: "as"\n'
        '      option region: choice us removed: "us"  (breaking)\n'
        '      option song: required: "" → "true"  (breaking)\n'
        '      option speed added: "How fast. (number; min_value 1)"\n'
        '      option volume removed: "An option. (integer)"  (breaking)'
    )
    shown = render_plans([of(BEFORE, AFTER)], format="markdown")
    assert (
        "| `play` | `commands.yaml:1:5` | `option region: choice us removed` **(breaking)** | `us` "
        "|  |" in shown
    )
    assert "| `option song: required` **(breaking)** | *empty* | `true` |" in shown
    assert "| `option speed added` |  | `How fast. (number; min_value 1)` |" in shown


def test_a_rename_keeps_the_id_and_shows_what_else_changes() -> None:
    plan = of(slash("p"), slash("play", "Plays it."), "p")
    text = render_plans([plan], format="text")
    shown = render_plans([plan], format="markdown")

    assert '  » p → play  (commands.yaml:1:5)\n      description: "Does it." → ' in text
    assert "» is a rename: the id and the permissions are kept." in text
    assert "| Old name | New name | Id | Where | Also changed |" in shown
    assert "| `p` | `play` | kept |" in shown
    assert "`description`: `Does it.` → `Plays it.` |" in shown


def test_a_whole_command_has_a_line_for_each_option() -> None:
    queue = slash(
        "queue",
        options=[option("add", 1, options=[REGION, option("song", required=True)])],
        default_member_permissions="0",
    )

    assert whole_fields(queue) == {
        "type": "slash command",
        "description": "Does it.",
        "default_member_permissions": "0",
        "options": (
            "add: An option. (sub-command)\n"
            "  region: An option. (string; one of eu, us)\n"
            "  song: An option. (required string)"
        ),
    }
    text = render_plans([plan_of((entry(queue), entry(menu("Ban"))), ())], format="text")
    assert "      options:\n        │ add: An option. (sub-command)\n" in text
    assert '  + Ban  (commands.yaml:1:5)\n      type: "user menu"\n' in text
    shown = render_plans([plan_of((entry(queue),), listed(menu("Ban", 3)))], format="markdown")
    assert "| Name | Type |\n| --- | --- |\n| `Ban` | `message menu` |" in shown
    assert "| Type | Description | `default_member_permissions` | Options |" in shown


@pytest.mark.parametrize(
    "odd",
    [
        {"type": 9, "options": "?"},
        {"options": [1, {"type": "x"}]},
        {"options": [{"name": "a", "choices": "?"}, {"name": 7, "choices": [1, {"value": 2}]}]},
    ],
)
def test_an_odd_object_is_shown_all_the_same(odd: dict[str, Any]) -> None:
    texts = ApplicationCommand.of({"name": "a", "type": 1, **odd}), slash("a")

    for before, after in (texts, texts[::-1]):
        plan = of(before, after)
        assert len(render_plans([plan], format="text")) > 100
        assert len(render_plans([plan], format="markdown")) > 100


def test_a_part_that_the_service_changed_is_named_by_its_path() -> None:
    plan = of(BEFORE, AFTER)
    fields = field_changes(AFTER, BEFORE)
    rewrites = tuple(
        Rewrite(each.field, each.old, each.new, "changed", "write it as it is stored", known=False)
        for each in fields
    )
    settled = (Settled(plan.changes[0], Outcome.DONE, rewrites=rewrites),)
    result = Result(plan=plan, settled=settled, verified=False, touched=True)

    assert "      options/song/required: changed; write it" in render_results(
        [result], format="text"
    )
    assert "`play`, `options/song/required`: changed; write it as it is stored" in render_results(
        [result], format="markdown"
    )


def test_a_lost_sub_command_is_breaking() -> None:
    text = render_plans([of(group("queue", "add", "show"), group("queue", "add"))], format="text")

    assert '      sub-command show removed: "An option. (sub-command)"  (breaking)\n' in text
