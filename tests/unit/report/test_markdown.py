from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings

from commandsync.plan.plan import Target
from commandsync.report import render_plans, render_results
from tests.support.plans import command, plan_of, plans

if TYPE_CHECKING:
    from commandsync.apply.outcomes import Result
    from commandsync.plan.plan import Plan


def test_bars_and_backticks_stay_inside_their_cell() -> None:
    plan = plan_of([command("a`b|c", "@everyone <b> #1", line=1)])

    assert (
        "| ``a`b\\|c`` | `commands.yaml:1:5` | `@everyone <b> #1` | ``/a`b\\|c`` |"
        in render_plans([plan], format="markdown")
    )


def test_long_texts_stand_below_the_table_in_a_fence_that_holds() -> None:
    plan = plan_of([command("a", "One\n```\ntwo")], [command("a", "One\n```\nthree", id="1")])

    assert render_plans([plan], format="markdown").endswith(
        "| `a` |  | description | *see below* | *see below* |\n"
        "\n"
        "`a`, description:\n"
        "\n"
        "````diff\n"
        "│ ```\n"
        "- three\n"
        "+ two\n"
        "````\n"
    )


def test_every_field_that_is_added_is_shown_whole() -> None:
    name, text = "n" * 120, "Plays a song. " * 20
    shown = render_plans(
        [plan_of([command(name, text, category="Music", line=1)])], format="markdown"
    )

    assert f"\n+ {name}\n" in shown
    assert f"\n+ {text.rstrip(' ')}" in shown
    assert f"| *see below* | `/{name}` | `Music` |" in shown


def test_of_an_endless_text_the_beginning_is_shown() -> None:
    lines = "\n".join(str(number) for number in range(99))
    shown = render_plans([plan_of([command("a", lines)])], format="markdown")

    assert "\n+ 59\n… 39 more lines\n```\n" in shown


def test_the_changed_part_of_a_long_text_is_shown_whole() -> None:
    old, new = ("The same. " * 30 + part * 60 for part in ("old ", "new "))
    plan = plan_of([command("a", new)], [command("a", old, id="1")])
    shown = render_plans([plan], format="markdown")

    assert "old " * 59 in shown
    assert "new " * 59 in shown


def test_long_tables_are_folded_unless_they_delete_something() -> None:
    many = [command(f"new-{n}") for n in range(30)]
    gone = [command(f"gone-{n}", id=f"{n}") for n in range(30)]
    shown = render_plans([plan_of(many, gone)], format="markdown")

    deleted, _, added = shown.partition("#### Add (30)\n")
    assert "details" not in deleted
    assert added.startswith("\n<details>\n<summary>30 rows</summary>\n\n| Name |")
    assert added.endswith("|\n\n</details>\n")


@settings(max_examples=60)
@given(plans())
def test_nothing_foreign_stands_outside_of_code(plan: Plan) -> None:
    shown = render_plans([plan], format="markdown")
    outside = re.sub(r"(?ms)^(`{3,})\w+\n.*?^\1$", "", shown)
    own = re.sub(r"(?<!`)(`+)(?!`)(?:.*?[^`])\1(?!`)", "", outside)

    assert not set(own) & set("@<[!\\")
    assert re.fullmatch(r"[A-Za-z0-9#:.,*|() \n-]*", own)
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    assert not re.search(r"##\w*\[", shown)
    for table in re.findall(r"(?m)(?:^\|.*\n)+", outside):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


def test_a_notice_needs_no_hint_and_a_result_no_trouble(every_change: Plan) -> None:
    plain = replace(every_change, notices=(replace(every_change.notices[0], hint=""),))

    assert " #`\n```\n\n#### Edit (2)\n" in render_plans([plain], format="markdown")


def test_a_result_without_trouble_shows_what_is_done(trouble: Result) -> None:
    settled = (replace(trouble.settled[1], rewrites=()),)
    result = replace(trouble, settled=settled, stopped="", notices=())

    assert "Stopped" not in render_results([result], format="markdown")


def test_a_plan_without_a_listing_names_its_manifest_only() -> None:
    plan = replace(plan_of(), target=Target(bot="", base_url=""))
    nameless = replace(plan, manifest=())

    assert "\n\nManifest `commands.yaml`\n\n" in render_plans([plan], format="markdown")
    assert "\n\nManifest\n\n" in render_plans([nameless], format="markdown")


def test_an_interrupted_result_says_how_to_go_on(trouble: Result) -> None:
    result = replace(trouble, interrupted=True, stopped="interrupted", stopped_hint="")

    shown = render_results([result], format="markdown")

    assert "**Interrupted**: a request in flight may still arrive. Run again to finish" in shown
    assert "**Stopped**" not in shown
